// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between a load-exclusive and its store-exclusive (arm64: ldxr, stxr; RISC-V: lr, sc) no exception
 * may occur: its return clears the monitor, the store fails, and the program tries again, for ever
 * (DDI 0487, B2.12; RISC-V volume I, "Eventual Success of Store-Conditional Instructions"). So no
 * instruction on a path from one to the other may carry a probe.
 */
#include "code/code.h"

/* If the other one of a pair isn't found, it is assumed to be within this many bytes, in code that
 * no graph leads to. RISC-V limits a loop that is sure to succeed to 16 instructions. */
#define REACH 64

struct pairs {
	struct graph *g;
	VEC(uint32_t) before;  /* nodes that lead to a store, without a load in between */
	VEC(struct edge) ways; /* their edges, from → next */
	struct map64 seen;     /* node → 1 + its index in before */
};

static enum exclusive kind_of(const struct graph *g, uint32_t node)
{
	return g->nodes.data[node].exclusive;
}

static void see(struct pairs *p, uint32_t from, uint32_t to)
{
	vec__push(&p->ways, (struct edge){.from = from, .next = to});
	if (map64__get(&p->seen, from))
		return;
	vec__push(&p->before, from);
	*map64__put(&p->seen, from) = p->before.len;
}

/* Finds all nodes from which the store is reached. A load, a store and clrex end the search. */
static void go_back(struct pairs *p, uint32_t store)
{
	uint32_t from, at;

	p->before.len = p->ways.len = 0;
	map64__free(&p->seen);
	see(p, store, 0);
	for (size_t i = 0; i < p->before.len; i++) {
		struct preds preds;

		at = p->before.data[i];
		if (i && kind_of(p->g, at) != EXCLUSIVE_NONE)
			continue;
		preds = graph__preds(p->g, at);
		while ((from = preds__next(p->g, &preds)))
			see(p, from, at);
	}
}

static bool mark(struct graph *g, uint32_t node)
{
	bool marked = g->nodes.data[node].flags & NODE_EXCLUSIVE;

	g->nodes.data[node].flags |= NODE_EXCLUSIVE;
	return !marked;
}

/* Marks those of them that a load leads to, and the load. Returns true if there is a load. */
static bool mark_pairs(struct pairs *p)
{
	bool found = false, more = true;
	const struct edge *e;
	const uint32_t *n;
	struct map64 on = {0};

	vec__each (n, &p->before)
		if (kind_of(p->g, *n) == EXCLUSIVE_LOAD) {
			*map64__put(&on, *n) = found = true;
			mark(p->g, *n);
			p->g->nodes.data[*n].flags |= NODE_PAIRED;
		}
	while (more) {
		more = false;
		vec__each (e, &p->ways) {
			if (!e->next || !map64__get(&on, e->from) || map64__get(&on, e->next))
				continue;
			*map64__put(&on, e->next) = more = true;
			mark(p->g, e->next);
		}
	}
	map64__free(&on);
	return found;
}

static void mark_near(struct graph *g, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (uint64_t addr = start; (i = graph__next_reached(g, &addr, end)); addr++)
		mark(g, i);
}

static void mark_store(struct pairs *p, uint32_t store)
{
	uint64_t addr = p->g->nodes.data[store].addr;

	go_back(p, store);
	mark(p->g, store);
	if (!mark_pairs(p))
		mark_near(p->g, addr > REACH ? addr - REACH : 0, addr);
}

void exclusive__mark(struct graph *g)
{
	struct pairs p = {.g = g};

	for (uint32_t i = 1; g->exclusives && i < g->nodes.len; i++)
		if (g->nodes.data[i].flags & NODE_REACHED && kind_of(g, i) == EXCLUSIVE_STORE)
			mark_store(&p, i);
	for (uint32_t i = 1; g->exclusives && i < g->nodes.len; i++) {
		const struct node *n = &g->nodes.data[i];

		if (n->flags & NODE_REACHED && kind_of(g, i) == EXCLUSIVE_LOAD &&
		    !(n->flags & NODE_PAIRED))
			mark_near(g, n->addr, n->addr + REACH);
	}
	vec__free(&p.before);
	vec__free(&p.ways);
	map64__free(&p.seen);
}
