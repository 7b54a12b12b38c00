// SPDX-License-Identifier: BSD-2-Clause
/* The trace file: written and read; cut and damaged (a third; MATRIX=whole: all); foreign. */
#include <zlib.h>
#include "file_fixture.h"

static struct str file, wrote; /* the file; its items as text */

/* ---- writing ---- */

static uint64_t clock_now = 5000000000000;

static struct event event(uint32_t site, enum event_type type)
{
	clock_now += rnd() % 3000;
	return (struct event){
		.time = clock_now - (rnd() % 50 ? 0 : rnd() % 5000), /* CPUs' records cross */
		.pid = 100 + rnd() % 3,
		.tid = 100 + rnd() % 7,
		.sp = 0x7ffc00000000 + (rnd() % 64 ? 0x100 : rnd() % 0x10000),
		.site = site,
		.type = type,
		.cpu = rnd() % 20  ? 3
		       : rnd() % 9 ? rnd() % 4096
				   : EVENT_NO_CPU,
		.interrupt = rnd() % 30 ? 0 : rnd() % 8,
		.untimed = rnd() % 4 == 0,
	};
}

/* What is on the stack where the writer's variables come to lie. */
static uint8_t stack_byte;
static __attribute__((noinline)) void fill_stack(void)
{
	volatile uint8_t bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = stack_byte;
}

static void add_event(struct trace_writer *w, struct event e)
{
	/* of no site: what comes back has none either, whatever was given */
	if (e.type != EVENT_BRANCH && e.type != EVENT_ENTRY && e.type != EVENT_RETURN)
		e.site = SITES;
	if (e.site == S_ENTRY || e.site == S_RET)
		e.fetched = any_fetched(&e.nfetched);
	fill_stack();
	trace_writer__event(w, &e);
	put_event(&wrote, &e);
}

/* Where the branch leads, and with which value, or not known. */
static struct event leading(struct event e, bool value)
{
	e.has_target = rnd() % 30;
	e.has_value = value && rnd() % 30;
	e.target = e.has_target ? rnd() % 4 : 0;
	e.value = e.has_value ? rnd() % 3 ? 1 : rnd() : 0;
	return e;
}

static void add_entry(struct trace_writer *w, bool stack)
{
	uint64_t regs[EVENT_REGS] = {0}, args[EVENT_ARGS], frames[STACK_FRAMES];
	struct event_entry n = {.nregs = plan.arch->nregs, .pending = rnd() % 9 == 0};
	struct event e = event(S_ENTRY, EVENT_ENTRY);
	char comm[16];

	snprintf(comm, sizeof(comm), "comm%u", (unsigned)(rnd() % 3));
	n.comm = rnd() % 20 ? comm : "";
	n.caller = rnd() % 20 ? 0x555500001000 + rnd() % 4 : 0;
	for (unsigned i = 0; i < n.nregs; i++)
		regs[i] = rnd() % 3 ? 7 : rnd();
	n.regs = rnd() % 20 ? regs : NULL;
	n.ip = n.regs ? regs[plan.arch->ip_reg] : 0;
	for (int i = 0; i < EVENT_ARGS; i++)
		args[i] = rnd() % 3 ? 0 : rnd();
	n.args = rnd() % 2 ? args : NULL;
	n.nstack = stack ? rnd() % (STACK_FRAMES + 1) : 0;
	for (uint64_t i = 0; i < n.nstack; i++)
		frames[i] = 0x555500000000 + (rnd() % 5 ? n.nstack - i : rnd() % 100);
	n.stack = stack ? frames : NULL;
	n.stack_end = stack ? rnd() % STACK_ENDS : STACK_WHOLE;
	n.exact = stack && rnd() % 2 ? rnd() << 1 & ((1ull << 56) - 1) : 0;
	e.entry = &n;
	add_event(w, e);
}

