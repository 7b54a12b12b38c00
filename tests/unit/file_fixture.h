/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of the trace file: a small plan made by hand, a file in memory, and a record
 * of what was read. */
#ifndef FILE_FIXTURE_H
#define FILE_FIXTURE_H

#include <elf.h>
#include <errno.h>
#include "file/file.h"
#include "tap.h"
#include "pack_block.h"

/* ---- a plan: one function, a loop ---- */

enum { S_ENTRY, S_JNE, S_CALL, S_IJMP, S_LOOP, S_RET, SITES };

static uint8_t code_bytes[0x100];
static struct segment segments[] = {{0x1000, 0x100, 0, code_bytes, true}};
static struct symbol symbols[] = {
	{.vaddr = 0x1000, .size = 0x40, .name = "f", .shown = "f", .global = true},
	{.vaddr = 0x1040, .size = 0x10, .name = "_Zg", .shown = "g()", .version = "V1"},
};
static struct object object = {.path = (char *)"/lib/x",
			       .machine = EM_X86_64,
			       .build_id = {1, 2, 3},
			       .build_id_len = 3,
			       .dev = 8,
			       .ino = 77};
static struct range ranges[] = {{0x1000, 0x40, (char *)"f"}};
static struct plan_object objects[] = {{&object, "/lib/x", EM_X86_64, false, false}};
static struct plan_function functions[] = {{.name = "f",
					    .raw = "f",
					    .entry_site = S_ENTRY,
					    .ranges = ranges,
					    .nranges = 1,
					    .branches = 5}};

#define SITE(va, knd, blk)                                                                         \
	{                                                                                          \
		.vaddr = va, .kind = knd, .block = blk, .probe = 1, .len = 2, .mnemonic = "x",     \
		.cond = 5                                                                          \
	}
static struct plan_site sites[SITES] = {
	[S_ENTRY] = {.vaddr = 0x1000,
		     .role = ROLE_ENTRY,
		     .entry = 1,
		     .probe = 1,
		     .len = 1,
		     .traps = 2,
		     .sp_delta = 0},
	[S_JNE] = SITE(0x1008, BRANCH_JCC, 0),
	[S_CALL] = SITE(0x1010, BRANCH_CALL, 1),
	[S_IJMP] = SITE(0x1018, BRANCH_IJMP, 1),
	[S_LOOP] = SITE(0x1020, BRANCH_LOOP, 1),
	[S_RET] = SITE(0x1028, BRANCH_RET, 2),
};
/* Without the padding behind the last member. */
static inline bool same_site(const struct plan_site *a, const struct plan_site *b)
{
	return !memcmp(a, b, offsetof(struct plan_site, traps) + sizeof(a->traps));
}
static inline bool same_block(const struct plan_block *a, const struct plan_block *b)
{
	return !memcmp(a, b, offsetof(struct plan_block, quick) + sizeof(a->quick));
}
static struct plan_block blocks[] = {
	{0x1000, 0x100a, .site = S_JNE, .next = 1, .taken = 0, .quick = 4},
	{0x100a, 0x1022, .site = S_LOOP, .next = 2, .taken = 1, .table = 0, .ntable = 1},
	{0x1022, 0x102a, .site = S_RET, .next = NO_BLOCK, .taken = NO_BLOCK},
};
static uint32_t jumps[] = {2};
static struct plan_extent pieces[] = {{0x1000, 0x1040, 0, 0}};
static struct plan_gap gaps[] = {{0x102a, 0x1030, 0, 0}, {0x1038, 0x1040, 0, 0}};
static struct plan_stub stubs[] = {{&object, 0x1080}};
static struct plan_line lines[] = {{0x1000, 0, 0, 10}, {0x1010, 0, 0, 12}, {0x1040, 0, 0, 0}};
static struct plan_scope scopes[] = {
	{.name = "f", .parent = NO_SCOPE, .line = 9, .entry = 0x1000},
	{.name = "g",
	 .raw = "_g",
	 .parent = 0,
	 .line = 3,
	 .call_file = 1,
	 .call_line = 11,
	 .call_discriminator = 2,
	 .entry = 0x100a},
};
static inline bool same_scope(const struct plan_scope *a, const struct plan_scope *b)
{
	return !strcmp(a->name, b->name) && !a->raw == !b->raw &&
	       (!a->raw || !strcmp(a->raw, b->raw)) &&
	       !memcmp(&a->object, &b->object, sizeof(*a) - offsetof(struct plan_scope, object));
}
static struct plan_scope_range scope_ranges[] = {{0x1000, 0x100a, 0, 0}, {0x100a, 0x1022, 0, 1}};
static struct plan_named named[] = {{"cpu-clock", NAMED_SAMPLE}, {"irq:irq_handler_entry"}};
static struct plan_field fields[] = {
	{.name = "irq", .type = "int", .named = 1, .offset = 8, .size = 4, .kind = TYPE_SIGNED},
	{.name = "ids", .named = 1, .offset = 12, .size = 4, .count = 2},
};
static struct plan_value values[] = {
	{.name = "path",
	 .type = "char *",
	 .kind = KIND_TEXT,
	 .from = FROM_REGISTER,
	 .reg = 7,
	 .second = 255,
	 .size = 64,
	 .fetched = 1,
	 .enumeration = UINT32_MAX},
	{.name = "how",
	 .kind = KIND_ENUM,
	 .from = FROM_REGISTER,
	 .reg = 6,
	 .second = 255,
	 .size = 4,
	 .bit_at = 3,
	 .bits = 5},
	{.name = "ret",
	 .kind = KIND_SIGNED,
	 .from = FROM_RESULT,
	 .second = 255,
	 .size = 8,
	 .of_return = 1,
	 .errnos = 1,
	 .fetched = 2,
	 .enumeration = UINT32_MAX},
};
static struct plan_enumerator enumerators[] = {{"ONE", 1, 0}, {"MINUS", -1, 0}};
static char *line_files[] = {(char *)"/src/f.c"};
static struct plan plan;

