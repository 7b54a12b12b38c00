// SPDX-License-Identifier: BSD-2-Clause
/*
 * Batches: functions of an object that are followed one after the other, so that the graph never
 * has the instructions of all. If what is found in one function depends on another one, the two are
 * joined, and have to be followed in one batch. What is found in a group of joined functions is
 * then the same whatever else is in the batch.
 */
#include <stdlib.h>
#include "code/code.h"

void graph__begin_batch(struct graph *g, uint32_t batch)
{
	graph__forget(g);
	g->batch = batch;
}

uint32_t graph__group(struct graph *g, uint32_t function)
{
	struct graph_function *f = g->functions.data;

	while (f[function].group != function) {
		f[function].group = f[f[function].group].group;
		function = f[function].group;
	}
	return function;
}

void graph__join(struct graph *g, uint32_t a, uint32_t b)
{
	a = graph__group(g, a);
	b = graph__group(g, b);
	g->functions.data[max_of(a, b)].group = min_of(a, b);
}

void graph__share(struct graph *g, uint32_t function, uint64_t addr)
{
	uint64_t *known;

	if (!g->batched || function == NO_FUNCTION)
		return;
	known = map64__put(&g->shared, addr);
	if (*known)
		graph__join(g, function, *known - 1);
	*known = function + 1;
}

bool graph__crosses(struct graph *g, uint32_t from, uint64_t addr)
{
	uint32_t owner = graph__owner(g, addr);

	if (owner == NO_FUNCTION || owner == from)
		return false;
	if (from != NO_FUNCTION && !graph__is_entry(g, addr))
		graph__join(g, from, owner);
	return !graph__in_batch(g, owner);
}

struct place {
	uint64_t start, end;
	uint32_t function;
};

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void graph__join_overlapping(struct graph *g)
{
	VEC(struct place) places = {0};
	const struct place *p, *last = NULL;

	for (uint32_t i = 0; i < g->functions.len; i++) {
		const struct range *r;

		vec__each (r, &g->functions.data[i].f.ranges)
			vec__push(&places, (struct place){r->vaddr, r->vaddr + r->size, i});
	}
	vec__sort(&places, by_start);
	/* last is, of those so far, the one that ends last. */
	vec__each (p, &places) {
		if (last && p->start < last->end)
			graph__join(g, p->function, last->function);
		if (!last || p->end > last->end)
			last = p;
	}
	vec__free(&places);
}

void graph__repeat(struct graph *g, uint32_t function, uint32_t batch)
{
	struct graph_function *f = &g->functions.data[function];

	f->batch = batch;
	f->started = false;
	f->dormant = f->inner;
	f->seeded = 0;
	while (f->f.ranges.len > f->given)
		map64__del(&g->parts, f->f.ranges.data[--f->f.ranges.len].vaddr);
	g->indexed = false;
}
