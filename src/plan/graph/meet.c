// SPDX-License-Identifier: BSD-2-Clause
/*
 * Post-dominators, function by function: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
 * Algorithm" (2001), on the edges backward, from one end that all paths out of the function lead
 * to.
 */
#include <stdlib.h>
#include "plan/plan.h"
#include "flow.h"
#include "meet.h"

#define END	0u /* of all paths; blocks are numbered from 1 in the function */
#define NOWHERE UINT32_MAX

struct node {
	uint32_t block;
	uint32_t up;	/* its immediate post-dominator; NOWHERE if no path leads to the end */
	uint32_t order; /* its place in postorder from the end: END has the largest number */
};

/* The tree of a function. */
struct tree {
	bool made;
	VEC(struct node) nodes; /* the first one is END */
};

struct plan_meets {
	const struct plan *p;
	struct plan_flow flow;
	struct tree *trees; /* by function */
	uint32_t *first,
		*of_blocks; /* the blocks of function f: of_blocks[first[f] ... first[f + 1]) */
	uint32_t *number;   /* by block: its number in its function */
};

static uint32_t function_of(const struct plan *p, uint32_t block)
{
	uint32_t f = p->blocks.data[block].function;

	return f == NO_FUNCTION ? (uint32_t)p->functions.len : f;
}

static void group(struct plan_meets *m)
{
	const struct plan *p = m->p;
	size_t nf = p->functions.len + 1, nb = p->blocks.len;
	autofree uint32_t *at = xcalloc(nf + 1, sizeof(*at));

	m->first = xcalloc(nf + 1, sizeof(*m->first));
	m->of_blocks = xcalloc(nb + 1, sizeof(*m->of_blocks));
	m->number = xcalloc(nb + 1, sizeof(*m->number));
	for (uint32_t b = 0; b < nb; b++)
		m->first[function_of(p, b) + 1]++;
	for (size_t f = 0; f < nf; f++)
		m->first[f + 1] += m->first[f];
	memcpy(at, m->first, (nf + 1) * sizeof(*at));
	for (uint32_t b = 0; b < nb; b++) {
		uint32_t f = function_of(p, b);

		m->of_blocks[at[f]] = b;
		m->number[b] = ++at[f] - m->first[f];
	}
}

struct plan_meets *plan_meets__new(const struct plan *p)
{
	struct plan_meets *m = xcalloc(1, sizeof(*m));

	m->p = p;
	plan_flow__init(&m->flow, p);
	m->trees = xcalloc(p->functions.len + 1, sizeof(*m->trees));
	group(m);
	return m;
}

void plan_meets__free(struct plan_meets *m)
{
	if (!m)
		return;
	for (size_t f = 0; f <= m->p->functions.len; f++)
		vec__free(&m->trees[f].nodes);
	plan_flow__free(&m->flow);
	free(m->trees);
	free(m->first);
	free(m->of_blocks);
	free(m->number);
	free(m);
}

/* ---- one function ---- */

/* Returns true if control may leave the function after this block, other than by a call that
 * doesn't return. */
static bool may_leave(const struct plan_meets *m, uint32_t block)
{
	const struct plan *p = m->p;
	const struct plan_block *b = &p->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
	const uint32_t *next = plan_flow__successors(&m->flow, block);

	for (uint32_t i = 0; i < plan_flow__count(&m->flow, block); i++)
		if (function_of(p, next[i]) != function_of(p, block))
			return true;
	if (b->noreturn)
		return false;
	if (b->leaves || b->unresolved || b->outward || (s && s->kind == BRANCH_RET))
		return true;
	if (!s)
		return b->next == NO_BLOCK;
	if (s->kind == BRANCH_JMP || plan_site__is_conditional(s))
		return b->taken == NO_BLOCK ||
		       (plan_site__is_conditional(s) && b->next == NO_BLOCK);
	return s->kind == BRANCH_IJMP ? !b->ntable : b->next == NO_BLOCK;
}

struct making {
	struct plan_meets *m;
	struct tree *t;
	VEC(uint32_t) edges; /* of node n, backward: edges[start[n] ... start[n + 1]) */
	uint32_t *start;
	VEC(uint32_t) order; /* postorder */
};

static uint32_t node_of(const struct plan_meets *m, uint32_t block, uint32_t function)
{
	return function_of(m->p, block) == function ? m->number[block] : NOWHERE;
}

static void put_sources(struct making *k, uint32_t n)
{
	const struct plan_meets *m = k->m;
	uint32_t block = k->t->nodes.data[n].block, function = function_of(m->p, block);

	for (uint32_t i = m->flow.in[block]; i < m->flow.in[block + 1]; i++) {
		uint32_t from = node_of(m, m->flow.predecessors[i], function);

		if (from != NOWHERE)
			vec__push(&k->edges, from);
	}
}