#define SET(vec, array) ((vec).data = (array), (vec).len = ARRAY_SIZE(array))

static inline void make_plan(void)
{
	for (size_t i = 0; i < sizeof(code_bytes); i++)
		code_bytes[i] = i * 7;
	SET(object.segments, segments);
	SET(object.symbols, symbols);
	plan.arch = arch__by_machine(EM_X86_64);
	plan.placement = PLACEMENT_WITNESS;
	plan.unprobed_rets = true;
	plan.probes = 6;
	plan.skipped = 1;
	plan.ifunc_unknown = 2;
	SET(plan.objects, objects);
	SET(plan.functions, functions);
	SET(plan.sites, sites);
	SET(plan.blocks, blocks);
	SET(plan.table, jumps);
	SET(plan.extents, pieces);
	SET(plan.gaps, gaps);
	SET(plan.stubs, stubs);
	SET(plan.lines, lines);
	SET(plan.line_files, line_files);
	SET(plan.scopes, scopes);
	SET(plan.scope_ranges, scope_ranges);
	SET(plan.named, named);
	SET(plan.fields, fields);
	SET(plan.values, values);
	SET(plan.enumerators, enumerators);
}

/* ---- a file in memory ---- */

static inline int to_memory(void *ctx, struct trace_block *b)
{
	pack_block(b, ctx);
	str__free(&b->raw);
	return 0;
}

struct from_memory {
	const char *data;
	size_t len, at, most; /* most: at once */
};

static inline ssize_t read_memory(void *ctx, void *data, size_t len)
{
	struct from_memory *m = ctx;
	size_t n = min_of(min_of(len, m->len - m->at), m->most);

	memcpy(data, m->data + m->at, n);
	m->at += n;
	return n;
}

/* ---- what was read: records and sideband events as text that shows all their bits ---- */

static inline void put_sideband(struct str *s, const struct sideband_event *e)
{
	if (e->type == SIDEBAND_UNTRACED) { /* it has no time of its own */
		str__printf(s, "untraced %u %u %x %x %s\n", e->pid, e->tid, e->object, e->function,
			    e->text);
		return;
	}
	str__printf(s, "side %d %llu %u %u %u %u %llx %llx %llx %u %u %llu %llu %s\n", e->type,
		    (unsigned long long)e->time, e->pid, e->tid, e->ppid, e->ptid,
		    (unsigned long long)e->start, (unsigned long long)e->len,
		    (unsigned long long)e->offset, e->major, e->minor, (unsigned long long)e->ino,
		    (unsigned long long)e->count, e->text ? e->text : "-");
}

