// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers of acyclic paths. An edge is a back edge if a depth-first search from the function's
 * entry finds its target open. Each back edge stands for two others: from its block to the end, and
 * from the start to its target. The number of paths from a block to the end follows from those of
 * its successors.
 */
#include <stdlib.h>
#include "plan/plan.h"
#include "acyclic.h"
#include "flow.h"

struct edge {
	uint32_t way, to; /* to: NO_BLOCK if out of the plan */
	uint8_t kind;	  /* enum path_edge */
	uint64_t value;	  /* what it adds to a path's number */
};

struct node {
	uint32_t block, first, n; /* its edges: edges.data[first … first + n) */
	uint64_t paths;		  /* the number of paths from it to the end */
	uint64_t begins; /* the number of the first path after a back edge; 0 if none leads here */
	uint8_t state;	 /* the state of the search */
};
enum { UNSEEN, OPEN, DONE };

/* The graph of a function. */
struct dag {
	bool made, is_open;
	uint32_t function;
	VEC(struct node) nodes;
	VEC(struct edge) edges;
	struct map64 by_block; /* block -> index into nodes */
	VEC(uint32_t) order;   /* postorder: successors first */
	uint64_t paths;
};

struct acyclic {
	const struct plan *p;
	size_t nfunctions; /* when it was made; the plan may have more now */
	struct dag *dags;  /* by function */
	uint32_t *first,
		*of_blocks; /* the blocks of function f: of_blocks[first[f] ... first[f + 1]) */
};

struct acyclic *acyclic__new(const struct plan *p)
{
	size_t nf = p->functions.len, nb = p->blocks.len;
	struct acyclic *a = xcalloc(1, sizeof(*a));
	autofree uint32_t *at = xcalloc(nf + 1, sizeof(*at));

	a->p = p;
	a->nfunctions = nf;
	a->dags = xcalloc(nf + 1, sizeof(*a->dags));
	a->first = xcalloc(nf + 1, sizeof(*a->first));
	a->of_blocks = xcalloc(nb + 1, sizeof(*a->of_blocks));
	for (uint32_t b = 0; b < nb; b++)
		if (p->blocks.data[b].function < nf)
			a->first[p->blocks.data[b].function + 1]++;
	for (size_t f = 0; f < nf; f++)
		at[f + 1] = a->first[f + 1] += a->first[f];
	for (uint32_t b = 0; b < nb; b++)
		if (p->blocks.data[b].function < nf)
			a->of_blocks[at[p->blocks.data[b].function]++] = b;
	return a;
}

static void free_dag(struct dag *d)
{
	vec__free(&d->nodes);
	vec__free(&d->edges);
	vec__free(&d->order);
	map64__free(&d->by_block);
}

void acyclic__free(struct acyclic *a)
{
	if (!a)
		return;
	for (size_t f = 0; f < a->nfunctions; f++)
		free_dag(&a->dags[f]);
	free(a->dags);
	free(a->first);
	free(a->of_blocks);
	free(a);
}

/* ---- the edges of a block ---- */

static bool is_others_entry(const struct plan *p, uint32_t function, uint32_t block)
{
	uint32_t of = p->blocks.data[block].function;

	return of != NO_FUNCTION && of != function && p->functions.data[of].entry_block == block;
}

static bool has_edge(const struct dag *d, uint32_t first, uint32_t way)
{
	for (size_t i = first; i < d->edges.len; i++)
		if (d->edges.data[i].way == way)
			return true;
	return false;
}

/* Adds an edge; the search finds later whether it is a back edge. */
static void add_edge(struct acyclic *a, struct dag *d, uint32_t first, uint32_t way, uint32_t to)
{
	bool ends = to == NO_BLOCK || is_others_entry(a->p, d->function, to);

	if (!has_edge(d, first, way))
		vec__push(&d->edges, (struct edge){.way = way,
						   .to = to,
						   .kind = ends ? PATH_ENDS : PATH_GOES_ON});
}

static void add_table(struct acyclic *a, struct dag *d, uint32_t first, const struct plan_block *b)
{
	for (uint32_t i = 0; i < b->ntable; i++) {
		uint32_t to = a->p->table.data[b->table + i];

		add_edge(a, d, first, WAY_TO(to), to);
	}
	if (b->unresolved || b->outward || !b->ntable)
		add_edge(a, d, first, WAY_OUT, NO_BLOCK);
	d->is_open |= b->unresolved && !b->leaves;
}

