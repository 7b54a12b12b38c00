// SPDX-License-Identifier: BSD-2-Clause
/* The trace file: what is written is what is read, to the bit; cut, damaged and foreign ones. */
#include <zlib.h>
#include "file_fixture.h"

static struct str file, wrote; /* the file; its items as text */

/* ---- writing ---- */

static struct wire_event event(uint32_t site, unsigned type)
{
	static uint64_t clock = 5000000000000;

	clock += rnd() % 3000;
	return (struct wire_event){
		.time = clock - (rnd() % 50 ? 0 : rnd() % 5000), /* CPUs' records cross */
		.pid = 100 + rnd() % 3,
		.tid = 100 + rnd() % 7,
		.sp = 0x7ffc00000000 + (rnd() % 64 ? 0x100 : rnd() % 0x10000),
		.site_type = site | type << WIRE_SITE_BITS,
		.flags = rnd() % 9 ? 0x246 : rnd(),
		.cpu = rnd() % 20 ? 3 : rnd() % 4096,
		.missing = rnd() % 30 ? 0 : rnd() % 16,
	};
}

static void fill_entry(struct wire_entry *e)
{
	e->event = event(S_ENTRY, WIRE_ENTRY);
	e->caller = 0x555500001000 + rnd() % 4;
	snprintf(e->comm, sizeof(e->comm), "comm%u", (unsigned)(rnd() % 3));
	for (int i = 0; i < WIRE_REGS; i++)
		e->regs[i] = rnd() % 3 ? 7 : rnd();
	for (int i = 0; i < WIRE_ARGS; i++)
		e->syscall_args[i] = rnd() % 3 ? 0 : rnd();
	e->value[0] = rnd() % 2 ? 0 : rnd();
}

static void add_record(struct trace_writer *w, const void *record, size_t size)
{
	trace_writer__record(w, record, size);
	put_record(&wrote, record, size);
}

static void add_stack(struct trace_writer *w)
{
	struct wire_entry_stack s = {.frames = rnd() % (WIRE_STACK + 1)};

	fill_entry(&s.entry);
	for (uint64_t i = 0; i < s.frames; i++)
		s.stack[i] = 0x555500000000 + (rnd() % 5 ? s.frames - i : rnd() % 100);
	add_record(w, &s, sizeof(s));
}

static void add_any_record(struct trace_writer *w)
{
	static const uint32_t value_sites[] = {S_IJMP, S_LOOP, S_RET};
	struct wire_value v = {.value = {rnd() % 4, rnd() % 3 ? 1 : rnd()}};
	struct wire_entry e = {0};
	struct wire_event b;

	switch (rnd() % 12) {
	case 0:
		return add_stack(w);
	case 1:
		fill_entry(&e);
		return add_record(w, &e, sizeof(e));
	case 2:
		v.event = event(WIRE_SITE_MASK, WIRE_LOST);
		return add_record(w, &v, sizeof(v));
	case 3:
		b = event(WIRE_SITE_MASK, WIRE_SIGNAL);
		return add_record(w, &b, sizeof(b));
	case 4:
	case 5:
		v.event = event(value_sites[rnd() % 3], WIRE_VALUE);
		return add_record(w, &v, sizeof(v));
	default:
		b = event(rnd() % 2 ? S_JNE : S_CALL, WIRE_BRANCH);
		return add_record(w, &b, sizeof(b));
	}
}

static void add_any_side(struct trace_writer *w)
{
	static const char *const texts[] = {"", "cat", "/usr/lib/libc.so.6",
					    "a name \xff\x01 of bytes"};
	struct sideband_event e = {
		.type = rnd() % (SIDEBAND_INNER + 1), .pid = rnd() % 500, .tid = rnd() % 500};

	if (e.type != SIDEBAND_GAP)
		e.time = 5000000000000 + rnd() % 1000000;
	if (e.type == SIDEBAND_FORK)
		e.ppid = rnd() % 500, e.ptid = rnd();
	if (e.type == SIDEBAND_LOST || e.type == SIDEBAND_INNER)
		e.count = rnd();
	if (e.type == SIDEBAND_MAP)
		e.start = rnd(), e.len = rnd() % 99999, e.offset = rnd() % 8 * 4096, e.major = 254,
		e.minor = 1, e.ino = rnd() % 99999;
	if (e.type == SIDEBAND_MAP || e.type == SIDEBAND_EXEC || e.type == SIDEBAND_COMM)
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
};

/* A file of n items, in several blocks. */
static void write_file(size_t n)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &file);
	struct trace_end end = {.sideband_lost = 3, .totals = {.events = 17, .lost = 4}};

	file.len = wrote.len = 0;
	trace_writer__begin(w, &meta);
	trace_writer__symbol(w, &object, 0x1044);
	trace_writer__symbol(w, &object, 0x1044);
	trace_writer__mapped(w, 8, 77, object.path, &object);
	for (size_t i = 0; i < n; i++) {
		if (rnd() % 20)
			add_any_record(w);
		else
			add_any_side(w);
		if (i % 1000 == 999)
			trace_writer__flush(w);
	}
	trace_writer__lost(w, 100, 101, 42);
	str__puts(&wrote, "lost 100 101 42\n");
	trace_writer__end(w, &end);
	is(trace_writer__size(w), file.len, "the writer knows how much it wrote");
	trace_writer__free(w);
}