/* It is in a table: behind the events that were written. */
static inline void add_untraced(struct trace_writer *w, struct str *wrote)
{
	struct sideband_event e = {.type = SIDEBAND_UNTRACED,
				   .pid = 300,
				   .tid = 300,
				   .object = UNTRACED_ALL,
				   .function = UNTRACED_ALL,
				   .text = "no memory"};

	trace_writer__flush(w);
	trace_writer__sideband(w, &e);
	put_sideband(wrote, &e);
	e.object = e.function = 0;
	e.text = "";
	trace_writer__sideband(w, &e);
	put_sideband(wrote, &e);
}

static inline void put_named(struct str *s, const struct event_named *n)
{
	str__printf(s, " named %u %llu %llx %u %s %u %u %u %u %llx", n->which,
		    (unsigned long long)n->count, (unsigned long long)n->ip, n->kernel, n->comm,
		    n->nkernel, n->nuser, n->kernel_end, n->user_end,
		    (unsigned long long)n->exact & ~1ull);
	for (unsigned i = 0; n->stack && i < n->nkernel + n->nuser; i++)
		str__printf(s, " frame %llx", (unsigned long long)n->stack[i]);
	str__printf(s, " data %zu", n->len);
	for (size_t i = 0; i < n->len; i++)
		str__printf(s, " %02x", n->data[i]);
}

/* All of an event, as a line. */
static inline void put_event(struct str *s, const struct event *e)
{
	const struct event_entry *n = e->entry;

	str__printf(s, "event %u %llu %u %u %llx %u %u %u %u %u/%llx %u/%llx %llu %u %llx%s",
		    e->type, (unsigned long long)e->time, e->pid, e->tid, (unsigned long long)e->sp,
		    e->site, e->cpu, e->interrupt, e->taken, e->has_target,
		    (unsigned long long)e->target, e->has_value, (unsigned long long)e->value,
		    (unsigned long long)e->count, e->hits, (unsigned long long)e->goroutine,
		    e->untimed ? " untimed" : "");
	if (e->tested.flags)
		str__printf(s, " tested %x %llx %llx", e->tested.flags,
			    (unsigned long long)e->tested.value[0],
			    (unsigned long long)e->tested.value[1]);
	if (n) {
		str__printf(s, " entry %llx %llx %llx/%llx %u %s %u %llx",
			    (unsigned long long)n->ip, (unsigned long long)n->caller,
			    (unsigned long long)n->user_ip, (unsigned long long)n->user_sp,
			    n->pending, n->comm, n->stack_end,
			    (unsigned long long)n->exact & ~1ull);
		for (unsigned i = 0; n->regs && i < n->nregs; i++)
			str__printf(s, " %llx", (unsigned long long)n->regs[i]);
		for (unsigned i = 0; n->args && i < EVENT_ARGS; i++)
			str__printf(s, " arg %llx", (unsigned long long)n->args[i]);
		for (unsigned i = 0; n->stack && i < n->nstack; i++)
			str__printf(s, " frame %llx", (unsigned long long)n->stack[i]);
	}
	if (e->named)
		put_named(s, e->named);
	for (unsigned i = 0; i < e->nfetched; i++) {
		const struct fetched *f = &e->fetched[i];

		str__printf(s, " fetched %d", f->len);
		for (int k = 0; k < (f->len == FETCHED_ABSENT ? 8 : f->len); k++)
			str__printf(s, " %02x", f->bytes[k]);
	}
	str__puts(s, "\n");
}

struct got {
	struct str items;
	const struct plan *plan;
	struct trace_meta meta;
	size_t nobjects, nmapped, events;
	const struct object *last_object;
	int stop; /* what event calls return */
};

static inline int got_begin(void *ctx, const struct plan *p, const struct trace_meta *meta)
{
	struct got *g = ctx;

	g->plan = p;
	g->meta = *meta;
	return 0;
}

static inline int got_object(void *ctx, const struct object *o)
{
	struct got *g = ctx;

	g->nobjects++;
	g->last_object = o;
	return 0;
}

static inline int got_mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
			     const struct object *o)
{
	((struct got *)ctx)->nmapped++;
	return 0;
}

static inline int got_event(void *ctx, const struct event *e)
{
	struct got *g = ctx;

	g->events++;
	put_event(&g->items, e);
	return g->stop;
}

static inline int got_sideband(void *ctx, const struct sideband_event *e)
{
	put_sideband(&((struct got *)ctx)->items, e);
	return 0;
}

static inline int got_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	str__printf(&((struct got *)ctx)->items, "lost %u %u %llu\n", pid, tid,
		    (unsigned long long)count);
	return 0;
}

