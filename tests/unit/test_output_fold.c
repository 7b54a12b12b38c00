// SPDX-License-Identifier: BSD-2-Clause
/* Folding: repetitions are found, and the output expands to the input. Lines are letters; a group
 * is shown as "(body)count". */
#include "fold_reference.h"
#include "tap.h"

struct sink {
	struct str shown;    /* with groups */
	struct str expanded; /* without */
	uint64_t lines;	     /* shown */
};

static void put_line(struct str *to, const struct fold_item *item)
{
	const struct fold_line *line = item->line;

	str__put(to, item->text.data, item->columns);
	str__put(to, line->text.data, line->times);
	str__put(to, item->text.data + item->columns, item->text.len - item->columns);
	str__put(to, line->text.data + line->times, line->text.len - line->times);
}

static void show(struct sink *s, const struct fold_item *item)
{
	if (!item->count) {
		put_line(&s->shown, item);
		s->lines++;
		return;
	}
	str__putc(&s->shown, '(');
	for (size_t i = 0; i < item->nbody; i++)
		show(s, item->body[i]);
	str__putc(&s->shown, ')');
	str__dec(&s->shown, item->count);
}

static void expand(struct sink *s, const struct fold_item *item)
{
	if (!item->count) {
		put_line(&s->expanded, item);
		return;
	}
	for (uint64_t n = 0; n < item->count; n++)
		for (size_t i = 0; i < item->nbody; i++)
			expand(s, item->body[i]);
}

static void on_item(void *ctx, const struct fold_item *item)
{
	show(ctx, item);
	expand(ctx, item);
}

static const uint64_t no_key[FOLD_KEYS];

static struct fold_item *item_of(struct fold *f, uint64_t time)
{
	struct fold_item *l = fold__line(f);

	l->timed = true;
	l->first = l->last = time;
	return l;
}

static struct fold_item *line_of(struct fold *f, const char *text, size_t len, uint64_t time)
{
	struct fold_item *l = item_of(f, time);

	fold__describe(f, l, no_key, text, len, len, len);
	return l;
}

static void push(struct fold *f, uint64_t thread, char c)
{
	fold__push(f, thread, line_of(f, &c, 1, 0));
}

static void sink__free(struct sink *s)
{
	str__free(&s->shown);
	str__free(&s->expanded);
}

static const struct {
	const char *in, *out, *what;
} rows[] = {
	{"a", "a", "a single line stays as it is"},
	{"abcd", "abcd", "lines that don't repeat stay as they are"},
	{"aa", "(a)2", "a line that comes twice is a group"},
	{"eaaaaaaaaxr", "e(a)8xr", "a loop of one line is a group"},
	{"eababababxr", "e(ab)4xr", "a loop of two lines is a group"},
	{"eabcabcabxr", "e(abc)2abxr",
	 "a loop that is left in the middle has its last lines behind it"},
	{"abbbabbbabbb", "(a(b)3)3", "a loop within a loop is a group within a group"},
	{"xabbcabbcabbcy", "x(a(b)2c)3y", "lines around a group stay as they are"},
	{"abbcabbcdabbcabbcd", "((a(b)2c)2d)2", "groups nest three deep"},
	{"abbbxabbxabbx", "a(b)3(xa(b)2)2x", "groups of different counts don't repeat"},
	{"aaabaaac", "(a)3b(a)3c", "groups with different lines between them don't repeat"},
};

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sink s = {0};
		struct fold *f = fold__new(on_item, &s);

		for (const char *c = rows[i].in; *c; c++)
			push(f, 1, *c);
		fold__settle(f);
		is_str(s.shown.data, rows[i].out, "%s: %s", rows[i].in, rows[i].what);
		is_str(s.expanded.data, rows[i].in, "%s: the output expands to the input",
		       rows[i].in);
		fold__free(f);
		sink__free(&s);
	}
}

