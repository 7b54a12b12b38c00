// SPDX-License-Identifier: BSD-2-Clause
/* Records of the BPF program decoded to events: compact ones expanded, with every field and its
 * limits; which full records are forgotten; which records are refused. */
#include <elf.h>
#include <linux/types.h>
#include "event/event.h"
#include "plan/plan.h"
#include "tap.h"
#include "../bpf/wire_named.h"

/* As many sites as a record can name. Their contents are not read. */
static struct plan plan = {.sites.len = WIRE_SITE_MASK};

static struct wire_event full(uint32_t pid, uint32_t tid, unsigned cpu, uint64_t time, uint64_t sp,
			      uint16_t state)
{
	return (struct wire_event){.time = time,
				   .pid = pid,
				   .tid = tid,
				   .sp = sp,
				   .site_type = 5,
				   .state = state,
				   .cpu = cpu};
}

/* Packs an event as bpf/compact.h does. */
static struct wire_compact compact_of(const struct wire_event *e)
{
	return (struct wire_compact){.where = (e->site_type & WIRE_SITE_MASK) |
					      (uint64_t)e->tid << 24 | (uint64_t)e->cpu << 46 |
					      (uint64_t) !!(e->state & WIRE_TAKEN) << 58,
				     .when = e->time << 24 | (e->sp >> 3 & 0xffffff)};
}

static bool says(const struct event *e, const struct wire_event *w)
{
	return e && e->type == EVENT_BRANCH && e->time == w->time && e->pid == w->pid &&
	       e->tid == w->tid && e->sp == w->sp && e->site == (w->site_type & WIRE_SITE_MASK) &&
	       e->cpu == w->cpu && e->taken == !!(w->state & WIRE_TAKEN) &&
	       e->interrupt == (w->state & WIRE_INTERRUPT);
}

static void tell(struct decoder *d, const struct wire_event *e, uint64_t settled)
{
	decoder__event(d, e, sizeof(*e), settled);
}

static const struct event *expanded(struct decoder *d, const struct wire_event *e)
{
	struct wire_compact c = compact_of(e);

	return decoder__event(d, &c, sizeof(c), 0);
}

static bool comes_back(struct decoder *d, const struct wire_event *e)
{
	return says(expanded(d, e), e);
}

static void test_fields(void)
{
	const uint64_t sp = 0x7ffd12345678, time = (1ull << 40) - 100;
	struct wire_event a = full(70, 71, 3, time, sp, WIRE_SOFTIRQ), e;
	struct decoder *d = decoder__new(&plan);

	ok(says(decoder__event(d, &a, sizeof(a), 0), &a), "a full record comes back");
	ok(comes_back(d, &a), "a compact record comes back");
	e = full(70, 71, 3, time + WIRE_FULL_FOR - 1, sp, WIRE_SOFTIRQ);
	ok(comes_back(d, &e),
	   "a compact record comes back the longest time after its full one, where the 40 bits of time begin anew");
	e = full(70, 71, 3, time - 900, sp, WIRE_SOFTIRQ);
	ok(comes_back(d, &e), "a compact record comes back where the clock has stepped back");
	e = full(70, 71, 3, time, (sp >> WIRE_SP_LOW << WIRE_SP_LOW), WIRE_SOFTIRQ);
	ok(comes_back(d, &e),
	   "a compact record comes back with the lowest stack pointer of its window");
	e.sp += (1ull << WIRE_SP_LOW) - 8;
	ok(comes_back(d, &e),
	   "a compact record comes back with the highest stack pointer of its window");
	e.state |= WIRE_TAKEN;
	ok(comes_back(d, &e), "a branch that is taken behind one that was not");
	a.state |= WIRE_TAKEN;
	tell(d, &a, 0);
	e.state &= ~WIRE_TAKEN;
	ok(comes_back(d, &e), "a branch that is not taken behind one that was");
	e.site_type = WIRE_SITE_MASK - 1;
	ok(comes_back(d, &e), "a compact record comes back with the last site");
	decoder__free(d);
}