static inline int got_plan(void *ctx, const struct plan *p)
{
	str__printf(&((struct got *)ctx)->items, "plan %zu sites\n", p->sites.len);
	return 0;
}

static const struct trace_calls got_calls = {got_begin, got_plan,     got_object, got_mapped,
					     got_event, got_sideband, got_lost};

/* Reads a file whole; got's pointers into it die with *reader. */
static inline int read_file(const char *data, size_t len, struct got *got,
			    struct trace_reader **reader)
{
	static struct from_memory m;

	m = (struct from_memory){data, len, 0, 4096};
	*got = (struct got){.stop = got->stop};
	*reader = trace_reader__new(read_memory, &m);
	return trace_reader__run(*reader, &got_calls, got);
}

/* ---- a pseudo-random stream ---- */

static uint64_t seed = 88172645463325252ull;

static inline uint64_t rnd(void) /* Marsaglia, Xorshift RNGs: xorshift64 */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline struct tested any_tested(void)
{
	return (struct tested){.flags = TESTED | (rnd() & ((1u << TESTED_BITS) - 1)),
			       .value = {rnd() >> rnd() % 64, rnd() >> rnd() % 64}};
}

/* Valid until the next call. */
static inline const struct event_named *any_named(void)
{
	static uint64_t frames[NAMED_FRAMES];
	static uint8_t data[32];
	static struct event_named n;

	n = (struct event_named){.which = rnd() % 2,
				 .exact = rnd() % 2 ? rnd() << 1 & ((1ull << 56) - 1) : 0,
				 .count = rnd() % 9,
				 .ip = rnd() % 3 ? 0x555500001000 + rnd() % 64 : 0,
				 .kernel = rnd() % 2,
				 .comm = rnd() % 2 ? "cat" : "",
				 .data = data,
				 .len = rnd() % sizeof(data)};
	if (rnd() % 2) {
		n.stack = frames;
		n.nkernel = rnd() % 8 ? rnd() % 9 : NAMED_KERNEL_FRAMES;
		n.nuser = 1 + rnd() % NAMED_USER_FRAMES;
		n.kernel_end = rnd() % STACK_ENDS;
		n.user_end = rnd() % STACK_ENDS;
	}
	for (unsigned i = 0; i < n.nkernel + n.nuser; i++)
		frames[i] = (i < n.nkernel ? 0xffffffff81000000 : 0x555500000000) + rnd() % 4096;
	for (size_t i = 0; i < n.len; i++)
		data[i] = rnd();
	return &n;
}

static inline const struct fetched *any_fetched(unsigned *n)
{
	static struct fetched all[VALUES_FETCHED];

	*n = rnd() % 3;
	for (unsigned i = 0; i < *n; i++) {
		all[i].len = rnd() % 4 ? (int)(rnd() % (FETCHED_ROOM + 1)) : -14;
		for (int k = 0; k < FETCHED_ROOM; k++)
			all[i].bytes[k] = rnd();
	}
	return *n ? all : NULL;
}

static inline bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static inline void compare_values(const struct plan *p)
{
	bool same = p->values.len == ARRAY_SIZE(values);

	for (size_t i = 0; same && i < p->values.len; i++)
		same = same_text(p->values.data[i].name, values[i].name) &&
		       same_text(p->values.data[i].type, values[i].type) &&
		       !memcmp(&p->values.data[i].function, &values[i].function,
			       offsetof(struct plan_value, nsteps) -
				       offsetof(struct plan_value, function));
	ok(same, "values come back");
	ok(p->enumerators.len == 2 && !strcmp(p->enumerators.data[1].name, "MINUS") &&
		   p->enumerators.data[1].value == -1,
	   "and enumerators");
}

static inline void compare_named(const struct plan *p)
{
	compare_values(p);
	ok(p->named.len == 2 && !strcmp(p->named.data[0].name, "cpu-clock") &&
		   p->named.data[0].kind == NAMED_SAMPLE &&
		   !strcmp(p->named.data[1].name, "irq:irq_handler_entry"),
	   "named events come back");
	ok(p->fields.len == 2 && !strcmp(p->fields.data[0].name, "irq") &&
		   !strcmp(p->fields.data[0].type, "int") && !p->fields.data[1].type &&
		   !memcmp(&p->fields.data[1].named, &fields[1].named,
			   offsetof(struct plan_field, kind) + 1 -
				   offsetof(struct plan_field, named)),
	   "and their fields");
}

#endif