static void add_any_event(struct trace_writer *w)
{
	struct event e;

	switch (rnd() % 13) {
	case 8:
		e = event(0, EVENT_NAMED);
		e.named = any_named();
		return add_event(w, e);
	case 0:
	case 1:
		return add_entry(w, rnd() % 2);
	case 2:
		e = event(0, EVENT_LOST);
		e.count = rnd() % 4;
		e.hits = rnd() % 2;
		return add_event(w, e);
	case 3:
		return add_event(w, event(0, EVENT_SIGNAL));
	case 4:
		return add_event(w, leading(event(S_IJMP, EVENT_BRANCH), false));
	case 5:
		return add_event(w, leading(event(S_RET, EVENT_BRANCH), true));
	case 6:
		return add_event(w, leading(event(S_ENTRY, EVENT_RETURN), true));
	case 7:
		e = event(0, EVENT_GOROUTINE);
		e.goroutine = rnd() % 9;
		return add_event(w, e);
	default:
		e = event(rnd() % 2 ? S_JNE : rnd() % 2 ? S_LOOP : S_CALL, EVENT_BRANCH);
		e.taken = e.site != S_CALL && rnd() % 3;
		e.tested = e.site != S_CALL && rnd() % 2 ? any_tested() : e.tested;
		return add_event(w, e);
	}
}

static void add_any_sideband(struct trace_writer *w)
{
	static const char *const texts[] = {"", "cat", "/usr/lib/libc.so.6",
					    "a name \xff\x01 of bytes"};
	struct sideband_event e = {
		.type = rnd() % SIDEBAND_TYPES, .pid = rnd() % 500, .tid = rnd() % 500};

	if (e.type != SIDEBAND_GAP)
		e.time = 5000000000000 + rnd() % 1000000;
	if (e.type == SIDEBAND_FORK)
		e.ppid = rnd() % 500, e.ptid = rnd();
	if (e.type == SIDEBAND_LOST || e.type == SIDEBAND_INNER || e.type == SIDEBAND_START ||
	    e.type == SIDEBAND_MARK)
		e.count = rnd();
	if ((e.type == SIDEBAND_START || e.type == SIDEBAND_STOP) && rnd() % 2)
		e.text = texts[1 + rnd() % 3];
	if (e.type == SIDEBAND_MAP)
		e.start = rnd(), e.len = rnd() % 99999, e.offset = rnd() % 8 * 4096, e.major = 254,
		e.minor = 1, e.ino = rnd() % 99999;
	if (e.type == SIDEBAND_MAP || e.type == SIDEBAND_EXEC || e.type == SIDEBAND_COMM ||
	    e.type == SIDEBAND_MARK)
		e.text = texts[rnd() % 4];
	trace_writer__sideband(w, &e);
	put_sideband(&wrote, &e);
}

static const struct trace_meta meta = {
	.start_time = 123456789,
	.realtime_offset = -5,
	.utc_offset = -3600,
	.regs = 0x30001,
	.show_regs = true,
	.no_fold = true,
	.time_style = 2,
	.events = 7,
	.max_depth = 9,
	.min_duration = 11,
	.limit = 13,
	.cpus = 4,
	.part = 1,
	.version = "0.1",
	.command = "bbtrace user x f",
	.system = "Linux",
	.host = "web1",
};

/* A file of n items, in several blocks. */
static void write_file(size_t n)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &file, false);
	struct trace_end end = {.sideband_lost = 3, .totals = {.events = 17, .lost = 4}};

	file.len = wrote.len = 0;
	trace_writer__begin(w, &meta);
	trace_writer__symbol(w, &object, 0x1044);
	trace_writer__symbol(w, &object, 0x1044);
	trace_writer__mapped(w, 8, 77, object.path, &object);
	for (size_t i = 0; i < n; i++) {
		if (rnd() % 20)
			add_any_event(w);
		else
			add_any_sideband(w);
		if (i % 1000 == 999)
			trace_writer__flush(w);
	}
	add_untraced(w, &wrote);
	trace_writer__lost(w, 100, 101, 42);
	str__puts(&wrote, "lost 100 101 42\n");
	trace_writer__end(w, &end);
	trace_writer__free(w);
}

/* ---- what comes back ---- */

