// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged trace files: what is lost is what the damage hit, it is told how much that was, and all
 * else is read as if nothing had happened. Items are compared with those that were written by
 * hashes of what they are.
 */
#include <stdlib.h>
#include "file/format.h"
#include "file_fixture.h"
#include "pack_block.h"

/* At least, of the armored file: the time grows with their square. BB_LINES=2000 takes half a
 * minute; MATRIX=whole: 500.
 */
static size_t line_count;

typedef VEC(uint64_t) items;

static struct str file, hurt;
static items wrote, got;

static void add_event(items *to, const struct event *e)
{
	const uint64_t all[] = {e->type,   e->time,  e->pid,	   e->tid,	  e->sp,
				e->site,   e->cpu,   e->interrupt, e->taken,	  e->untimed,
				e->target, e->value, e->count,	   e->has_target, e->has_value};

	vec__push(to, map64__hash(all, sizeof(all)));
}

static void add_sideband(items *to, const struct sideband_event *e)
{
	const uint64_t all[] = {e->type, e->time, e->pid, e->tid,
				map64__hash(e->text, strlen(e->text))};

	vec__push(to, map64__hash(all, sizeof(all)));
}

/* ---- a file ---- */

static uint64_t now;

static void add_branch(struct trace_writer *w)
{
	struct event e = {.time = now += rnd() % 3000,
			  .pid = 100 + rnd() % 2,
			  .tid = 200 + rnd() % 4,
			  .sp = 0x7ffc00000000 + rnd() % 4 * 16,
			  .site = rnd() % 2 ? S_JNE : S_IJMP,
			  .cpu = rnd() % 2,
			  .type = EVENT_BRANCH};

	e.taken = e.site == S_JNE && rnd() % 3;
	e.has_target = e.site == S_IJMP;
	e.target = e.has_target ? 0x555500001000 + rnd() % 0x100000 : 0;
	trace_writer__event(w, &e);
	add_event(&wrote, &e);
}

static void add_comm(struct trace_writer *w)
{
	struct sideband_event e = {.type = SIDEBAND_COMM,
				   .time = now,
				   .pid = 100,
				   .tid = 200 + rnd() % 4,
				   .text = "some name"};

	trace_writer__sideband(w, &e);
	add_sideband(&wrote, &e);
}

static size_t written; /* blocks */

struct packed {
	struct armor *armor; /* NULL: none */
	size_t starts[4096]; /* where each block is */
	size_t plan;	     /* bytes up to the first events */
	size_t end;	     /* and to what is behind the last block that is no copy */
};

static int pack(void *ctx, struct trace_block *b)
{
	struct packed *p = ctx;
	struct str bytes = {0};

	if (b->type && written < ARRAY_SIZE(p->starts))
		p->starts[written++] = file.len;
	pack_block(b, &bytes);
	if (p->armor) {
		armor__put(p->armor, bytes.data, bytes.len, &file);
		armor__end_line(p->armor, &file);
	} else {
		str__put(&file, bytes.data, bytes.len);
	}
	if (b->type == BLOCK_END)
		p->end = file.len;
	if (p->armor && !bytes.len)
		armor__end_groups(p->armor, &file);
	str__free(&bytes);
	str__free(&b->raw);
	return 0;
}

/* Of so many bytes. */
static void write_file(struct packed *p, size_t size, bool armored, bool redundant)
{
	static const struct trace_meta meta = {.start_time = 1, .events = 7, .version = "x"};
	struct trace_end end = {.totals = {.events = 17}};
	struct trace_writer *w;

	*p = (struct packed){.armor = armored ? armor__new(redundant) : NULL};
	w = trace_writer__new(&plan, pack, p, armored);
	file.len = wrote.len = written = 0;
	now = 5000000;
	trace_writer__begin(w, &meta);
	p->plan = file.len;
	trace_writer__mapped(w, 8, 77, object.path, &object);
	for (size_t i = 0; file.len < size; i++) {
		if (i % 400 == 399)
			add_comm(w);
		else
			add_branch(w);
		if (i == 2000)
			trace_writer__symbol(w, &object, 0x1044);
		if (i % 1500 == 1499)
			trace_writer__flush(w);
	}
	trace_writer__end(w, &end);
	trace_writer__free(w);
	armor__free(p->armor);
}

/* ---- reading it ---- */

#define HOLE 0 /* among the items */

static uint64_t lost_events, lost_sideband;
static size_t places, names;

static int take_event(void *ctx, const struct event *e)
{
	add_event(&got, e);
	return 0;
}

static int take_sideband(void *ctx, const struct sideband_event *e)
{
	add_sideband(&got, e);
	return 0;
}

static int take_damage(void *ctx, const struct trace_damage *d)
{
	places++;
	names += d->names;
	lost_events += d->events;
	lost_sideband += d->sideband;
	vec__push(&got, HOLE);
	return 0;
}