static void test_whose(void)
{
	struct wire_event a = full(70, 71, 0, 1000, 0x7000, 0),
			  b = full(80, WIRE_TID_MASK, 4095, 2000, 0xffffc90000012348, 0),
			  c = full(70, 71, 1, 3000, 0x17000000000, 0), other;
	struct decoder *d = decoder__new(&plan);

	ok(!expanded(d, &a), "a compact record without a full one before it is refused");
	tell(d, &a, 0);
	tell(d, &b, 0);
	tell(d, &c, 0);
	ok(comes_back(d, &a) && comes_back(d, &b) && comes_back(d, &c),
	   "full records are kept for each thread on each CPU");
	other = full(70, 71, 2, 1000, 0x7000, 0);
	ok(!expanded(d, &other), "a full record of another CPU doesn't count");
	a.pid = 90;
	a.time = 9000;
	tell(d, &a, 0);
	ok(comes_back(d, &a), "of a thread number that is used again the last full record counts");
	decoder__free(d);
}

static void test_memory(void)
{
	struct wire_event e, young = full(1, 1, 0, 1ull << 50, 0x7000, 0);
	struct decoder *d = decoder__new(&plan);
	const uint32_t end = 1000000, recent = end - (WIRE_FULL_FOR >> 20);
	unsigned kept = 0, kept_recent = 0;

	tell(d, &young, 0);
	for (uint32_t tid = 2; tid < end; tid++) {
		e = full(1, tid, 0, (uint64_t)tid << 20, 0x7000, 0);
		tell(d, &e, e.time);
	}
	for (uint32_t tid = 2; tid < end; tid++) {
		e = full(1, tid, 0, (uint64_t)tid << 20, 0x7000, 0);
		kept_recent += tid >= recent && expanded(d, &e);
		kept += expanded(d, &e) != NULL;
	}
	ok(kept < 200000, "of a million threads the old ones are forgotten: %u are left", kept);
	is(kept_recent, end - recent,
	   "each full record that a compact one may still refer to is kept");
	ok(comes_back(d, &young), "a young full record is kept");
	e = full(1, recent, 0, ((uint64_t)recent << 20) + WIRE_FULL_FOR - 1, 0x7000, 0);
	ok(comes_back(d, &e), "the last compact record that may refer to a full one is expanded");
	decoder__free(d);
}

/* ---- targets and entries ---- */

enum { JUMP, ENTRY };
#define FAR 0x555500000000

/* A jump by a table in read-only memory (0x2000) or in memory that may be written (0x3000). */
static void test_targets(void)
{
	static const uint8_t bytes[16] = {0x78, 0x56, 0x34, 0x12};
	static struct segment segments[] = {
		{.vaddr = 0x2000, .size = sizeof(bytes), .bytes = bytes},
		{.vaddr = 0x3000, .size = sizeof(bytes), .bytes = bytes, .write = true}};
	static struct object object = {.segments = {.data = segments, .len = 2}};
	static struct plan_object objects[] = {{.object = &object}};
	static struct plan_site sites[] = {[JUMP] = {.vaddr = 0x1000,
						     .kind = BRANCH_IJMP,
						     .operand = {.kind = OPERAND_MEM, .size = 8}}};
	struct plan jumps = {.objects = {.data = objects, .len = 1},
			     .sites = {.data = sites, .len = 1}};
	struct wire_value v = {.event.site_type = (uint32_t)WIRE_VALUE << WIRE_SITE_BITS,
			       .value = {0x1234, 0}};
	struct decoder *d = decoder__new(&jumps);
	const struct event *e = decoder__event(d, &v, sizeof(v), 0);

	ok(e && e->has_target && e->target == 0x1234,
	   "a target that the kernel side read is taken");
	v.event.missing = WIRE_NO_VALUE0;
	v.value[0] = FAR + 0x2000;
	v.value[1] = FAR + 0x1000;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && e->has_target && e->target == 0x12345678,
	   "a target that the kernel side could not read is read from read-only memory of the file");
	v.value[0] = FAR + 0x3000;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && !e->has_target, "a target in memory that is written is not known");
	v.value[0] = FAR + 0x2000 + sizeof(bytes) - 7;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && !e->has_target, "a target that the file's bytes end in is not known");
	decoder__free(d);
}