/* ---- what comes back ---- */

static void compare_plan(const struct plan *p)
{
	size_t avail = 0;

	is_str(p->objects.data[0].path, "/lib/x", "the object's path");
	is(p->objects.data[0].object->build_id[2], 3, "its build-id");
	ok(p->probes == 6 && p->skipped == 1 && p->ifunc_unknown == 2 && p->unprobed_rets &&
		   p->placement == PLACEMENT_WITNESS && !p->kernel && p->arch == plan.arch,
	   "the plan's own fields");
	is_str(p->functions.data[0].name, "f", "its function");
	is(p->functions.data[0].branches, 5, "with its figures");
	is_str(p->functions.data[0].ranges[0].name, "f", "and ranges");
	for (int i = 0; i < SITES; i++) {
		struct plan_site s = p->sites.data[i];

		s.mnemonic = sites[i].mnemonic;
		ok(!memcmp(&s, &sites[i], sizeof(s)), "site %d", i);
	}
	is_str(p->sites.data[S_JNE].mnemonic, "x", "mnemonics");
	ok(p->sites.data[S_ENTRY].mnemonic == NULL, "none is none");
	ok(p->blocks.len == 3 && !memcmp(p->blocks.data, blocks, sizeof(blocks)), "blocks");
	ok(p->table.len == 1 && p->table.data[0] == 2, "jump tables");
	ok(p->extents.len == 1 && !memcmp(p->extents.data, pieces, sizeof(pieces)), "pieces");
	ok(p->gaps.len == 2 && !memcmp(p->gaps.data, gaps, sizeof(gaps)), "what is not decoded");
	ok(p->stubs.len == 1 && p->stubs.data[0].object == p->objects.data[0].object, "stubs");
	ok(p->lines.len == 3 && !memcmp(p->lines.data, lines, sizeof(lines)), "lines");
	is_str(p->line_files.data[0], "/src/f.c", "and their files");
	ok(object__bytes(p->objects.data[0].object, 0x1010, &avail) && avail == 0x30,
	   "the function's code");
	is(object__bytes(p->objects.data[0].object, 0x1010, &avail)[1], (0x11 * 7) & 0xff,
	   "byte for byte");
	ok(!object__bytes(p->objects.data[0].object, 0x1050, &avail) && !avail, "no other code");
}

static void test_round_trip(void)
{
	const struct symbol *s;
	struct trace_reader *r;
	struct got got = {0};

	write_file(20000);
	is(read_file(file.data, file.len, &got, &r), 0, "a file is read to its end");
	is_str(got.items.data, wrote.data, "each record and side event comes back, in order");
	compare_plan(got.plan);
	ok(got.meta.start_time == meta.start_time && got.meta.realtime_offset == -5 &&
		   got.meta.utc_offset == -3600 && got.meta.regs == meta.regs &&
		   got.meta.show_regs && got.meta.no_fold && got.meta.time_style == 2 &&
		   got.meta.events == 7 && got.meta.max_depth == 9 && got.meta.min_duration == 11 &&
		   got.meta.limit == 13 && got.meta.cpus == 4 && got.meta.part == 1,
	   "what rendering depends on");
	is_str(got.meta.command, meta.command, "the command line");
	ok(got.nobjects == 1 && got.nmapped == 1, "one object, told once");
	s = object__symbol_at(got.last_object, 0x1047);
	ok(s && !strcmp(s->shown, "g()") && !strcmp(s->name, "_Zg") && !strcmp(s->version, "V1"),
	   "a symbol that was needed");
	ok(!object__symbol_at(got.last_object, 0x1010), "and no other");
	is(trace_reader__end(r)->totals.lost, 4, "how it ended");
	trace_reader__free(r);
	str__free(&got.items);
}

static void test_stop(void)
{
	struct trace_reader *r;
	struct got got = {.stop = 1};

	is(read_file(file.data, file.len, &got, &r), 1, "a call that has enough ends the reading");
	is(got.records, 1, "at once");
	trace_reader__free(r);
	str__free(&got.items);
}

/* Columns must be told for each field that there is: what is added to a struct belongs into
 * tables.c as well. */
