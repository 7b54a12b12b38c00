// SPDX-License-Identifier: BSD-2-Clause
/*
 * What control can do in a plan, and which counts follow from others. Everything that it can do
 * must be an edge: a call need not return, and a call that does may return twice (exceptions,
 * longjmp, exit); a thread may be in the kernel when counting begins or ends.
 */
#include <stdlib.h>
#include "circulation_private.h"

/* ---- points ---- */

static bool takes_part(const struct plan *p, const struct plan_block *b)
{
	return plan__traces(p, b->function) &&
	       !(p->functions.data[b->function].flags & FUNCTION_HELPER);
}

static void find_breaks(struct circulation *c)
{
	const struct plan *p = c->plan;
	size_t n = p->blocks.len;

	c->breaks = xcalloc(n + 1, sizeof(*c->breaks));
	for (size_t b = 0, i = 0; b < n; b++) {
		while (i < p->breaks.len && p->breaks.data[i].block <= b)
			i++;
		c->breaks[b + 1] = i;
	}
}

static void number_points(struct circulation *c)
{
	const struct plan *p = c->plan;

	c->start = xcalloc(p->blocks.len + 1, sizeof(*c->start));
	c->points = OUTSIDE + 1;
	for (size_t b = 0; b < p->blocks.len; b++)
		if (takes_part(p, &p->blocks.data[b])) {
			c->start[b] = c->points;
			c->points += c->breaks[b + 1] - c->breaks[b] + 2;
		}
}

static uint32_t point_at(const struct circulation *c, uint32_t block)
{
	return block == NO_BLOCK ? OUTSIDE : c->start[block];
}

/* ---- code that was not decoded ---- */

static bool expose(const struct plan *p, bool *exposed, uint32_t from, uint32_t to)
{
	uint32_t function = to == NO_BLOCK ? NO_FUNCTION : p->blocks.data[to].function;

	if (function == NO_FUNCTION || function == from || exposed[function] ||
	    p->functions.data[function].entry_block == to)
		return false;
	return exposed[function] = true;
}

/* A function with gaps is exposed, and so are those that it shares code with. */
bool *circulation__exposed(const struct plan *p)
{
	bool *exposed = xcalloc(p->functions.len + 1, sizeof(*exposed)), more = false;
	const struct plan_block *b;

	for (size_t i = 0; i < p->functions.len; i++)
		more |= exposed[i] = p->functions.data[i].unreached > 0;
	while (more) {
		more = false;
		vec__each (b, &p->blocks) {
			if (b->function == NO_FUNCTION || !exposed[b->function])
				continue;
			more |= expose(p, exposed, b->function, b->taken);
			more |= expose(p, exposed, b->function, b->next);
			for (uint32_t i = 0; i < b->ntable; i++)
				more |= expose(p, exposed, b->function,
					       p->table.data[b->table + i]);
		}
	}
	return exposed;
}

/* ---- entries ---- */

/* An unresolved jump whose targets no probe shows may lead to any block of its function. */
static bool hides_targets(const struct plan *p, const struct plan_block *b)
{
	return b->unresolved && b->site != NO_SITE &&
	       !plan_site__is_counted(&p->sites.data[b->site]);
}

/* By block: control enters it from outside, or from code that nothing shows. */
static bool *find_entered(const struct plan *p, const bool *exposed)
{
	bool *entered = xcalloc(p->blocks.len + 1, sizeof(*entered)),
	     *open = xcalloc(p->functions.len + 1, sizeof(*open));
	const struct plan_function *f;
	const struct plan_block *b;

	for (size_t i = 0; i < p->functions.len; i++) {
		f = &p->functions.data[i];
		/* code around a range may jump anywhere in it */
		open[i] = exposed[i] || f->irregular || f->flags & FUNCTION_RANGE;
		if (f->entry_block != NO_BLOCK)
			entered[f->entry_block] = true;
	}
	vec__each (b, &p->blocks)
		if (takes_part(p, b))
			open[b->function] |= hides_targets(p, b);
	vec__each (b, &p->blocks) {
		const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
		uint32_t to = NO_BLOCK;

		entered[b - p->blocks.data] |=
			b->abnormal || (b->function != NO_FUNCTION && open[b->function]);
		if (s && s->kind == BRANCH_CALL)
			to = plan__block_at(p, s->object, s->target);
		else if (s && s->kind == BRANCH_NONE)
			to = b->taken; /* xbegin: where an aborted transaction continues */
		if (to != NO_BLOCK)
			entered[to] = true;
	}
	free(open);
	return entered;
}

