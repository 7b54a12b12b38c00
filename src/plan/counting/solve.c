// SPDX-License-Identifier: BSD-2-Clause
/*
 * How often each edge was taken, from what probes counted: control enters each point as often as it
 * leaves it. Where this gives a negative number, or two different numbers, the counts contradict
 * each other, by the residue.
 */
#include <stdlib.h>
#include "plan/join/join.h"
#include "circulation_private.h"
#include "counting.h"

void plan_counts__init(struct plan_counts *c, const struct plan *p)
{
	*c = (struct plan_counts){
		.sites = xcalloc(p->sites.len + 1, sizeof(*c->sites)),
		.blocks = xcalloc(p->blocks.len + 1, sizeof(*c->blocks)),
		.table = xcalloc(p->table.len + 1, sizeof(*c->table)),
		.low = xcalloc(p->sites.len + 1, sizeof(*c->low)),
		.targets = xcalloc(p->sites.len + 1, sizeof(*c->targets)),
	};
}

void plan_counts__free(struct plan_counts *c)
{
	free(c->sites);
	free(c->blocks);
	free(c->table);
	free(c->low);
	free(c->targets);
	vec__free(&c->cuts);
}

void plan_counts__join(struct plan_counts *sum, const struct plan_counts *more,
		       const struct plan *p)
{
	for (size_t i = 0; i < p->sites.len; i++) {
		count__add(&sum->sites[i].taken, more->sites[i].taken);
		count__add(&sum->sites[i].not_taken, more->sites[i].not_taken);
		sum->low[i] |= more->low[i];
	}
	for (size_t i = 0; i < p->blocks.len; i++)
		count__add(&sum->blocks[i], more->blocks[i]);
	for (size_t i = 0; i < p->table.len; i++)
		count__add(&sum->table[i], more->table[i]);
	sum->residue += more->residue;
}

static uint32_t table_edge(const struct plan *p, const struct plan_block *b, uint32_t to)
{
	for (uint32_t i = 0; i < b->ntable && to != NO_BLOCK; i++)
		if (p->table.data[b->table + i] == to)
			return b->table + i;
	return UINT32_MAX;
}

void plan_counts__jumped(struct plan_counts *c, const struct plan *p, uint32_t site,
			 uint32_t object, uint64_t vaddr, uint64_t times)
{
	const struct plan_site *s = &p->sites.data[site];
	uint32_t to, edge;

	if (s->kind != BRANCH_IJMP)
		return;
	c->targets[site] += times;
	if (object == UINT32_MAX)
		return;
	to = plan__block_at(p, object, vaddr);
	edge = table_edge(p, &p->blocks.data[s->block], to);
	if (edge != UINT32_MAX)
		c->table[edge] += times;
	else
		vec__push(&c->cuts, (struct plan_cut){vaddr, object, times});
}

/* ---- what is solved ---- */

/* A cut in an inside edge. */
struct place {
	uint32_t edge;
	uint64_t vaddr;
	int64_t came;
};

struct solver {
	const struct plan *p;
	struct plan_counts *counts;
	struct circulation c;
	VEC(struct place) cuts; /* by edge, then vaddr */
	bool *known;		/* by edge */
	int64_t *count;		/* by edge; of an inside edge: at its start */
	int64_t *excess;	/* by point: what enters minus what leaves, of known edges */
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return vaddr__order(x->edge, x->vaddr, y->edge, y->vaddr);
}

static void place_cuts(struct solver *s)
{
	const struct plan_cut *cut;

	vec__each (cut, &s->counts->cuts) {
		uint32_t block = plan__block_holding(s->p, cut->object, cut->vaddr);

		if (block != NO_BLOCK && s->c.start[block] != OUTSIDE)
			vec__push(&s->cuts,
				  (struct place){circulation__inside(&s->c, block, cut->vaddr),
						 cut->vaddr, cut->came});
	}
	vec__sort(&s->cuts, by_place);
}

/* Returns what the cuts in an inside edge add up to an address. */
static int64_t brought(const struct solver *s, uint32_t edge, uint64_t vaddr)
{
	size_t lo = 0, hi = s->cuts.len;
	int64_t sum = 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->cuts.data[mid].edge < edge)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->cuts.len && s->cuts.data[lo].edge == edge && s->cuts.data[lo].vaddr <= vaddr;
	     lo++)
		sum += s->cuts.data[lo].came;
	return sum;
}

/* No count is below 0. */
static int64_t clamp(struct solver *s, int64_t count)
{
	if (count >= 0)
		return count;
	s->counts->residue -= count;
	return 0;
}

/* ---- what is known ---- */

static void know(struct solver *s, uint32_t edge, int64_t count)
{
	s->known[edge] = true;
	s->count[edge] = count;
}

/* Two probes may count the same edge. */
static void know_inside(struct solver *s, uint32_t edge, int64_t count)
{
	int64_t more = s->known[edge] ? count - s->count[edge] : 0;

	if (s->known[edge])
		s->counts->residue += more < 0 ? -more : more;
	else
		know(s, edge, count);
}

/* Of an indirect jump not all of whose targets were seen, only the number of executions is
 * known. */
static void know_jump(struct solver *s, uint32_t site, uint32_t from)
{
	const struct plan_site *ps = &s->p->sites.data[site];
	uint64_t times = s->counts->sites[site].taken, seen = s->counts->targets[site];

	s->counts->residue += times > seen ? times - seen : seen - times;
	know_inside(s, from - 1, times - brought(s, from - 1, ps->vaddr));
}

