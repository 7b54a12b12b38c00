// SPDX-License-Identifier: BSD-2-Clause
/*
 * Armored lines in the order of their numbers. A line that does not come is waited for while others
 * may still overtake it or, with parity lines, until those of its group are due; then it is
 * missing, and what is read has a hole.
 */
#include <errno.h>
#include <stdlib.h>
#include "armor.h"

#define AHEAD		16 /* lines that may overtake another one */
#define AHEAD_REDUNDANT (ARMOR_APART * (ARMOR_GROUP + 1) + AHEAD)
#define KEPT		2048 /* a power of 2, more than AHEAD_REDUNDANT */

struct kept_line {
	enum { NOTHING, HERE, GIVEN_UP } state;
	uint64_t number;
	struct armor_bytes bytes;
};

struct armor_order {
	void (*report)(void *ctx, const char *text);
	void *ctx;
	struct kept_line kept[KEPT]; /* by number: lines that were given, or wait for others */
	uint64_t expected, end; /* the number of the next line to give; the number after the highest
				   one seen */
	uint64_t missing;	/* lines before expected that were not reported yet */
	bool redundant;		/* a parity line was seen */
	uint64_t bad;		/* lines damaged or missing */
	struct str out;		/* bytes that were not read yet */
	size_t given;
	VEC(size_t) holes; /* where in them bytes are missing */
	size_t holes_given;
};

struct armor_order *armor_order__new(void (*report)(void *ctx, const char *text), void *ctx)
{
	struct armor_order *o = xcalloc(1, sizeof(*o));

	o->report = report;
	o->ctx = ctx;
	return o;
}

void armor_order__free(struct armor_order *o)
{
	if (!o)
		return;
	str__free(&o->out);
	vec__free(&o->holes);
	free(o);
}

uint64_t armor_order__expected(const struct armor_order *o)
{
	return o->expected;
}

uint64_t armor_order__bad(const struct armor_order *o)
{
	return o->bad;
}

/* ---- what is reported ---- */

static void report_missing(struct armor_order *o)
{
	unsigned long long first = o->expected - o->missing, last = o->expected - 1;
	char text[128];

	if (!o->missing)
		return;
	if (first == last)
		snprintf(text, sizeof(text), "armored line %llu is damaged or missing", first);
	else
		snprintf(text, sizeof(text), "armored lines %llu to %llu are damaged or missing",
			 first, last);
	o->bad += o->missing;
	o->missing = 0;
	vec__push(&o->holes, o->out.len);
	o->report(o->ctx, text);
}

static void report_repaired(struct armor_order *o, uint64_t number)
{
	char text[128];

	snprintf(text, sizeof(text), "armored line %llu was damaged or missing, and is repaired",
		 (unsigned long long)number);
	o->report(o->ctx, text);
}

/* ---- order ---- */

static struct kept_line *kept(struct armor_order *o, uint64_t number)
{
	struct kept_line *k = &o->kept[number % KEPT];

	if (k->number != number)
		*k = (struct kept_line){.number = number};
	return k;
}

static bool is_here(const struct armor_order *o, uint64_t number)
{
	const struct kept_line *k = &o->kept[number % KEPT];

	return k->state == HERE && k->number == number;
}

/* Gives the lines that wait for no other one; all: those up to before, whatever is missing. */
static void give(struct armor_order *o, uint64_t before, bool all)
{
	const uint64_t ahead = o->redundant ? AHEAD_REDUNDANT : AHEAD;

	for (; o->expected < before; o->expected++) {
		const struct kept_line *k = kept(o, o->expected);

		if (k->state == HERE) {
			report_missing(o);
			str__put(&o->out, (const char *)k->bytes.data, k->bytes.len);
		} else if (all || k->state == GIVEN_UP || o->end - o->expected > ahead) {
			o->missing++;
		} else {
			break;
		}
	}
}

/* Lines that far back were not seen: what waited for them is given. */
static void leap(struct armor_order *o, uint64_t number)
{
	if (number < o->expected + KEPT / 2)
		return;
	give(o, o->end, true);
	o->missing += number - o->expected;
	o->expected = number;
}

void armor_order__line(struct armor_order *o, uint64_t number, const struct armor_bytes *b)
{
	if (number < o->expected)
		return; /* a duplicate */
	leap(o, number);
	*kept(o, number) = (struct kept_line){HERE, number, *b};
	o->end = max_of(o->end, number + 1);
	give(o, o->end, false);
}

void armor_order__end(struct armor_order *o)
{
	give(o, o->end, true);
	report_missing(o);
}

/* ---- parity ---- */

/* Finds what is missing of a group, if it is one line; if more is missing, it is given up. */
static bool is_repairable(struct armor_order *o, uint64_t first, unsigned lines, uint64_t *which)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < lines; i++)
		if (!is_here(o, first + i * ARMOR_APART)) {
			*which = first + i * ARMOR_APART;
			missing++;
		}
	for (unsigned i = 0; missing > 1 && i < lines; i++)
		if (!is_here(o, first + i * ARMOR_APART) && first + i * ARMOR_APART >= o->expected)
			kept(o, first + i * ARMOR_APART)->state = GIVEN_UP;
	return missing == 1 && *which >= o->expected;
}

void armor_order__parity(struct armor_order *o, uint64_t first, unsigned lines,
			 const struct armor_bytes *sum)
{
	struct armor_bytes line = *sum;
	uint64_t which = 0;

	o->redundant = true;
	if (!lines || lines > ARMOR_GROUP)
		return;
	leap(o, first);
	if (is_repairable(o, first, lines, &which)) {
		for (unsigned i = 0; i < lines; i++)
			if (first + i * ARMOR_APART != which)
				armor_bytes__add(&line, &kept(o, first + i * ARMOR_APART)->bytes);
		if (line.len && line.len <= ARMOR_BYTES) {
			report_repaired(o, which);
			armor_order__line(o, which, &line);
		}
	}
	o->end = max_of(o->end, first + (lines - 1) * ARMOR_APART + 1);
	give(o, o->end, false);
}

/* ---- bytes ---- */

ssize_t armor_order__read(struct armor_order *o, void *data, size_t len)
{
	size_t end = o->holes_given < o->holes.len ? o->holes.data[o->holes_given] : o->out.len;
	size_t n = min_of(len, end - o->given);

	if (n) {
		memcpy(data, o->out.data + o->given, n);
		o->given += n;
		return n;
	}
	if (o->holes_given < o->holes.len) {
		o->holes_given++;
		return -EILSEQ;
	}
	o->given = o->out.len = 0;
	o->holes_given = o->holes.len = 0;
	return 0;
}
