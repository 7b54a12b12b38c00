// SPDX-License-Identifier: BSD-2-Clause
/* Inputs without an end: what is no trace is given up, after a bounded number of bytes and in
 * bounded memory. Bytes are counted, not time. */
#include "file/format.h"
#include "file_fixture.h"
#include "pack_block.h"

#define MIB (1ull << 20)

/* A head, then a text again and again. */
struct endless {
	struct str head;
	const char *text;
	size_t len;
	uint64_t given;
};

/* Of the repeated text as much as is read at once, and one more. */
static char repeated[(1 << 16) + 64];

static void repeat(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(repeated); i++)
		repeated[i] = text[i % len];
}

static ssize_t read_endless(void *ctx, void *data, size_t len)
{
	struct endless *e = ctx;
	size_t n = e->given < e->head.len ? min_of(len, (size_t)(e->head.len - e->given))
					  : min_of(len, (size_t)1 << 16);

	if (!e->given)
		repeat(e->text, e->len);

	if (e->given < e->head.len)
		memcpy(data, e->head.data + e->given, n);
	else
		memcpy(data, repeated + e->given % e->len, n);
	e->given += n;
	return e->given < 1024 * MIB ? (ssize_t)n : -EIO;
}

static void note_gap(void *ctx, const char *text)
{
	str__puts(ctx, text);
}

/* The error, and how much of it was read. */
static int read_log(struct endless *e, struct str *told)
{
	struct dearmor *d = dearmor__new(read_endless, e, note_gap, told);
	struct trace_reader *r = trace_reader__new(dearmor__read, d);
	struct got got = {0};
	int err = trace_reader__run(r, &got_calls, &got);

	dearmor__finish(d);
	trace_reader__free(r);
	dearmor__free(d);
	str__free(&got.items);
	return err;
}

static void test_logs(void)
{
	static const struct {
		const char *what, *text;
		size_t len;
	} logs[] = {
		{"zeros", "", 1},
		{"a text", "bbtrace\n", 8},
		{"a line without an end", "@bb", 3},
		{"parts of lines", "@bb00000014iUJCVA0KGgoDAAAAPg\n", 31},
		{"escapes", "\033[", 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		struct endless e = {.text = logs[i].text, .len = logs[i].len};
		struct str told = {0};

		is(read_log(&e, &told), -ENOEXEC, "%s: no trace", logs[i].what);
		ok(e.given <= 17 * MIB, "%s: found out in 17 MiB", logs[i].what);
		str__free(&told);
	}
}

static void make_file(struct str *out)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, out, false);

	trace_writer__begin(w, &(struct trace_meta){0});
	trace_writer__event(w, &(struct event){.type = EVENT_BRANCH, .site = S_JNE});
	trace_writer__flush(w);
	trace_writer__free(w);
}

static void test_armored(void)
{
	struct str file = {0}, told = {0};
	struct endless e = {.text = "text\n", .len = 5};
	struct armor *a = armor__new(false);

	make_file(&file);
	armor__put(a, file.data, file.len, &e.head);
	armor__end_line(a, &e.head);
	armor__free(a);
	is(read_log(&e, &told), -ENODATA, "a trace in a log without an end: it has none either");
	ok(e.given <= 258 * MIB, "found out in 258 MiB");
	ok(told.data && strstr(told.data, "no armored line for 256 MiB"), "and it is told");
	str__free(&file);
	str__free(&told);
	str__free(&e.head);
}

static void test_plain(void)
{
	struct endless e = {.text = "", .len = 1};
	struct trace_reader *r = trace_reader__new(read_endless, &e);
	struct got got = {0};

	make_file(&e.head);
	is(trace_reader__run(r, &got_calls, &got), -EBADMSG, "zeros without an end in a trace");
	is(got.events, 1, "what was before them is read");
	ok(e.given <= 66 * MIB, "they are searched for 66 MiB");
	trace_reader__free(r);
	str__free(&got.items);
	str__free(&e.head);
}

/* ---- blocks that wait for a lost one ---- */

struct blocks {
	struct str packed;
	size_t at;
	uint32_t n;
};

/* Block 1 is lost; then tables without an end. */
static ssize_t read_blocks(void *ctx, void *data, size_t len)
{
	struct blocks *s = ctx;
	size_t n;

	if (s->at == s->packed.len) {
		struct trace_block b = {.type = BLOCK_SYMBOL, .number = s->n ? s->n + 1 : 0};

		str__put(&b.raw, NULL, 0);
		for (size_t i = 0; i < MIB / sizeof(seed); i++) {
			rnd();
			str__put(&b.raw, (const char *)&seed, sizeof(seed));
		}
		str__clear(&s->packed);
		s->at = 0;
		pack_block(&b, &s->packed);
		str__free(&b.raw);
		s->n++;
	}
	n = min_of(len, s->packed.len - s->at);
	memcpy(data, s->packed.data + s->at, n);
	s->at += n;
	return s->n < 600 ? (ssize_t)n : -EIO;
}

static void test_waiting(void)
{
	struct blocks s = {0};
	struct salvage v = {.stream = {.read = read_blocks, .ctx = &s}};
	struct block b;
	uint32_t lost;

	is(salvage__next(&v, &b, &lost), 1, "the block before the lost one");
	is(salvage__next(&v, &b, &lost), 1, "a block is lost: the next one is given");
	is(lost, 1, "one is lost");
	ok(s.n < 270, "they don't wait in more than 256 MiB (%u blocks of 1 MiB)", s.n);
	salvage__free(&v);
	str__free(&s.packed);
}

int main(void)
{
	make_plan();
	test_logs();
	test_armored();
	test_plain();
	test_waiting();
	return tap__done();
}
