/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How lines of one thread are to be folded, in the simplest way: each distance is tried, and items
 * are compared by their text. A line is a letter and a number; a group is shown as "(body)count".
 */
#ifndef FOLD_REFERENCE_H
#define FOLD_REFERENCE_H

#include "output/text/fold.h"

struct reference_item {
	struct str shown, body; /* body: "" of a line */
	size_t nbody, lines;
	uint64_t count;
};

struct reference {
	VEC(struct reference_item) items;
	size_t head, lines;
	struct str out;
};

static inline void reference__clear(struct reference_item *i)
{
	str__free(&i->shown);
	str__free(&i->body);
}

static inline struct reference_item *reference__at(struct reference *r, size_t from_end)
{
	return r->items.data + r->items.len - from_end;
}

/* The text of n items, the first of which is so many from the end. */
static inline struct str reference__text(struct reference *r, size_t from_end, size_t n)
{
	struct str text = {0};

	str__put(&text, "", 0);
	for (size_t i = 0; i < n; i++)
		str__puts(&text, reference__at(r, from_end - i)->shown.data);
	return text;
}

/* The last n items are one more repetition of the group before them. */
static inline void reference__count(struct reference *r, size_t n)
{
	struct reference_item *g = reference__at(r, n + 1);

	for (size_t i = n; i > 0; i--) {
		r->lines -= reference__at(r, i)->lines;
		reference__clear(reference__at(r, i));
	}
	r->items.len -= n;
	g->count++;
	str__clear(&g->shown);
	str__printf(&g->shown, "(%s)%llu", g->body.data, (unsigned long long)g->count);
}

/* Makes a group of the n items before the last n. */
static inline void reference__group(struct reference *r, size_t n)
{
	struct reference_item g = {.body = reference__text(r, 2 * n, n), .nbody = n, .count = 1};

	for (size_t i = 2 * n; i > n; i--) {
		g.lines += reference__at(r, i)->lines;
		reference__clear(reference__at(r, i));
	}
	*reference__at(r, 2 * n) = g;
	memmove(reference__at(r, 2 * n) + 1, reference__at(r, n), n * sizeof(g));
	r->items.len -= n - 1;
	reference__count(r, n);
}

static inline bool reference__equal(struct reference *r, size_t n)
{
	for (size_t i = n; i > 0; i--)
		if (strcmp(reference__at(r, i)->shown.data, reference__at(r, i + n)->shown.data))
			return false;
	return true;
}

static inline bool reference__counts(struct reference *r, size_t n)
{
	struct reference_item *g = reference__at(r, n + 1);
	struct str text;
	bool same;

	if (g->nbody != n)
		return false;
	text = reference__text(r, n, n);
	same = !strcmp(text.data, g->body.data);
	str__free(&text);
	return same;
}

static inline bool reference__reduce(struct reference *r)
{
	size_t n = r->items.len - r->head;

	for (size_t p = 1; p < n && p <= FOLD_BODY; p++) {
		if (reference__counts(r, p))
			return reference__count(r, p), true;
		if (2 * p <= n && reference__equal(r, p))
			return reference__group(r, p), true;
	}
	return false;
}

static inline void reference__push(struct reference *r, const char *line)
{
	struct reference_item *i = vec__add(&r->items);

	str__puts(&i->shown, line);
	str__puts(&i->body, "");
	i->lines = 1;
	r->lines++;
	while (reference__reduce(r))
		;
	for (; r->lines > FOLD_HELD; r->head++) {
		str__puts(&r->out, r->items.data[r->head].shown.data);
		r->lines -= r->items.data[r->head].lines;
	}
}

static inline void reference__end(struct reference *r)
{
	for (size_t i = 0; i < r->items.len; i++) {
		if (i >= r->head)
			str__puts(&r->out, r->items.data[i].shown.data);
		reference__clear(&r->items.data[i]);
	}
	vec__free(&r->items);
}

#endif