/* The same numbers on each machine. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

static void test_random(void)
{
	uint32_t state = 1;
	int bad = 0, folded = 0;

	for (int round = 0; round < 300; round++) {
		unsigned letters = 1 + round % 4, n = 1 + next_random(&state) % 4000;
		struct sink s = {0};
		struct str in = {0};
		struct fold *f = fold__new(on_item, &s);

		for (unsigned i = 0; i < n; i++) {
			str__putc(&in, 'a' + next_random(&state) % letters);
			push(f, 1, in.data[i]);
			if (next_random(&state) % 1000 == 0)
				fold__settle(f);
		}
		fold__settle(f);
		bad += strcmp(in.data, s.expanded.data) != 0;
		folded += s.lines < n;
		fold__free(f);
		sink__free(&s);
		str__free(&in);
	}
	is(bad, 0, "folded random lines expand to the input");
	ok(folded > 200, "most sequences of random lines have something to fold");
}

/* One of 40 lines: mostly as in loops, which are left and entered at random. */
static unsigned next_line(uint32_t *state, unsigned *at, unsigned *from, unsigned *to)
{
	unsigned chance = next_random(state) % 100;

	if (chance < 2) {
		*from = next_random(state) % 40;
		*to = *from + next_random(state) % 6;
	}
	if (chance < 8)
		return next_random(state) % 40;
	*at = *at >= *to || *at < *from ? *from : *at + 1;
	return *at % 40;
}

/* chaos: no loops; then most lines come out as FOLD_HELD are held. */
static void test_reference(bool chaos, const char *what)
{
	struct sink s = {0};
	struct reference r = {0};
	struct fold *f = fold__new(on_item, &s);
	uint32_t state = 7;
	unsigned at = 0, from = 0, to = 3;
	char text[16];

	for (int i = 0; i < 60000; i++) {
		unsigned line =
			chaos ? next_random(&state) % 40 : next_line(&state, &at, &from, &to);

		reference__push(&r, (sprintf(text, "a%u", line), text));
		fold__push(f, 1, line_of(f, text, strlen(text), 0));
	}
	fold__settle(f);
	reference__end(&r);
	ok(!strcmp(s.shown.data, r.out.data), "%s: folded as by trying each distance", what);
	ok(strchr(r.out.data, '('), "%s: there are groups", what);
	str__free(&r.out);
	fold__free(f);
	sink__free(&s);
}

static void test_long(void)
{
	struct sink s = {0};
	struct fold *f = fold__new(on_item, &s);

	push(f, 1, 'e');
	for (int i = 0; i < 20; i++) {
		push(f, 1, 'a');
		for (int j = 0; j < 50000; j++) {
			push(f, 1, 'b');
			push(f, 1, 'c');
		}
		push(f, 1, 'd');
	}
	is(s.shown.len, 0, "a loop of two million lines is held until its end");
	push(f, 1, 'x');
	fold__settle(f);
	is_str(s.shown.data, "e(a(bc)50000d)20x",
	       "a loop of two million lines is shown as two groups");
	is(s.expanded.len, 1 + 20 * (2 + 100000) + 1,
	   "a loop of two million lines expands to all of them");
	fold__free(f);
	sink__free(&s);
}

static void test_bound(void)
{
	struct sink s = {0};
	struct fold *f = fold__new(on_item, &s);
	char text[16];

	for (int i = 0; i < FOLD_HELD + 10; i++) {
		int len = sprintf(text, "%d,", i);

		fold__push(f, 1, line_of(f, text, len, 0));
	}
	is_str(s.shown.data, "0,1,2,3,4,5,6,7,8,9,",
	       "at most FOLD_HELD lines are held, and the oldest come out");
	fold__settle(f);
	is(s.lines, FOLD_HELD + 10, "settling brings out the lines that were held");
	str__clear(&s.shown);
	for (int n = 0; n < 3; n++)
		for (int i = 0; i < FOLD_BODY + n - 1; i++)
			fold__push(f, 2 + n, line_of(f, text, sprintf(text, "%d,", i), 0));
	fold__settle(f);
	s.lines = 0;
	for (int n = 0; n < 3 * FOLD_BODY; n++)
		fold__push(f, 9, line_of(f, text, sprintf(text, "%d,", n % FOLD_BODY), 0));
	fold__settle(f);
	is(s.lines, FOLD_BODY, "a body of %d lines folds", FOLD_BODY);
	s.lines = 0;
	for (int n = 0; n < 3 * (FOLD_BODY + 1); n++)
		fold__push(f, 9, line_of(f, text, sprintf(text, "%d,", n % (FOLD_BODY + 1)), 0));
	fold__settle(f);
	is(s.lines, 3 * (FOLD_BODY + 1), "a body of more than FOLD_BODY lines does not fold");
	fold__free(f);
	sink__free(&s);
}