static void know_targets(struct solver *s, uint32_t site, uint32_t from, uint32_t to)
{
	const struct plan_block *b = &s->p->blocks.data[s->p->sites.data[site].block];
	int64_t rest = s->counts->sites[site].taken;

	for (uint32_t i = 0; i < b->ntable; i++, from++) {
		know(s, from, s->counts->table[b->table + i]);
		rest -= s->count[from];
	}
	if (from < to)
		know(s, from, clamp(s, rest));
	else
		s->counts->residue += rest < 0 ? -rest : rest;
}

static void know_site(struct solver *s, uint32_t site)
{
	const struct plan_site *ps = &s->p->sites.data[site];
	const struct site_count *n = &s->counts->sites[site];
	uint32_t from, to;

	circulation__counted(&s->c, site, &from, &to);
	if (from == to)
		return;
	if (s->c.edges.data[from].kind == EDGE_INSIDE) {
		know_inside(s, from, n->taken - brought(s, from, ps->vaddr + ps->probe_at));
	} else if (s->c.edges.data[from].kind == EDGE_TAKEN) {
		know(s, from, n->taken);
		know(s, from + 1, n->not_taken);
	} else if (s->counts->targets[site] == n->taken) {
		know_targets(s, site, from, to);
	} else {
		know_jump(s, site, from);
	}
}

static void know_sites(struct solver *s)
{
	s->known = xcalloc(s->c.edges.len + 1, sizeof(*s->known));
	s->count = xcalloc(s->c.edges.len + 1, sizeof(*s->count));
	for (uint32_t i = 0; i < s->p->sites.len; i++)
		if (plan_site__is_counted(&s->p->sites.data[i]))
			know_site(s, i);
}

static void find_excess(struct solver *s)
{
	const struct place *cut;

	s->excess = xcalloc(s->c.points, sizeof(*s->excess));
	for (size_t i = 0; i < s->c.edges.len; i++)
		if (s->known[i]) {
			s->excess[s->c.edges.data[i].from] -= s->count[i];
			s->excess[s->c.edges.data[i].to] += s->count[i];
		}
	vec__each (cut, &s->cuts)
		s->excess[s->c.edges.data[cut->edge].to] += cut->came;
}

/* ---- what follows from it ---- */

/* All children of the point are settled: what remains passes through the edge to its parent. An
 * edge that is not a bridge shares the rest with others, so its count stays unknown. */
static void settle(struct solver *s, const struct forest *f, uint32_t point)
{
	uint32_t edge = f->above[point];
	const struct flow_edge *e = &s->c.edges.data[edge];
	bool out = e->from == point;
	uint32_t up = out ? e->to : e->from;
	int64_t count = out ? s->excess[point] : -s->excess[point];

	if (f->bridge[edge]) {
		if (e->kind != EDGE_CUT)
			count = clamp(s, count);
		know(s, edge, count);
	}
	s->excess[up] += out ? count : -count;
}

static void follow(struct solver *s)
{
	struct forest f;

	forest__init(&f, &s->c, s->known);
	for (size_t i = f.order.len; i-- > 0;) {
		uint32_t point = f.order.data[i];
		int64_t left = s->excess[point];

		if (f.above[point] != NO_EDGE)
			settle(s, &f, point);
		else if (point != OUTSIDE)
			s->counts->residue += left < 0 ? -left : left;
	}
	forest__free(&f);
}

/* ---- the result ---- */

static uint64_t count_at(struct solver *s, uint32_t block, uint64_t vaddr)
{
	uint32_t edge;

	if (s->c.start[block] == OUTSIDE)
		return COUNT_UNKNOWN;
	edge = circulation__inside(&s->c, block, vaddr);
	return s->known[edge] ? (uint64_t)clamp(s, s->count[edge] + brought(s, edge, vaddr))
			      : COUNT_UNKNOWN;
}

static uint64_t count_of(const struct solver *s, uint32_t edge)
{
	return s->known[edge] ? (uint64_t)s->count[edge] : COUNT_UNKNOWN;
}

static void answer_site(struct solver *s, uint32_t site)
{
	const struct plan_site *ps = &s->p->sites.data[site];
	uint32_t from, to;

	if (plan_site__is_counted(ps) && ps->role == ROLE_BRANCH)
		return;
	circulation__counted(&s->c, site, &from, &to);
	if (from < to && s->c.edges.data[from].kind == EDGE_TAKEN)
		s->counts->sites[site] =
			(struct site_count){count_of(s, from), count_of(s, from + 1)};
	else
		s->counts->sites[site] = (struct site_count){count_at(s, ps->block, ps->vaddr), 0};
}

static void answer(struct solver *s)
{
	const struct plan *p = s->p;

	for (uint32_t i = 0; i < p->sites.len; i++)
		answer_site(s, i);
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];
		uint32_t table = s->c.first[i] + s->c.breaks[i + 1] - s->c.breaks[i] + 1;

		s->counts->blocks[i] = count_at(s, i, b->start);
		for (uint32_t k = 0; k < b->ntable; k++)
			s->counts->table[b->table + k] =
				s->c.start[i] == OUTSIDE ? COUNT_UNKNOWN : count_of(s, table + k);
	}
}

void plan_counts__solve(struct plan_counts *counts, const struct plan *p)
{
	struct solver s = {.p = p, .counts = counts};

	counts->residue = 0;
	circulation__init(&s.c, p);
	place_cuts(&s);
	know_sites(&s);
	find_excess(&s);
	follow(&s);
	answer(&s);
	circulation__free(&s.c);
	vec__free(&s.cuts);
	free(s.known);
	free(s.count);
	free(s.excess);
}