static void compare_plan(const struct plan *p)
{
	size_t avail = 0;

	is_str(p->objects.data[0].path, "/lib/x", "a plan's object has its path");
	is(p->objects.data[0].object->build_id[2], 3, "a plan's object has its build-id");
	ok(p->probes == 6 && p->skipped == 1 && p->ifunc_unknown == 2 && p->unprobed_rets &&
		   p->placement == PLACEMENT_WITNESS && !plan__has_kernel(p) &&
		   p->arch == plan.arch,
	   "a plan's own fields come back");
	is_str(p->functions.data[0].name, "f", "a plan's function has its name");
	is(p->functions.data[0].branches, 5, "a plan's function has its number of branches");
	is_str(p->functions.data[0].ranges[0].name, "f", "a plan's function has its ranges");
	for (int i = 0; i < SITES; i++) {
		struct plan_site s = p->sites.data[i];

		s.mnemonic = sites[i].mnemonic;
		ok(same_site(&s, &sites[i]), "site %d comes back", i);
	}
	is_str(p->sites.data[S_JNE].mnemonic, "x", "a site's mnemonic comes back");
	ok(p->sites.data[S_ENTRY].mnemonic == NULL, "a site without mnemonic has none");
	is(p->blocks.len, 3, "all blocks come back");
	for (size_t i = 0; i < p->blocks.len; i++)
		ok(same_block(&p->blocks.data[i], &blocks[i]), "block %zu comes back", i);
	ok(p->table.len == 1 && p->table.data[0] == 2, "jump tables come back");
	ok(p->extents.len == 1 && !memcmp(p->extents.data, pieces, sizeof(pieces)),
	   "extents come back");
	ok(p->gaps.len == 2 && !memcmp(p->gaps.data, gaps, sizeof(gaps)), "gaps come back");
	ok(p->stubs.len == 1 && p->stubs.data[0].object == p->objects.data[0].object,
	   "PLT stubs come back");
	ok(p->lines.len == 3 && !memcmp(p->lines.data, lines, sizeof(lines)),
	   "source lines come back");
	is_str(p->line_files.data[0], "/src/f.c", "the files of source lines come back");
	ok(p->scopes.len == 2 && same_scope(&p->scopes.data[0], &scopes[0]) &&
		   same_scope(&p->scopes.data[1], &scopes[1]),
	   "what was inlined comes back");
	ok(p->scope_ranges.len == 2 &&
		   !memcmp(p->scope_ranges.data, scope_ranges, sizeof(scope_ranges)),
	   "and where");
	compare_named(p);
	ok(object__bytes(p->objects.data[0].object, 0x1010, &avail) && avail == 0x30,
	   "a file has the code of its functions");
	is(object__bytes(p->objects.data[0].object, 0x1010, &avail)[1], (0x11 * 7) & 0xff,
	   "the code in a file is the functions', byte for byte");
	ok(!object__bytes(p->objects.data[0].object, 0x1050, &avail) && !avail,
	   "a file has no other code");
}

static void test_round_trip(void)
{
	const struct symbol *s;
	struct trace_reader *r;
	struct got got = {0};

	write_file(20000);
	is(read_file(file.data, file.len, &got, &r), 0, "a file is read to its end");
	is_str(got.items.data, wrote.data, "each event and sideband event comes back, in order");
	compare_plan(got.plan);
	ok(got.meta.start_time == meta.start_time && got.meta.realtime_offset == -5 &&
		   got.meta.utc_offset == -3600 && got.meta.regs == meta.regs &&
		   got.meta.show_regs && got.meta.no_fold && got.meta.time_style == 2 &&
		   got.meta.events == 7 && got.meta.max_depth == 9 && got.meta.min_duration == 11 &&
		   got.meta.limit == 13 && got.meta.cpus == 4 && got.meta.part == 1,
	   "a file has what rendering depends on");
	is_str(got.meta.command, meta.command, "a file has the command line");
	is_str(got.meta.host, meta.host, "a file has the name of the host");
	ok(got.nobjects == 1 && got.nmapped == 1, "each object of a file is passed on once");
	s = object__symbol_at(got.last_object, 0x1047);
	ok(s && !strcmp(s->shown, "g()") && !strcmp(s->name, "_Zg") && !strcmp(s->version, "V1"),
	   "a symbol that rendering needs is in the file");
	ok(!object__symbol_at(got.last_object, 0x1010),
	   "a symbol that nothing needs is not in the file");
	is(trace_reader__end(r)->totals.lost, 4, "a file's end has the totals");
	trace_reader__free(r);
	str__free(&got.items);
}

static void test_stop(void)
{
	struct trace_reader *r;
	struct got got = {.stop = 1};

	is(read_file(file.data, file.len, &got, &r), 1, "a callback's status ends the reading");
	is(got.events, 1, "a callback's status ends the reading at once");
	trace_reader__free(r);
	str__free(&got.items);
}

/* Columns must be told for each field that there is: what is added to a struct belongs into
 * tables.c as well. */
