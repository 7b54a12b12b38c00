// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gcc splits the rare part of a function off (foo.part.0), to inline the rest of it. A compiler
 * that reads the profile does so later, if at all: it needs the part's counts where the rest was
 * inlined. They are divided among its callers by how often each has called it.
 */
#include <stdlib.h>
#include "sample_profile.h"

/* A body of a part, or a line or callee of one. */
struct piece {
	uint32_t part, index;
};
typedef VEC(struct piece) pieces;

struct dividing {
	struct sample_profile *p;
	uint32_t *part_of; /* by body: the part that it is or is in, NO_BODY: none */
	uint32_t *into;	   /* by body in a part: what it is in the present caller */
	pieces bodies, lines, callees;
};

static int by_part(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static const struct piece *first_of(const pieces *v, uint32_t part)
{
	size_t low = 0, high = v->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->data[mid].part < part)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? v->data + low : v->data;
}

static bool is_of(const struct piece *it, const pieces *v, uint32_t part)
{
	return it < vec__end(v) && it->part == part;
}

static void add_piece(struct dividing *d, pieces *to, uint32_t body, uint32_t index)
{
	if (d->part_of[body] != NO_BODY)
		vec__push(to, (struct piece){d->part_of[body], index});
}

/* A body's parent is before it. */
static void find_pieces(struct dividing *d)
{
	struct sample_profile *p = d->p;

	for (uint32_t i = 0; i < p->bodies.len; i++) {
		const struct profile_body *b = &p->bodies.data[i];

		d->part_of[i] = b->is_part	       ? i
				: b->parent == NO_BODY ? NO_BODY
						       : d->part_of[b->parent];
		add_piece(d, &d->bodies, i, i);
	}
	for (uint32_t i = 0; i < p->lines.len; i++)
		add_piece(d, &d->lines, p->lines.data[i].at.body, i);
	for (uint32_t i = 0; i < p->callees.len; i++)
		add_piece(d, &d->callees, p->callees.data[i].at.body, i);
	vec__sort(&d->bodies, by_part);
	vec__sort(&d->lines, by_part);
	vec__sort(&d->callees, by_part);
}

static uint64_t share_of(uint64_t count, uint64_t calls, uint64_t all)
{
	return ((unsigned __int128)count * calls + all / 2) / all;
}

/* Gives a caller its share. */
static void give(struct dividing *d, uint32_t part, uint32_t caller, uint64_t calls, uint64_t all)
{
	struct sample_profile *p = d->p;
	const struct piece *piece;

	for (piece = first_of(&d->bodies, part); is_of(piece, &d->bodies, part); piece++) {
		struct profile_body b = p->bodies.data[piece->index];
		struct profile_spot at = {.offset = b.offset, .discriminator = b.discriminator};

		if (piece->index != part)
			at.body = d->into[b.parent];
		d->into[piece->index] =
			piece->index == part ? caller : sample_profile__body(p, &at, b.name);
	}
	for (piece = first_of(&d->lines, part); is_of(piece, &d->lines, part); piece++) {
		struct profile_line l = p->lines.data[piece->index];

		l.at.body = d->into[l.at.body];
		l.count = share_of(l.count, calls, all);
		vec__push(&p->lines, l);
	}
	for (piece = first_of(&d->callees, part); is_of(piece, &d->callees, part); piece++) {
		struct profile_callee c = p->callees.data[piece->index];

		c.at.body = d->into[c.at.body];
		c.count = share_of(c.count, calls, all);
		vec__push(&p->callees, c);
	}
}

/* The function that it is a part of. */
static uint32_t whole_of(struct sample_profile *p, uint32_t part)
{
	struct profile_spot none = {.body = NO_BODY};

	return sample_profile__body(p, &none, p->bodies.data[part].name);
}

static int by_parts_caller(const void *a, const void *b)
{
	const struct profile_part_call *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

/* Joins the calls of each caller. A caller that is not the function itself, or in another part, is
 * left out: the whole has its share. */
static void join_calls(struct dividing *d)
{
	struct sample_profile *p = d->p;
	struct profile_part_call *c = p->part_calls.data;
	size_t n = 0;

	for (size_t i = 0; i < p->part_calls.len; i++)
		if (p->bodies.data[c[i].caller].name != p->bodies.data[c[i].part].name ||
		    d->part_of[c[i].caller] != NO_BODY)
			c[i].caller = whole_of(p, c[i].part);
	vec__sort(&p->part_calls, by_parts_caller);
	for (size_t i = 0; i < p->part_calls.len; i++)
		if (n && !by_parts_caller(&c[n - 1], &c[i]))
			c[n - 1].count += c[i].count;
		else
			c[n++] = c[i];
	p->part_calls.len = n;
}

static void divide(struct dividing *d, uint32_t part)
{
	struct sample_profile *p = d->p;
	uint64_t all = 0;
	const struct profile_part_call *c;

	vec__each (c, &p->part_calls)
		all += c->part == part ? c->count : 0;
	if (!all)
		give(d, part, whole_of(p, part), 1, 1);
	vec__each (c, &p->part_calls)
		if (c->part == part)
			give(d, part, c->caller, c->count, all);
}

/* What was divided has nothing of its own. */
static void drop_parts(struct dividing *d, size_t nbodies)
{
	struct sample_profile *p = d->p;
	size_t n = 0;

	for (size_t i = 0; i < p->lines.len; i++)
		if (p->lines.data[i].at.body >= nbodies ||
		    d->part_of[p->lines.data[i].at.body] == NO_BODY)
			p->lines.data[n++] = p->lines.data[i];
	p->lines.len = n;
	n = 0;
	for (size_t i = 0; i < p->callees.len; i++)
		if (p->callees.data[i].at.body >= nbodies ||
		    d->part_of[p->callees.data[i].at.body] == NO_BODY)
			p->callees.data[n++] = p->callees.data[i];
	p->callees.len = n;
}

void sample_profile__divide_parts(struct sample_profile *p)
{
	size_t nbodies = p->bodies.len;
	struct dividing d = {.p = p,
			     .part_of = xcalloc(nbodies + 1, sizeof(*d.part_of)),
			     .into = xcalloc(nbodies + 1, sizeof(*d.into))};

	find_pieces(&d);
	join_calls(&d);
	for (uint32_t i = 0; i < nbodies; i++)
		if (p->bodies.data[i].is_part)
			divide(&d, i);
	drop_parts(&d, nbodies);
	vec__free(&d.bodies);
	vec__free(&d.lines);
	vec__free(&d.callees);
	free(d.part_of);
	free(d.into);
}