/* A record with 64 bytes of room for the stack. */
static void test_copies(struct decoder *d, const struct wire_entry *entry)
{
	uint64_t room[(sizeof(struct wire_entry_copy) + 64) / 8] = {0};
	struct wire_entry_copy *w = (void *)room;
	const struct event_entry *e;

	w->entry = *entry;
	w->entry.event.state |= WIRE_COPIED;
	w->copied.start = 0x7000;
	w->copied.len = 32;
	w->bytes[31] = 0x55;
	e = decoder__event(d, w, sizeof(room), 0)->entry;
	ok(!e->stack && e->copy.start == 0x7000 && e->copy.len == 32 && e->copy.bytes[31] == 0x55,
	   "an entry has the copied stack of its record");
	ok(!e->copy.cut, "a stack whose rest could not be read is not cut");
	w->copied.len = 64;
	e = decoder__event(d, w, sizeof(room), 0)->entry;
	ok(e->copy.len == 64 && e->copy.cut, "a stack that fills the record is cut");
	w->copied.len = 1 << 20;
	e = decoder__event(d, w, sizeof(room), 0)->entry;
	is(e->copy.len, 64, "no more of a stack than the record has");
}

/* The second half of the room is of the stack that a signal interrupted. */
static void test_two_copies(struct decoder *d, const struct wire_entry *entry)
{
	static uint64_t room[(sizeof(struct wire_entry_copy) + 2 * WIRE_COPY_BLOCK) / 8];
	struct wire_entry_copy *w = (void *)room;
	const struct event_entry *e;

	w->entry = *entry;
	w->entry.event.state |= WIRE_COPIED;
	w->copied = (struct wire_copied){0x7000, WIRE_COPY_BLOCK, 0x9000, 16};
	w->bytes[WIRE_COPY_BLOCK + 15] = 0x77;
	e = decoder__event(d, w, sizeof(room), 0)->entry;
	ok(e->copy.start == 0x7000 && e->copy.len == WIRE_COPY_BLOCK && e->copy.cut,
	   "the handler's stack is in the first half");
	ok(e->copy.other.start == 0x9000 && e->copy.other.len == 16 &&
		   e->copy.bytes[e->copy.other.at + 15] == 0x77,
	   "that of what was interrupted in the second");
	w->copied.len = w->copied.other_len = 1 << 20;
	e = decoder__event(d, w, sizeof(room), 0)->entry;
	ok(e->copy.len == WIRE_COPY_BLOCK && e->copy.other.len == WIRE_COPY_BLOCK,
	   "no more of either than the record has");
}