static void ignore(void *ctx, const char *text)
{
	++*(size_t *)ctx;
}

static size_t told;

/* 0, or the error of the file. */
static int read_text(const struct str *text, bool armored)
{
	static const struct trace_calls calls = {
		.event = take_event, .sideband = take_sideband, .damage = take_damage};
	struct from_memory m = {text->data, text->len, 0, 4096};
	struct dearmor *d = armored ? dearmor__new(read_memory, &m, ignore, &told) : NULL;
	struct trace_reader *r =
		d ? trace_reader__new(dearmor__read, d) : trace_reader__new(read_memory, &m);
	int err;

	got.len = lost_events = lost_sideband = places = names = told = 0;
	err = trace_reader__run(r, &calls, NULL);
	trace_reader__free(r);
	dearmor__free(d);
	return err;
}

static bool same(const uint64_t *a, const uint64_t *b, size_t n)
{
	return !n || !memcmp(a, b, n * sizeof(*a));
}

static bool is_whole(void)
{
	return got.len == wrote.len && same(got.data, wrote.data, got.len);
}

/* Is it all that was written, but for one piece of as many items as are told to be lost? */
static bool is_all_but_one_piece(void)
{
	size_t before = 0, behind;

	while (before < got.len && got.data[before] != HOLE)
		before++;
	if (before == got.len || places != 1)
		return false;
	behind = got.len - before - 1;
	return before + behind + lost_events + lost_sideband == wrote.len &&
	       same(got.data, wrote.data, before) &&
	       same(&got.data[before + 1], &wrote.data[wrote.len - behind], behind);
}

/* Was it written, in this order, and is as much missing in each place as is told in all? */
static bool is_honest(int err)
{
	size_t w = 0, missing = 0;
	bool hole = false;

	for (size_t i = 0; i < got.len; i++) {
		hole |= got.data[i] == HOLE;
		if (got.data[i] == HOLE)
			continue;
		for (; w < wrote.len && wrote.data[w] != got.data[i]; w++, missing++)
			if (!hole)
				return false;
		if (w++ == wrote.len)
			return false;
		hole = false;
	}
	if (!err)
		return is_whole();
	return missing == lost_events + lost_sideband ||
	       missing + wrote.len - w == lost_events + lost_sideband;
}

/* ---- each line in turn ---- */