static void test_all_fields(void)
{
	is(sizeof(struct plan_site), 64, "struct plan_site is as tables.c knows it");
	is(sizeof(struct plan_block), 48, "struct plan_block is");
	is(sizeof(struct plan_function), 80, "struct plan_function is");
	is(sizeof(struct plan_line), 24, "struct plan_line is");
	is(sizeof(struct plan_extent), 24, "struct plan_extent is");
	is(sizeof(struct plan_gap), 24, "struct plan_gap is");
	is(sizeof(struct plan), 304, "struct plan is");
	is(sizeof(struct symbol), 56, "struct symbol is");
	is(sizeof(struct wire_event), 32, "struct wire_event is as events.c knows it");
	is(sizeof(struct wire_entry), 264, "struct wire_entry is");
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

	write_file(4000);
	for (size_t len = 0; len < file.len; len += len < 2000 ? 1 : 100, n++) {
		autofree char *copy = xmalloc(len); /* so that a byte too many is seen */
		struct got got = {0};
		int err;

		memcpy(copy, file.data, len);
		err = read_file(copy, len, &got, &r);
		good += (err == (len < 8 ? -ENOEXEC : -ENODATA)) && is_prefix(&got.items, &wrote) &&
			strstr(err__text(), len < 8 ? "not a trace file" : "cut at byte");
		trace_reader__free(r);
		str__free(&got.items);
	}
	is(good, n, "cut anywhere, it is read up to the cut, and says so");
}

static void test_flips(void)
{
	size_t good = 0, n = 0;
	struct trace_reader *r;

	write_file(3000);
	for (size_t at = 0; at < file.len; at += at < 3000 ? 1 : 37, n++) {
		struct got got = {0};
		int err;

		file.data[at] ^= 1 << (at % 8);
		err = read_file(file.data, file.len, &got, &r);
		/* a length that grew may reach behind the end */
		good += (err == -EBADMSG || err == -ENOEXEC || err == -ENODATA) &&
			is_prefix(&got.items, &wrote);
		file.data[at] ^= 1 << (at % 8);
		trace_reader__free(r);
		str__free(&got.items);
	}
	is(good, n, "a bit flipped anywhere is noticed, and what is before it is read");
}

/* ---- other versions ---- */

static void seal_header(char *header)
{
	uint32_t crc = crc32(0, (Bytef *)header, 16);

	memcpy(header + 16, &crc, 4);
}

static void test_versions(void)
{
	struct trace_reader *r;
	struct got got = {0};

	write_file(50);
	file.data[10] = 99;
	seal_header(file.data);
	is(read_file(file.data, file.len, &got, &r), 0, "a newer minor version is read");
	trace_reader__free(r);
	str__free(&got.items);
	file.data[8]++;
	seal_header(file.data);
	is(read_file(file.data, file.len, &got, &r), -ENOTSUP, "a newer major version is refused");
	ok(strstr(err__text(), "newer"), "and the message says what to do");
	trace_reader__free(r);
	str__free(&got.items);
}

/* A block of a type that nobody knows, in front of the others: they are numbered on. */
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
	is_str(got.items.data, wrote.data, "and nothing else");
	trace_reader__free(r);
	str__free(&got.items);
	str__free(&with);
}

/* ---- size ---- */

/* A loop as programs have them: flags that change with a counter, one stack pointer. */
static void test_size(void)
{
	struct str before = {0};
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &before);
	const unsigned n = 50000;
	uint64_t raw, time = 5000000000000;

	trace_writer__begin(w, &meta);
	for (unsigned i = 0; i < n; i++) {
		struct wire_event e = {.time = time +=
				       600 + i * 7 % 5 * 10 + (i % 1000 ? 0 : 20000),
				       .pid = 1,
				       .tid = 1,
				       .sp = 0x7ffc0000,
				       .site_type = i % 10 ? S_JNE : S_CALL,
				       .flags = 0x202};

		/* what sub sets: parity and borrow of a counter */
		e.flags |= (!(__builtin_popcount(i & 255) & 1) << 2) | ((i % 16 == 0) << 4) |
			   ((i % 10 == 9) << 6);
		trace_writer__record(w, &e, sizeof(e));
	}
	raw = trace_writer__pending(w); /* times are foretold, but for some noise and interrupts */
	ok(raw < n * 16 / 10, "before it is deflated, a branch takes %.2f bytes, its time included",
	   (double)raw / n);
	trace_writer__flush(w);
	ok(trace_writer__size(w) < n / 2, "then %.2f", (double)trace_writer__size(w) / n);
	trace_writer__free(w);
	str__free(&before);
}

static void test_foreign_record(void)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &file);
	struct wire_event e = {.site_type = SITES};

	file.len = 0;
	is(trace_writer__record(w, &e, sizeof(e)), -EINVAL,
	   "a record of no site of the plan is not taken");
	e.site_type = 250u << WIRE_SITE_BITS;
	is(trace_writer__record(w, &e, sizeof(e)), -EINVAL, "nor one of no type");
	e.site_type = WIRE_VALUE << WIRE_SITE_BITS;
	is(trace_writer__record(w, &e, sizeof(e)), -EINVAL,
	   "nor one that is too short for its type");
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
	test_size();
	test_foreign_record();
	str__free(&file);
	str__free(&wrote);
	return tap__done();
}