static void test_entries(void)
{
	static struct plan_site sites[] = {{.vaddr = 0x1000, .entry = 1}};
	struct plan entries = {.arch = arch__by_machine(EM_X86_64),
			       .sites = {.data = sites, .len = 1}};
	static struct wire_entry_stack w = {
		.entry = {.event = {.site_type = (uint32_t)WIRE_ENTRY << WIRE_SITE_BITS,
				    .missing = WIRE_NO_CALLER | WIRE_NO_SYSCALL},
			  .caller = 0x77,
			  .comm = "sixteen letters!",
			  .user_ip = 5,
			  .user_sp = 6},
		.frames = WIRE_STACK + 1};
	struct decoder *d = decoder__new(&entries);
	const struct event *e = decoder__event(d, &w, sizeof(w.entry), 0);

	ok(e && e->type == EVENT_ENTRY && e->entry, "an entry's record is an entry");
	ok(!e->entry->caller && !e->entry->args && !e->entry->pending && !e->entry->stack,
	   "an entry has nothing that is missing in the record");
	is(e->entry->user_ip * 10 + e->entry->user_sp, 56, "an entry has the program's registers");
	is(strlen(e->entry->comm), 16, "a name of a command that fills its field ends behind it");
	w.entry.event.missing = 0;
	w.entry.event.state = WIRE_PENDING;
	e = decoder__event(d, &w, sizeof(w), 0);
	ok(e->entry->caller == 0x77 && e->entry->args && e->entry->pending && e->entry->stack,
	   "an entry has all that is in the record");
	is(e->entry->nstack, WIRE_STACK, "an entry has no more frames than a record");
	test_copies(d, &w.entry);
	test_two_copies(d, &w.entry);
	decoder__free(d);
}

static void test_signals(void)
{
	struct plan none = {0};
	static struct wire_signal w = {
		.event = {.site_type = WIRE_SITE_MASK | (uint32_t)WIRE_SIGNAL << WIRE_SITE_BITS,
			  .state = WIRE_FAULT},
		.value = {0x1234, 0x77},
		.above = {0x78, [WIRE_ABOVE - 1] = 0x79}};
	struct decoder *d = decoder__new(&none);
	const struct event *e = decoder__event(d, &w, sizeof(w), 0);

	ok(e && e->type == EVENT_SIGNAL && e->fault && !e->unhandled, "a signal of a fault");
	ok(e->has_target && e->target == 0x1234, "a signal has the next instruction");
	ok(e->has_value && e->value == 0x77 && e->above[0] == 0x78, "a signal has the stack");
	ok(e->nabove == WIRE_ABOVE && e->above[WIRE_ABOVE - 1] == 0x79, "as far as it goes");
	is(8 * e->nabove, ENTRY_MAX_LOWERED, "which is where an entry's return address may be");
	ok(!decoder__event(d, &w, sizeof(w) - 8, 0), "a record with less of the stack is refused");
	decoder__free(d);
}

static void test_resume(void)
{
	struct plan none = {.sites.len = 0};
	struct decoder *d = decoder__new(&none);
	struct wire_value v = {.event.sp = 0x7ff0,
			       .event.site_type = WIRE_SITE_MASK | WIRE_RESUME << WIRE_SITE_BITS,
			       .value = {0x1234}};
	const struct event *e = decoder__event(d, &v, sizeof(v), 0);

	ok(e && e->type == EVENT_RESUME && e->has_target && e->target == 0x1234 && e->sp == 0x7ff0,
	   "a handler that returns is an event with where to, of no site");
	decoder__free(d);
}

static void test_refused(void)
{
	struct plan small = {.sites.len = 3};
	struct decoder *d = decoder__new(&small);
	struct wire_value v = {.event.site_type = 3};

	ok(!decoder__event(d, &v, sizeof(v), 0), "a site that the plan doesn't have is refused");
	v.event.site_type = 1 | 200u << WIRE_SITE_BITS;
	ok(!decoder__event(d, &v, sizeof(v), 0), "a record of no known type is refused");
	v.event.site_type = 1 | (uint32_t)WIRE_VALUE << WIRE_SITE_BITS;
	ok(!decoder__event(d, &v, sizeof(v.event), 0),
	   "a record that is too short for its type is refused");
	ok(!decoder__event(d, &v, 8, 0), "a record that is too short for any type is refused");
	decoder__free(d);
}