static size_t lines_in(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

static const char *line_at(size_t n)
{
	const char *p = file.data;

	while (n--)
		p = strchr(p, '\n') + 1;
	return p;
}

static void without(const char *from, const char *to)
{
	hurt.len = 0;
	str__put(&hurt, file.data, from - file.data);
	str__put(&hurt, to, file.data + file.len - to);
}

static void test_each_line(bool redundant)
{
	size_t n = 0, good = 0, harmless = 0, most = 0;
	struct packed p;

	write_file(&p, line_count * 76, true, redundant);
	is(read_text(&file, true), 0, "an armored file is read");
	ok(is_whole(), "to what was written");
	for (const char *line = file.data; line < file.data + file.len; n++) {
		const char *next = strchr(line, '\n') + 1;
		int err;

		without(line, next);
		err = read_text(&hurt, true);
		if (!err && is_whole())
			harmless++;
		else
			good += err == -EBADMSG && !redundant && is_all_but_one_piece() &&
				told == 1 && !names && !lost_sideband;
		most = max_of(most, (size_t)lost_events);
		line = next;
	}
	ok(n >= line_count, "each of %zu lines", n);
	is(good + harmless, n, "a line that is missing costs its block, and nothing else");
	if (redundant)
		is(harmless, n, "redundant: nothing at all");
	else
		ok(most > 0 && most < 1000, "at most %zu events", most);
}

/* ---- more than a line ---- */

/* Has it nothing of what is read: only parity, and copies behind the end? */
static bool is_spare(const struct packed *p, const char *from, const char *to)
{
	for (; from < to; from = strchr(from, '\n') + 1)
		if (strncmp(from, "@bp", 3) && (size_t)(from - file.data) < p->end)
			return false;
	return true;
}

static void test_bursts(void)
{
	size_t good = 0, n = 0, most = 0, all;
	struct packed p;

	write_file(&p, 3 * line_count * 76, true, true);
	all = lines_in(file.data, file.data + file.len);
	for (size_t at = 0; at + 32 < all; at += 1 + rnd() % 31, n++) {
		const char *from = line_at(at), *to = line_at(at + 32);

		without(from, to);
		good += !read_text(&hurt, true) && is_whole() && !told == is_spare(&p, from, to);
	}
	is(good, n, "redundant: 32 lines in a row are restored, and it is told");
	write_file(&p, 2 * line_count * 76, true, false);
	all = lines_in(file.data, file.data + file.len);
	good = n = 0;
	for (size_t at = 0; at + 200 < all; at += 1 + rnd() % 23, n++) {
		int err;

		without(line_at(at), line_at(at + 1 + rnd() % 200));
		err = read_text(&hurt, true);
		good += is_honest(err);
		most = max_of(most, places);
	}
	is(good, n, "what a burst of missing lines costs is told");
	is(most, 1, "it is one piece");
}

static void test_beginning(void)
{
	struct packed p;
	size_t plan_lines;
	int err;

	write_file(&p, 500 * 76, true, false);
	plan_lines = lines_in(file.data, file.data + p.plan);
	without(file.data, line_at(plan_lines / 2 - 2));
	err = read_text(&hurt, true);
	ok(!err && is_whole(), "a reader that missed the plan takes its copy");
	without(file.data, line_at(plan_lines));
	err = read_text(&hurt, true);
	ok(err == -EBADMSG && !got.len, "without both nothing is read: %s", err__text());
}

/* Other text, and lines in another order. */
static void test_noise(void)
{
	static const char *const noise[] = {"[   12.345678] usb 1-1: new device\r\n", "\r\n",
					    "\x1b[0m", "\xff\x80", "login: "};
	struct packed p;
	size_t n = 0;
	int err;

	for (int redundant = 0; redundant < 2; redundant++) {
		write_file(&p, 400 * 76, true, redundant);
		hurt.len = 0;
		for (const char *line = file.data, *next, *end = line + file.len; line < end;
		     line = next, n++) {
			const char *third;

			next = strchr(line, '\n') + 1;
			if (n % 7 == 0)
				str__puts(&hurt, noise[n % ARRAY_SIZE(noise)]);
			if (n % 11 == 0 && next < end) { /* two change places */
				third = strchr(next, '\n') + 1;
				str__put(&hurt, next, third - next);
				next = third;
			}
			str__put(&hurt, line, strchr(line, '\n') - line);
			str__puts(&hurt, n % 5 ? "\r\n" : "\n");
			if (n % 13 == 0)
				str__put(&hurt, line, strchr(line, '\n') + 1 - line);
		}
		err = read_text(&hurt, true);
		ok(!err && is_whole() && (!told || redundant),
		   "noise, lines that come twice and lines that change places cost nothing");
	}
}

/* ---- files of bytes ---- */

static void overwrite(size_t at, size_t len)
{
	hurt.len = 0;
	str__put(&hurt, file.data, file.len);
	for (size_t i = at; i < at + len; i++)
		hurt.data[i] = hurt.data[i] ^ (1 + rnd() % 255);
}

static size_t end_of(const struct packed *p, size_t block)
{
	return block + 1 < written ? p->starts[block + 1] : file.len;
}

/* The block is damaged in this way. */
static bool is_as_told(const struct packed *p, size_t block, bool cut_out)
{
	int err = read_text(&hurt, false);

	if (p->starts[block] < p->plan)
		return err == -EBADMSG && !got.len;
	if (block + 1 == written)
		return (err == -EBADMSG || err == -ENODATA) && is_whole();
	if (block + 2 == written) /* without items */
		return err == -EBADMSG && places == 1 && !lost_events;
	if (names)
		return err == -EBADMSG && !lost_events;
	return err == -EBADMSG && is_all_but_one_piece();
}

static void test_blocks(void)
{
	size_t good = 0, n = 0;
	struct packed p;

	write_file(&p, 60000, false, false);
	is(read_text(&file, false), 0, "a file is read");
	ok(is_whole(), "as it was written");
	for (size_t b = 0; b < written; b++) {
		size_t at = p.starts[b], len = end_of(&p, b) - at;

		overwrite(at, 1 + rnd() % 20);
		good += is_as_told(&p, b, false);
		overwrite(at + rnd() % len, 1);
		good += is_as_told(&p, b, false);
		overwrite(at, len);
		good += is_as_told(&p, b, false);
		without(file.data + at, file.data + at + len);
		good += is_as_told(&p, b, true);
		n += 4;
	}
	ok(written > 15, "of %zu blocks", written);
	is(good, n, "a block that is damaged or missing costs what it had, and nothing else");
}

static void test_overwrites(void)
{
	size_t good = 0, n = 0;
	struct packed p;

	write_file(&p, 60000, false, false);
	for (size_t at = p.plan; at + 3000 < file.len; at += 211, n++) {
		overwrite(at, 1 + rnd() % 3000);
		good += is_honest(read_text(&hurt, false)) && places <= 1;
	}
	is(good, n, "bytes that are overwritten cost their blocks");
}

int main(void)
{
	const char *given = getenv("BB_LINES");

	line_count = given ? strtoul(given, NULL, 10) : runs_whole() ? 500 : 200;
	make_plan();
	test_each_line(false);
	test_each_line(true);
	test_bursts();
	test_beginning();
	test_noise();
	test_blocks();
	test_overwrites();
	str__free(&file);
	vec__free(&wrote);
	str__free(&hurt);
	vec__free(&got);
	return tap__done();
}
