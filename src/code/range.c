// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the function that an address belongs to. Ranges may overlap (a symbol within another's
 * extent, a range within a traced function). Requested functions precede ranges, which precede
 * helpers; among equals the innermost wins.
 */
#include <stdlib.h>
#include "code/code.h"

uint32_t graph__add_function(struct graph *g, struct function *f)
{
	struct graph_function *gf = vec__add(&g->functions);

	gf->f = *f;
	gf->plan = NO_FUNCTION;
	gf->batch = g->batch;
	gf->given = f->ranges.len;
	gf->group = g->functions.len - 1;
	g->indexed = false;
	memset(f, 0, sizeof(*f));
	return g->functions.len - 1;
}

void graph__add_range(struct graph *g, uint32_t function, uint64_t vaddr, uint64_t size)
{
	struct range *r = vec__add(&g->functions.data[function].f.ranges);

	r->vaddr = vaddr;
	r->size = size;
	g->indexed = false;
}

#define CLASSES 4

struct address_range {
	uint64_t start, end;
	uint32_t function;
	uint8_t class;
};
typedef VEC(struct address_range) address_range_vec;

static uint8_t class_of(unsigned flags)
{
	if (flags & FUNCTION_HIDDEN)
		return 3;
	if (flags & FUNCTION_HELPER)
		return 2;
	return flags & FUNCTION_RANGE ? 1 : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->function < y->function) - (x->function > y->function);
}

static void push_extent(struct graph *g, uint64_t start, uint64_t end, uint32_t function)
{
	struct owned_extent *last = g->extents.len ? vec__last(&g->extents) : NULL;

	if (start >= end)
		return;
	if (last && last->end == start && last->function == function)
		last->end = end;
	else
		vec__push(&g->extents, (struct owned_extent){start, end, function});
}

/*
 * The open address ranges by class. In each class the last one started last and ends first, so it
 * owns the following addresses until its end.
 */
struct open {
	address_range_vec of[CLASSES];
};

static const struct address_range *innermost(struct open *open, uint64_t pos)
{
	for (unsigned i = 0; i < CLASSES; i++) {
		address_range_vec *v = &open->of[i];

		while (v->len && vec__last(v)->end <= pos)
			v->len--;
		if (v->len)
			return vec__last(v);
	}
	return NULL;
}

static void sweep(struct graph *g, struct open *open, uint64_t *pos, uint64_t until)
{
	const struct address_range *s;

	while (*pos < until && (s = innermost(open, *pos))) {
		uint64_t end = min_of(until, s->end);

		push_extent(g, *pos, end, s->function);
		*pos = end;
	}
	*pos = until;
}

void graph__index_ranges(struct graph *g)
{
	address_range_vec spans = {0};
	struct open open = {0};
	struct address_range *s;
	uint64_t pos = 0;

	if (g->indexed)
		return;
	for (uint32_t i = 0; i < g->functions.len; i++) {
		const struct function *f = &g->functions.data[i].f;
		const struct range *r;

		if (g->functions.data[i].dormant)
			continue;
		vec__each (r, &f->ranges)
			if (r->size && r->vaddr + r->size > r->vaddr)
				vec__push(&spans,
					  (struct address_range){r->vaddr, r->vaddr + r->size, i,
								 class_of(f->flags)});
	}
	vec__sort(&spans, by_start);
	g->extents.len = g->piece = 0;
	vec__each (s, &spans) {
		sweep(g, &open, &pos, s->start);
		vec__push(&open.of[s->class], *s);
	}
	sweep(g, &open, &pos, UINT64_MAX);
	g->indexed = true;
	vec__free(&spans);
	for (unsigned i = 0; i < CLASSES; i++)
		vec__free(&open.of[i]);
}

uint32_t graph__owner(struct graph *g, uint64_t addr)
{
	const struct owned_extent *p = g->extents.data;
	size_t lo = 0, hi = g->extents.len;

	if (g->piece < hi && addr >= p[g->piece].start && addr < p[g->piece].end)
		return p[g->piece].function;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == g->extents.len || addr < p[lo].start)
		return NO_FUNCTION;
	g->piece = lo;
	return p[lo].function;
}

bool graph__holds(const struct graph *g, uint32_t function, uint64_t addr)
{
	const struct range *r;

	vec__each (r, &g->functions.data[function].f.ranges)
		if (addr - r->vaddr < r->size)
			return true;
	return false;
}