static void find_edges(struct making *k)
{
	size_t n = k->t->nodes.len;

	k->start = xcalloc(n + 1, sizeof(*k->start));
	for (uint32_t i = 1; i < n; i++)
		if (may_leave(k->m, k->t->nodes.data[i].block))
			vec__push(&k->edges, i);
	for (uint32_t i = 1; i < n; i++) {
		k->start[i] = k->edges.len;
		put_sources(k, i);
	}
	k->start[n] = k->edges.len;
}

/* Numbers all nodes that can be reached from the end, backward. */
static void find_order(struct making *k)
{
	autofree uint32_t *next = xcalloc(k->t->nodes.len + 1, sizeof(*next));
	autofree bool *seen = xcalloc(k->t->nodes.len + 1, sizeof(*seen));
	VEC(uint32_t) open = {0};

	for (size_t i = 0; i < k->t->nodes.len; i++)
		next[i] = k->start[i];
	vec__push(&open, END);
	seen[END] = true;
	while (open.len) {
		uint32_t n = *vec__last(&open);

		if (next[n] == k->start[n + 1]) {
			k->t->nodes.data[n].order = k->order.len;
			vec__push(&k->order, n);
			open.len--;
			continue;
		}
		n = k->edges.data[next[n]++];
		if (!seen[n]) {
			seen[n] = true;
			vec__push(&open, n);
		}
	}
	vec__free(&open);
}

static uint32_t common(const struct tree *t, uint32_t a, uint32_t b)
{
	const struct node *n = t->nodes.data;

	while (a != b)
		if (n[a].order < n[b].order)
			a = n[a].up;
		else
			b = n[b].up;
	return a;
}

static bool improve(struct making *k, uint32_t n)
{
	const struct plan_meets *m = k->m;
	struct node *node = &k->t->nodes.data[n];
	uint32_t function = function_of(m->p, node->block), best = NOWHERE;
	const uint32_t *next = plan_flow__successors(&m->flow, node->block);

	if (may_leave(m, node->block))
		best = END;
	for (uint32_t i = 0; i < plan_flow__count(&m->flow, node->block); i++) {
		uint32_t to = node_of(m, next[i], function);

		if (to == NOWHERE || k->t->nodes.data[to].up == NOWHERE)
			continue;
		best = best == NOWHERE ? to : common(k->t, best, to);
	}
	if (best == node->up)
		return false;
	node->up = best;
	return true;
}

static void make(struct plan_meets *m, uint32_t function)
{
	struct making k = {.m = m, .t = &m->trees[function]};
	bool more = true;

	k.t->made = true;
	vec__push(&k.t->nodes, (struct node){NO_BLOCK, END, 0});
	for (uint32_t i = m->first[function]; i < m->first[function + 1]; i++)
		vec__push(&k.t->nodes, (struct node){m->of_blocks[i], NOWHERE, 0});
	find_edges(&k);
	find_order(&k);
	while (more) {
		more = false;
		for (size_t i = k.order.len - 1; i-- > 0;) /* the last one is END */
			more |= improve(&k, k.order.data[i]);
	}
	vec__free(&k.edges);
	vec__free(&k.order);
	free(k.start);
}

/* ---- for callers ---- */

/* Returns the branch at the end of the blocks that follow one another from this one on. */
static uint32_t branch_of(const struct plan *p, uint32_t block)
{
	for (size_t n = 0; block != NO_BLOCK && n <= p->blocks.len; n++) {
		const struct plan_block *b = &p->blocks.data[block];

		if (b->site != NO_SITE)
			return b->site;
		block = b->next;
	}
	return NO_SITE;
}

uint32_t plan_meets__site(struct plan_meets *m, uint32_t a, uint32_t b)
{
	struct tree *t;
	uint32_t f;

	if (a == NO_BLOCK || b == NO_BLOCK || function_of(m->p, a) != function_of(m->p, b))
		return NO_SITE;
	f = function_of(m->p, a);
	t = &m->trees[f];
	if (!t->made)
		make(m, f);
	a = m->number[a];
	b = m->number[b];
	if (t->nodes.data[a].up == NOWHERE || t->nodes.data[b].up == NOWHERE)
		return NO_SITE;
	a = common(t, a, b);
	return a == END ? NO_SITE : branch_of(m->p, t->nodes.data[a].block);
}

uint32_t plan__block_after(const struct plan *p, uint32_t site, bool taken, uint64_t vaddr)
{
	const struct plan_site *s = &p->sites.data[site];
	const struct plan_block *b = &p->blocks.data[s->block];

	if (s->role != ROLE_BRANCH)
		return NO_BLOCK;
	switch (s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		return taken ? b->taken : b->next;
	case BRANCH_JMP:
		return b->taken;
	case BRANCH_IJMP:
		return plan__block_at(p, s->object, vaddr);
	case BRANCH_CALL:
	case BRANCH_ICALL:
		return b->next;
	default:
		return NO_BLOCK;
	}
}