static void test_all_fields(void)
{
	is(sizeof(struct plan_site), 104, "struct plan_site is as tables.c knows it");
	is(sizeof(struct plan_block), 56, "struct plan_block is as tables.c knows it");
	is(sizeof(struct plan_function), 80, "struct plan_function is as tables.c knows it");
	is(sizeof(struct plan_line), 24, "struct plan_line is as tables.c knows it");
	is(sizeof(struct plan_extent), 24, "struct plan_extent is as tables.c knows it");
	is(sizeof(struct plan_gap), 24, "struct plan_gap is as tables.c knows it");
	is(sizeof(struct plan_scope), 64, "struct plan_scope is as tables.c knows it");
	is(sizeof(struct plan_scope_range), 24, "struct plan_scope_range is as tables.c knows it");
	is(sizeof(struct plan), 640, "struct plan is as plan.c knows it");
	is(sizeof(struct symbol), 64, "struct symbol is as object.c knows it");
	is(sizeof(struct plan_named), 16, "struct plan_named is as tables.c knows it");
	is(sizeof(struct plan_field), 40, "struct plan_field is as tables.c knows it");
	is(sizeof(struct plan_value), 88, "struct plan_value is as tables.c knows it");
	is(sizeof(struct plan_enumerator), 24, "struct plan_enumerator is as tables.c knows it");
	is(sizeof(struct fetched), 80, "struct fetched is as fetched.c knows it");
	is(sizeof(struct event_named), 152, "struct event_named is as event_codec.c knows it");
	is(sizeof(struct event), 176, "struct event is as event_codec.c knows it");
	is(sizeof(struct event_entry), 152, "struct event_entry is as event_codec.c knows it");
}

/* ---- cut and damaged ---- */

static bool is_prefix(const struct str *part, const struct str *whole)
{
	return part->len <= whole->len &&
	       (!part->len || !memcmp(part->data, whole->data, part->len));
}

static void test_cut(void)
{
	size_t good = 0, n = 0;
	struct trace_reader *r;

	write_file(400);
	for (size_t len = 0; len < file.len; len += (len < 2000 ? 1 : 100) * stride(), n++) {
		autofree char *copy = xmalloc(
			len); /* no longer, so that the sanitizer sees a read behind the end */
		struct got got = {0};
		int err;

		memcpy(copy, file.data, len);
		err = read_file(copy, len, &got, &r);
		good += (err == (len < 8 ? -ENOEXEC : -ENODATA)) && is_prefix(&got.items, &wrote) &&
			strstr(err__text(), len < 8 ? "not a trace file" : "cut at byte");
		trace_reader__free(r);
		str__free(&got.items);
	}
	is(good, n,
	   "a file that is cut anywhere is read up to the cut, and the message says where");
}

/* Are its lines among the other's, in their order? */
static bool is_part(const struct str *part, const struct str *whole)
{
	const char *p = part->data, *end = p + part->len, *w = whole->data;

	while (p < end) {
		size_t len = strchr(p, '\n') + 1 - p;

		while (strncmp(w, p, len) != 0)
			if (!(w = strchr(w, '\n')) || !*++w)
				return false;
		p += len;
		w += len;
	}
	return true;
}

static void test_flips(void)
{
	size_t good = 0, n = 0;
	struct trace_reader *r;

	write_file(300);
	for (size_t at = 0; at < file.len; at += (at < 3000 ? 1 : 37) * stride(), n++) {
		struct got got = {0};
		int err;

		file.data[at] ^= 1 << (at % 8);
		err = read_file(file.data, file.len, &got, &r);
		/* a length that the flip enlarged may reach behind the file's end */
		good += (err == -EBADMSG || err == -ENOEXEC || err == -ENODATA) &&
			is_part(&got.items, &wrote);
		file.data[at] ^= 1 << (at % 8);
		trace_reader__free(r);
		str__free(&got.items);
	}
	is(good, n, "a bit flipped anywhere is noticed, and nothing wrong is read");
}

/* ---- other versions ---- */

static void seal_header(char *header)
{
	uint32_t crc = crc32(0, (Bytef *)header, 16);

	memcpy(header + 16, &crc, 4);
}

static void check_version(char major, char minor, int want, const char *advice, const char *name)
{
	struct trace_reader *r;
	struct got got = {0};

	write_file(50);
	file.data[8] += major;
	file.data[10] = minor;
	seal_header(file.data);
	is(read_file(file.data, file.len, &got, &r), want, name);
	ok(!want || strstr(err__text(), advice), "%s: with the next step", name);
	trace_reader__free(r);
	str__free(&got.items);
}