static void add_edges(struct acyclic *a, struct dag *d, uint32_t first, uint32_t block)
{
	const struct plan_block *b = &a->p->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &a->p->sites.data[b->site];

	switch (s ? s->kind : BRANCH_NONE) {
	case BRANCH_IJMP:
		return add_table(a, d, first, b);
	case BRANCH_JCC:
	case BRANCH_LOOP:
		add_edge(a, d, first, WAY_TAKEN, b->taken);
		return add_edge(a, d, first, WAY_NOT_TAKEN, b->next);
	case BRANCH_JMP:
		return add_edge(a, d, first, WAY_TAKEN, b->taken);
	case BRANCH_RET:
		return add_edge(a, d, first, WAY_OUT, NO_BLOCK);
	default:
		if (b->next != NO_BLOCK && !b->noreturn)
			add_edge(a, d, first, WAY_NOT_TAKEN, b->next);
	}
}

/* ---- a function ---- */

static uint32_t node_of(struct acyclic *a, struct dag *d, uint32_t block)
{
	uint64_t *known = map64__get(&d->by_block, block);
	uint32_t first = d->edges.len;

	if (known)
		return *known;
	*map64__put(&d->by_block, block) = d->nodes.len;
	add_edges(a, d, first, block);
	vec__push(&d->nodes,
		  (struct node){.block = block, .first = first, .n = d->edges.len - first});
	return d->nodes.len - 1;
}

/* Follows an edge of the search. Returns its target, if that has to be searched. */
static uint32_t pass(struct acyclic *a, struct dag *d, size_t edge)
{
	uint32_t to = d->edges.data[edge].to, node;

	if (d->edges.data[edge].kind != PATH_GOES_ON)
		return UINT32_MAX;
	node = node_of(a, d, to);
	if (d->nodes.data[node].state == OPEN ||
	    to == a->p->functions.data[d->function].entry_block)
		d->edges.data[edge].kind = PATH_LOOPS;
	return d->nodes.data[node].state == UNSEEN ? node : UINT32_MAX;
}

struct visit {
	uint32_t node, next; /* of its edges */
};

static void search(struct acyclic *a, struct dag *d, uint32_t block)
{
	VEC(struct visit) open = {0};
	uint32_t node = node_of(a, d, block);

	if (d->nodes.data[node].state != UNSEEN)
		return;
	d->nodes.data[node].state = OPEN;
	vec__push(&open, (struct visit){node, 0});
	while (open.len) {
		struct visit *v = vec__last(&open);
		struct node *n = &d->nodes.data[v->node];

		if (v->next == n->n) {
			n->state = DONE;
			vec__push(&d->order, v->node);
			open.len--;
			continue;
		}
		node = pass(a, d, n->first + v->next++);
		if (node == UINT32_MAX)
			continue;
		d->nodes.data[node].state = OPEN;
		vec__push(&open, (struct visit){node, 0});
	}
	vec__free(&open);
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? PATHS_MANY : sum;
}

static struct node *node_at(struct dag *d, uint32_t block)
{
	const uint64_t *node = map64__get(&d->by_block, block);

	return node ? &d->nodes.data[*node] : NULL;
}

static void count(struct dag *d)
{
	uint32_t *i;

	vec__each (i, &d->order) {
		struct node *n = &d->nodes.data[*i];

		for (uint32_t k = n->first; k < n->first + n->n; k++) {
			struct edge *e = &d->edges.data[k];
			bool on = e->kind == PATH_GOES_ON;

			e->value = n->paths;
			n->paths = sum_of(n->paths, on ? node_at(d, e->to)->paths : 1);
		}
	}
}