static void test_threads(void)
{
	struct sink s = {0};
	struct fold *f = fold__new(on_item, &s);

	for (int i = 0; i < 6; i++) {
		push(f, 1, 'a');
		push(f, 2, 'b');
		push(f, 2, 'c');
	}
	push(f, 1, 'x');
	fold__settle(f);
	is_str(s.shown.data, "(a)6(bc)6x", "each thread's lines fold for themselves");
	str__clear(&s.shown);
	for (const char *c = "pqrst"; *c; c++)
		push(f, *c % 2, *c);
	fold__settle(f);
	is_str(s.shown.data, "pqrst",
	       "lines of several threads come out in the order in which they came");
	fold__free(f);
	sink__free(&s);
}

static void test_oldest_group(void)
{
	struct sink s = {0};
	struct fold *f = fold__new(on_item, &s);
	char text[16];

	for (int i = 0; i < 5; i++)
		push(f, 1, 'a');
	for (int i = 0; i < FOLD_HELD; i++)
		fold__push(f, 2, line_of(f, text, sprintf(text, "%d,", i), 0));
	is_str(s.shown.data, "(a)5",
	       "a loop that all other lines wait for comes out with the count so far");
	for (int i = 0; i < 3; i++)
		push(f, 1, 'a');
	str__clear(&s.shown);
	fold__settle(f);
	ok(strstr(s.shown.data, ",(a)3"), "a loop that has come out goes on as another group");
	fold__free(f);
	sink__free(&s);
}

static void test_what_is_equal(void)
{
	struct sink s = {0};
	struct fold *f = fold__new(on_item, &s);
	struct fold_item *l;

	for (int i = 0; i < 3; i++) {
		const uint64_t key[FOLD_KEYS] = {[FOLD_KEYS - 1] = i / 2};

		l = item_of(f, 0);
		fold__describe(f, l, key, "a", 1, 1, 1);
		fold__push(f, 1, l);
	}
	fold__settle(f);
	is_str(s.shown.data, "(a)2a", "the same text with another key is another line");
	str__clear(&s.shown);
	for (int i = 0; i < 3; i++) {
		l = item_of(f, 0);
		fold__describe(f, l, NULL, "a", 1, 1, 1);
		fold__push(f, 1, l);
	}
	fold__settle(f);
	is_str(s.shown.data, "aaa", "lines that are to stand alone don't fold");
	str__clear(&s.shown);
	for (int i = 0; i < 3; i++) {
		l = item_of(f, 0);
		str__puts(&l->text, i ? "12:" : "11:");
		l->columns = 3;
		fold__describe(f, l, no_key, i ? "x1y" : "x2y", 3, 1, 2);
		fold__push(f, 1, l);
	}
	fold__settle(f);
	is_str(s.shown.data, "(11:x2y)3", "lines that differ in their times only fold");
	fold__free(f);
	sink__free(&s);
}

static uint64_t spans[8];
static size_t nspans;

static void on_span(void *ctx, const struct fold_item *item)
{
	spans[nspans++] = item->timed ? item->last - item->first : 0;
	for (size_t i = 0; i < item->nbody; i++)
		if (item->body[i]->count)
			on_span(ctx, item->body[i]);
}

static void test_times(void)
{
	struct fold *f = fold__new(on_span, NULL);
	uint64_t now = 100;
	struct fold_item *l;

	for (const char *c = "abbbabbb"; *c; c++) {
		l = line_of(f, c, 1, now++);
		l->timed = *c == 'b';
		fold__push(f, 1, l);
	}
	fold__settle(f);
	is(nspans, 2, "a loop within a loop has two groups");
	is(spans[0], 6, "an outer group's time is from its first timed line to its last");
	is(spans[1], 2, "an inner group's time is that of its first round");
	fold__free(f);
}

static void test_unfinished(void)
{
	struct fold *f = fold__new(on_item, NULL);

	for (int i = 0; i < 1000; i++)
		push(f, i % 7, "abbcd"[i % 5]);
	fold__free(f);
	fold__free(NULL);
	ok(true, "lines that are held when folding ends are freed");
}

int main(void)
{
	test_rows();
	test_random();
	test_reference(false, "loops");
	test_reference(true, "random lines");
	test_long();
	test_bound();
	test_threads();
	test_oldest_group();
	test_what_is_equal();
	test_times();
	test_unfinished();
	return tap__done();
}