/* ---- edges ---- */

static void add(struct circulation *c, enum edge_kind kind, uint32_t from, uint32_t to)
{
	vec__push(&c->edges, (struct flow_edge){from, to, kind});
}

static void add_jump(struct circulation *c, const struct plan_block *b, uint32_t end)
{
	for (uint32_t i = 0; i < b->ntable; i++)
		add(c, EDGE_TABLE, end, point_at(c, c->plan->table.data[b->table + i]));
	if (b->unresolved || b->outward || !b->ntable)
		add(c, EDGE_REST, end, OUTSIDE);
}

static void add_ways_out(struct circulation *c, const struct plan_block *b, uint32_t end)
{
	const struct plan *p = c->plan;
	uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;

	switch (kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		add(c, EDGE_TAKEN, end, point_at(c, b->taken));
		add(c, EDGE_NOT_TAKEN, end, point_at(c, b->next));
		return;
	case BRANCH_JMP:
		add(c, EDGE_OTHER, end, point_at(c, b->taken));
		return;
	case BRANCH_IJMP:
		add_jump(c, b, end);
		return;
	case BRANCH_RET:
		add(c, EDGE_OTHER, end, OUTSIDE);
		return;
	default: /* a call; the end of a block without a branch, or with a branch of an unknown kind
		  */
		if (b->next != NO_BLOCK && !b->noreturn)
			add(c, EDGE_OTHER, end, point_at(c, b->next));
		if (b->site != NO_SITE || b->next == NO_BLOCK || b->noreturn)
			add(c, EDGE_CUT, end, OUTSIDE);
	}
}

static void add_block(struct circulation *c, uint32_t block, bool entered, bool exposed)
{
	uint32_t start = c->start[block], n = c->breaks[block + 1] - c->breaks[block];

	for (uint32_t i = 0; i <= n; i++)
		add(c, EDGE_INSIDE, start + i, start + i + 1);
	add_ways_out(c, &c->plan->blocks.data[block], start + n + 1);
	for (uint32_t i = 1; i <= n; i++)
		add(c, EDGE_CUT, start + i, OUTSIDE);
	if (exposed) /* Control may enter it in the middle. */
		add(c, EDGE_CUT, start + n + 1, OUTSIDE);
	if (entered)
		add(c, EDGE_OTHER, OUTSIDE, start);
}

void circulation__init(struct circulation *c, const struct plan *p)
{
	autofree bool *exposed = circulation__exposed(p), *entered = find_entered(p, exposed);

	*c = (struct circulation){.plan = p};
	find_breaks(c);
	number_points(c);
	c->first = xcalloc(p->blocks.len + 1, sizeof(*c->first));
	for (size_t b = 0; b < p->blocks.len; b++) {
		c->first[b] = c->edges.len;
		if (c->start[b] != OUTSIDE)
			add_block(c, b, entered[b], exposed[p->blocks.data[b].function]);
	}
	c->first[p->blocks.len] = c->edges.len;
}

void circulation__free(struct circulation *c)
{
	free(c->start);
	free(c->first);
	free(c->breaks);
	vec__free(&c->edges);
}

/* ---- what probes count ---- */

uint32_t circulation__inside(const struct circulation *c, uint32_t block, uint64_t vaddr)
{
	uint32_t i = c->breaks[block];

	while (i < c->breaks[block + 1] && c->plan->breaks.data[i].vaddr <= vaddr)
		i++;
	return c->first[block] + i - c->breaks[block];
}

/* Sets the edges that a branch distinguishes; if there are none, the last inside edge. */
static void find_outcomes(const struct circulation *c, uint32_t block, uint32_t *from, uint32_t *to)
{
	uint32_t end = c->first[block] + c->breaks[block + 1] - c->breaks[block] + 1;

	*from = *to = end;
	while (*to < c->first[block + 1] && c->edges.data[*to].kind >= EDGE_TAKEN &&
	       c->edges.data[*to].kind <= EDGE_REST)
		++*to;
	if (*to == end)
		--*from;
}

void circulation__counted(const struct circulation *c, uint32_t site, uint32_t *from, uint32_t *to)
{
	const struct plan_site *s = &c->plan->sites.data[site];

	*from = *to = 0;
	if (c->start[s->block] == OUTSIDE)
		return;
	if (s->role == ROLE_BRANCH) {
		find_outcomes(c, s->block, from, to);
		return;
	}
	*from = circulation__inside(c, s->block, s->vaddr + s->probe_at);
	*to = *from + 1;
}