static void test_named(void)
{
	struct plan_named named[] = {{"a"}, {"b", NAMED_USDT}};
	struct plan p = {.named = {.data = named, .len = 2}};
	struct {
		struct wire_named head;
		struct wire_frames frames;
		uint8_t data[16];
	} r = {.head = {.event = full(70, 71, 3, 5, 0, WIRE_FRAMES | WIRE_KERNEL),
			.ip = 0x1234,
			.count = 2,
			.comm = "cat",
			.len = 3},
	       .frames = {.kernel = 2, .user = 1, .user_end = STACK_LIMIT},
	       .data = {1, 2, 3}};
	struct decoder *d = decoder__new(&p);
	const struct event *e;

	r.head.event.site_type = 1 | WIRE_NAMED << WIRE_SITE_BITS;
	r.frames.kernel_stack[0] = 10;
	r.frames.kernel_stack[1] = 11;
	r.frames.user_stack[0] = 12;
	e = decoder__event(d, &r, sizeof(r), 0);
	ok(e && e->type == EVENT_NAMED && e->pid == 70 && e->tid == 71 && e->time == 5 &&
		   e->named->which == 1 && e->named->count == 2 && e->named->ip == 0x1234 &&
		   e->named->kernel && !strcmp(e->named->comm, "cat"),
	   "a named event comes back");
	ok(e && e->named->len == 3 && !memcmp(e->named->data, r.data, 3), "with its data");
	ok(e && e->named->nkernel == 2 && e->named->nuser == 1 && e->named->stack[0] == 10 &&
		   e->named->stack[1] == 11 && e->named->stack[2] == 12 &&
		   e->named->user_end == STACK_LIMIT,
	   "with its stacks, the kernel's first");
	r.head.event.state = 0;
	e = decoder__event(d, &r, sizeof(r), 0);
	ok(e && !e->named->stack && !memcmp(e->named->data, &r.frames, 3),
	   "without stacks its data is behind its head");
	ok(!decoder__event(d, &r, sizeof(r.head) + 2, 0), "one that is cut is refused");
	r.head.len = NAMED_DATA + 1;
	ok(!decoder__event(d, &r, sizeof(r), 0), "one with too much data is refused");
	r.head.len = 3;
	r.head.event.site_type = 2 | WIRE_NAMED << WIRE_SITE_BITS;
	ok(!decoder__event(d, &r, sizeof(r), 0), "one that the plan doesn't have is refused");
	decoder__free(d);
}

/* Of an entry that is a conditional, whose return probe has that site, too. */
static void test_tested(void)
{
	static const struct test test = {
		.how = TEST_LOGIC,
		.bits = 32,
		.n = 1,
		.operand = {{.kind = OPERAND_REG, .at = {.kind = OPERAND_REG}}}};
	static struct plan_site site = {.kind = BRANCH_JCC, .cond = 4, .test = &test}; /* je */
	struct plan p = {.arch = arch__by_machine(EM_X86_64), .sites = {.data = &site, .len = 1}};
	struct wire_value v = {.event = full(70, 71, 3, 1000, 0x7000, WIRE_TAKEN)};
	struct decoder *d = decoder__new(&p);
	const struct event *e;

	v.event.site_type = WIRE_VALUE << WIRE_SITE_BITS;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && e->taken && e->tested.flags & TESTED && !e->tested.value[0],
	   "what a conditional tested is told");
	v.event.missing = WIRE_NO_VALUE0;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && e->taken && !e->tested.flags, "not if it could not be read");
	v.event.missing = 0;
	v.value[0] = 1;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && e->taken && !e->tested.flags, "nor if the branch doesn't follow from it");
	v.event.site_type = WIRE_RETURN << WIRE_SITE_BITS;
	v.event.state = 0;
	v.value[1] = 9;
	e = decoder__event(d, &v, sizeof(v), 0);
	ok(e && e->type == EVENT_RETURN && !e->tested.flags && e->has_value && e->value == 9,
	   "a return probe's record has no values of the branch at its entry");
	decoder__free(d);
}

int main(void)
{
	test_fields();
	test_whose();
	test_tested();
	test_memory();
	test_targets();
	test_entries();
	test_signals();
	test_resume();
	test_refused();
	test_named();
	return tap__done();
}