static void test_versions(void)
{
	check_version(0, 99, 0, "", "a newer minor version is read");
	check_version(-1, 2, -ENOTSUP, "record again", "one of an early build is refused");
	check_version(-2, 9, -ENOTSUP, "record again", "an older major version is refused");
	check_version(1, 0, -ENOTSUP, "newer", "a newer major version is refused");
}

/* A block of an unknown type in front of the others, whose numbers go on from it. */
static void test_unknown_block(void)
{
	struct str with = {0};
	struct trace_reader *r;
	struct got got = {0};
	size_t at = 20;
	uint32_t number = 1, len, crc;
	char header[20] = {77};

	write_file(50);
	str__put(&with, file.data, 20);
	memcpy(header + 4, &(uint32_t){3}, 4);
	memcpy(header + 8, &(uint32_t){3}, 4);
	crc = crc32(crc32(0, (Bytef *)header, 16), (const Bytef *)"abc", 3);
	memcpy(header + 16, &crc, 4);
	str__put(&with, header, 20);
	str__put(&with, "abc", 3);
	for (; at < file.len; at += 20 + len, number++) {
		char *h = file.data + at;

		memcpy(&len, h + 8, 4);
		memcpy(h + 12, &number, 4);
		crc = crc32(crc32(0, (Bytef *)h, 16), (Bytef *)h + 20, len);
		memcpy(h + 16, &crc, 4);
		str__put(&with, h, 20 + len);
	}
	is(read_file(with.data, with.len, &got, &r), 0,
	   "a block of an unknown type is passed over");
	is_str(got.items.data, wrote.data, "a block of an unknown type hides no event");
	trace_reader__free(r);
	str__free(&got.items);
	str__free(&with);
}

static void test_same_bytes(void)
{
	const uint64_t first_seed = seed, first_time = clock_now;
	autofree struct str first = {0};

	stack_byte = 0x5a;
	write_file(5000);
	str__put(&first, file.data, file.len);
	seed = first_seed;
	clock_now = first_time;
	stack_byte = 0xa5;
	write_file(5000);
	ok(first.len == file.len && !memcmp(first.data, file.data, file.len),
	   "the same events are the same bytes, whatever was on the writer's stack");
}

/* ---- size ---- */

/* A loop as programs have them: one branch at its end, one stack pointer. */
static void test_size(void)
{
	struct str before = {0};
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &before, false);
	const unsigned n = 50000;
	uint64_t raw, time = 5000000000000;

	trace_writer__begin(w, &meta);
	for (unsigned i = 0; i < n; i++) {
		struct event e = {.time = time += 600 + i * 7 % 5 * 10 + (i % 1000 ? 0 : 20000),
				  .pid = 1,
				  .tid = 1,
				  .sp = 0x7ffc0000,
				  .site = i % 10 ? S_JNE : S_CALL,
				  .taken = i % 10 && i % 10 != 9,
				  .type = EVENT_BRANCH};

		trace_writer__event(w, &e);
	}
	raw = trace_writer__pending(w); /* times are foretold, but for some noise and interrupts */
	ok(raw < n * 16 / 10, "before it is deflated, a branch takes %.2f bytes, its time included",
	   (double)raw / n);
	trace_writer__flush(w);
	ok(before.len < n / 2, "when it is deflated, a branch takes %.2f bytes",
	   (double)before.len / n);
	trace_writer__free(w);
	str__free(&before);
}

static void test_foreign_record(void)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &file, false);
	struct event e = {.site = SITES};

	file.len = 0;
	is(trace_writer__event(w, &e), -EINVAL, "an event of no site of the plan is not taken");
	e.site = S_JNE;
	e.type = 250;
	is(trace_writer__event(w, &e), -EINVAL, "an event of no known type is not taken");
	e.type = EVENT_ENTRY;
	is(trace_writer__event(w, &e), -EINVAL, "an entry without what belongs to it is not taken");
	trace_writer__free(w);
}

int main(void)
{
	make_plan();
	test_all_fields();
	test_round_trip();
	test_stop();
	test_cut();
	test_flips();
	test_versions();
	test_unknown_block();
	test_same_bytes();
	test_size();
	test_foreign_record();
	str__free(&file);
	str__free(&wrote);
	return tap__done();
}