bool *circulation__known(const struct circulation *c)
{
	bool *known = xcalloc(c->edges.len + 1, sizeof(*known));
	uint32_t from, to;

	for (uint32_t i = 0; i < c->plan->sites.len; i++) {
		if (!plan_site__is_counted(&c->plan->sites.data[i]))
			continue;
		circulation__counted(c, i, &from, &to);
		for (; from < to; from++)
			known[from] = true;
	}
	return known;
}

/* ---- the forest ---- */

/* The unknown edges by point, as in struct plan_flow. */
struct adjacency {
	uint32_t *from, *edges;
};

static void adjacency__init(struct adjacency *a, const struct circulation *c, const bool *known)
{
	autofree uint32_t *at = xcalloc(c->points + 1, sizeof(*at));

	a->from = xcalloc(c->points + 1, sizeof(*a->from));
	a->edges = xcalloc(2 * c->edges.len + 1, sizeof(*a->edges));
	for (size_t i = 0; i < c->edges.len; i++)
		if (!known[i]) {
			a->from[c->edges.data[i].from + 1]++;
			a->from[c->edges.data[i].to + 1]++;
		}
	for (uint32_t i = 0; i < c->points; i++)
		a->from[i + 1] += a->from[i];
	memcpy(at, a->from, (c->points + 1) * sizeof(*at));
	for (size_t i = 0; i < c->edges.len; i++)
		if (!known[i]) {
			a->edges[at[c->edges.data[i].from]++] = i;
			a->edges[at[c->edges.data[i].to]++] = i;
		}
}

static uint32_t other_end(const struct flow_edge *e, uint32_t point)
{
	return e->from == point ? e->to : e->from;
}

struct visit {
	const struct circulation *c;
	struct forest *f;
	struct adjacency unknown;
	uint32_t *next;	  /* by point: the next of its edges to follow */
	uint32_t *number; /* by point: 1 + its place in the order; 0 if not visited */
	uint32_t *lowest; /* by point: the first point that is reached from below it by another edge
			   */
};

/* Goes back from a point to its parent. */
static uint32_t back_up(struct visit *v, uint32_t point)
{
	uint32_t edge = v->f->above[point], up;

	if (edge == NO_EDGE)
		return UINT32_MAX;
	up = other_end(&v->c->edges.data[edge], point);
	v->f->bridge[edge] = v->lowest[point] == v->number[point];
	v->lowest[up] = min_of(v->lowest[up], v->lowest[point]);
	return up;
}

static void arrive(struct visit *v, uint32_t point, uint32_t edge)
{
	v->f->above[point] = edge;
	vec__push(&v->f->order, point);
	v->number[point] = v->lowest[point] = v->f->order.len;
}

/* Visits depth first (Tarjan, "A Note on Finding the Bridges of a Graph", IPL 2(6), 1974), without
 * recursion. */
static void visit_all_from(struct visit *v, uint32_t point)
{
	arrive(v, point, NO_EDGE);
	while (point != UINT32_MAX) {
		uint32_t edge, to;

		if (v->next[point] == v->unknown.from[point + 1]) {
			point = back_up(v, point);
			continue;
		}
		edge = v->unknown.edges[v->next[point]++];
		to = other_end(&v->c->edges.data[edge], point);
		if (edge == v->f->above[point])
			continue;
		if (v->number[to]) {
			v->lowest[point] = min_of(v->lowest[point], v->number[to]);
			continue;
		}
		arrive(v, to, edge);
		point = to;
	}
}

void forest__init(struct forest *f, const struct circulation *c, const bool *known)
{
	struct visit v = {.c = c, .f = f};

	*f = (struct forest){.above = xcalloc(c->points, sizeof(*f->above)),
			     .bridge = xcalloc(c->edges.len + 1, sizeof(*f->bridge))};
	adjacency__init(&v.unknown, c, known);
	v.next = xcalloc(c->points, sizeof(*v.next));
	memcpy(v.next, v.unknown.from, c->points * sizeof(*v.next));
	v.number = xcalloc(c->points, sizeof(*v.number));
	v.lowest = xcalloc(c->points, sizeof(*v.lowest));
	for (uint32_t i = 0; i < c->points; i++)
		if (!v.number[i])
			visit_all_from(&v, i);
	free(v.unknown.from);
	free(v.unknown.edges);
	free(v.next);
	free(v.number);
	free(v.lowest);
}

void forest__free(struct forest *f)
{
	vec__free(&f->order);
	free(f->above);
	free(f->bridge);
}