static void begin_at(struct dag *d, uint32_t block)
{
	struct node *n = node_at(d, block);

	if (n->begins || d->paths == PATHS_MANY)
		return;
	n->begins = d->paths + 1;
	d->paths = sum_of(d->paths, n->paths);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void find_beginnings(struct dag *d, uint32_t entry)
{
	VEC(uint32_t) heads = {0};
	const struct edge *e;
	const uint32_t *h;

	d->paths = node_at(d, entry)->paths;
	vec__each (e, &d->edges)
		if (e->kind == PATH_LOOPS)
			vec__push(&heads, e->to);
	vec__sort(&heads, by_number);
	vec__each (h, &heads)
		begin_at(d, *h);
	vec__free(&heads);
}

static struct dag *dag_of(struct acyclic *a, uint32_t function)
{
	const struct plan_function *f = &a->p->functions.data[function];
	struct dag *d = &a->dags[function];

	if (d->made)
		return d;
	d->made = true;
	d->function = function;
	if (f->flags & FUNCTION_RANGE || f->entry_block >= a->p->blocks.len)
		return d;
	search(a, d, f->entry_block);
	/* Where the unwinder lands, and what follows jumps whose targets aren't known, are starts,
	 * too. */
	for (uint32_t i = a->first[function]; i < a->first[function + 1]; i++)
		search(a, d, a->of_blocks[i]);
	count(d);
	find_beginnings(d, f->entry_block);
	return d;
}

/* ---- for callers ---- */

static const struct edge *find_edge(struct dag *d, uint32_t block, uint32_t way)
{
	const struct node *n = node_at(d, block);

	for (uint32_t i = 0; n && i < n->n; i++)
		if (d->edges.data[n->first + i].way == way)
			return &d->edges.data[n->first + i];
	return NULL;
}

static enum path_edge leave_by_jump(struct acyclic *a, struct dag *d, uint32_t from, uint32_t to,
				    uint32_t *way)
{
	const struct edge *e = to == NO_BLOCK ? NULL : find_edge(d, from, WAY_TO(to));
	bool out = to == NO_BLOCK || is_others_entry(a->p, d->function, to);

	*way = out && !e ? WAY_OUT : WAY_TO(to);
	if (e)
		return e->kind;
	if (!map64__get(&d->by_block, from))
		return PATH_NO_EDGE;
	if (out)
		return PATH_ENDS;
	return map64__get(&d->by_block, to) ? PATH_LOOPS : PATH_NO_EDGE;
}

enum path_edge acyclic__leave(struct acyclic *a, uint32_t function, uint32_t from, bool taken,
			      uint32_t to, uint32_t *way)
{
	const struct plan_block *b = &a->p->blocks.data[from];
	uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : a->p->sites.data[b->site].kind;
	struct dag *d = dag_of(a, function);
	const struct edge *e;

	if (kind == BRANCH_IJMP)
		return leave_by_jump(a, d, from, to, way);
	*way = kind == BRANCH_RET ? WAY_OUT : taken ? WAY_TAKEN : WAY_NOT_TAKEN;
	e = find_edge(d, from, *way);
	return e && e->to == to ? e->kind : PATH_NO_EDGE;
}

uint64_t acyclic__paths(struct acyclic *a, uint32_t function)
{
	return dag_of(a, function)->paths;
}

bool acyclic__is_open(struct acyclic *a, uint32_t function)
{
	return dag_of(a, function)->is_open;
}

uint64_t acyclic__at_entry(struct acyclic *a, uint32_t function)
{
	const struct dag *d = dag_of(a, function);

	return d->nodes.len && d->paths != PATHS_MANY ? 1 : PATHS_MANY;
}

uint64_t acyclic__at_loop(struct acyclic *a, uint32_t function, uint32_t block)
{
	struct dag *d = dag_of(a, function);
	const struct node *n = node_at(d, block);

	return n && n->begins && d->paths != PATHS_MANY ? n->begins : PATHS_MANY;
}

uint64_t acyclic__value(struct acyclic *a, uint32_t function, uint32_t block, uint32_t way)
{
	const struct edge *e = find_edge(dag_of(a, function), block, way);

	return e ? e->value : PATHS_MANY;
}

bool *plan__is_jumped_into(const struct plan *p)
{
	bool *jumped = xcalloc(p->functions.len + 1, sizeof(*jumped));
	struct plan_flow flow;

	plan_flow__init(&flow, p);
	for (uint32_t b = 0; b < p->blocks.len; b++)
		for (uint32_t i = flow.out[b]; i < flow.out[b + 1]; i++) {
			uint32_t from = p->blocks.data[b].function;
			uint32_t to = p->blocks.data[flow.successors[i]].function;

			if (to != NO_FUNCTION && to != from &&
			    p->functions.data[to].entry_block != flow.successors[i])
				jumped[to] = true;
		}
	plan_flow__free(&flow);
	return jumped;
}

/* Returns the first branch from this block on. */
static uint32_t branch_from(const struct plan *p, uint32_t block)
{
	for (size_t n = 0; block != NO_BLOCK && n <= p->blocks.len; n++) {
		if (p->blocks.data[block].site != NO_SITE)
			return p->blocks.data[block].site;
		block = p->blocks.data[block].next;
	}
	return NO_SITE;
}

/* If no branch is taken, the head's own one comes next. */
static void note_ends(const struct plan *p, const struct dag *d, bool *ends)
{
	const struct node *n;

	vec__each (n, &d->nodes)
		for (uint32_t i = 0; i < n->n; i++) {
			const struct edge *e = &d->edges.data[n->first + i];
			uint32_t site = p->blocks.data[n->block].site;

			if (e->kind != PATH_LOOPS)
				continue;
			if (site == NO_SITE || p->sites.data[site].kind == BRANCH_CALL ||
			    p->sites.data[site].kind == BRANCH_ICALL)
				site = branch_from(p, e->to);
			if (site != NO_SITE)
				ends[site] = true;
		}
}

bool *plan__ends_iterations(const struct plan *p)
{
	bool *ends = xcalloc(p->sites.len + 1, sizeof(*ends));
	struct acyclic *a = acyclic__new(p);

	for (uint32_t f = 0; f < p->functions.len; f++) {
		struct dag *d = dag_of(a, f);

		note_ends(p, d, ends);
		free_dag(d);
		*d = (struct dag){.made = true};
	}
	acyclic__free(a);
	return ends;
}
