// SPDX-License-Identifier: BSD-2-Clause
/*
 * Block frequencies, from an earlier run or estimated from the code. A loop iterates several times.
 * A path that ends in a noreturn call, in a cold part or on a landing pad is rarely taken. Other
 * outcomes are equally likely.
 */
#include <stdlib.h>
#include "frequency_private.h"

#define TURNS	  8    /* iterations of a loop */
#define MAX_DEPTH 6    /* of nested loops that count */
#define COLD	  0.02 /* the probability of a cold path */
#define BUDGET	  (1u << 24)

struct guess {
	const struct plan *p;
	const struct plan_flow *flow;
	uint8_t *state, *depth;
	bool *cold;
	uint32_t *stamp;
	VEC(uint32_t) order;	      /* post-order */
	VEC(uint32_t) tails, headers; /* back edges */
	uint32_t budget;
};
enum { NEW, OPEN, DONE };

/* Visits depth-first from a block, iteratively; an edge to an open block is a back edge. */
static void visit(struct guess *g, uint32_t start)
{
	struct {
		uint32_t block, next;
	} top;
	VEC(uint64_t) stack = {0};

	g->state[start] = OPEN;
	vec__push(&stack, (uint64_t)start << 32 | g->flow->out[start]);
	while (stack.len) {
		top.block = *vec__last(&stack) >> 32;
		top.next = (uint32_t)*vec__last(&stack);
		if (top.next == g->flow->out[top.block + 1]) {
			g->state[top.block] = DONE;
			vec__push(&g->order, top.block);
			stack.len--;
			continue;
		}
		++*vec__last(&stack);
		top.next = g->flow->successors[top.next];
		if (g->state[top.next] == OPEN) {
			vec__push(&g->tails, top.block);
			vec__push(&g->headers, top.next);
		} else if (g->state[top.next] == NEW) {
			g->state[top.next] = OPEN;
			vec__push(&stack, (uint64_t)top.next << 32 | g->flow->out[top.next]);
		}
	}
	vec__free(&stack);
}

/* Adds one to the loop depth of the blocks in the natural loop of header. */
static void enter_loop(struct guess *g, uint32_t header)
{
	VEC(uint32_t) work = {0};

	g->stamp[header] = header + 1;
	g->depth[header]++;
	for (size_t i = 0; i < g->tails.len; i++)
		if (g->headers.data[i] == header && g->stamp[g->tails.data[i]] != header + 1) {
			g->stamp[g->tails.data[i]] = header + 1;
			vec__push(&work, g->tails.data[i]);
		}
	while (work.len && g->budget) {
		uint32_t b = work.data[--work.len];

		g->depth[b]++;
		for (uint32_t i = g->flow->in[b]; i < g->flow->in[b + 1]; i++) {
			g->budget -= g->budget > 0;
			if (g->stamp[g->flow->predecessors[i]] == header + 1)
				continue;
			g->stamp[g->flow->predecessors[i]] = header + 1;
			vec__push(&work, g->flow->predecessors[i]);
		}
	}
	vec__free(&work);
}

static void find_loops(struct guess *g)
{
	struct map64 done = {0};

	for (size_t i = 0; i < g->headers.len && g->budget; i++) {
		if (map64__get(&done, g->headers.data[i]))
			continue;
		*map64__put(&done, g->headers.data[i]) = 1;
		g->budget -= min_of(g->budget, (uint32_t)g->tails.len);
		enter_loop(g, g->headers.data[i]);
	}
	map64__free(&done);
}

static bool in_cold_part(const struct plan *p, const struct plan_block *b)
{
	const struct plan_function *f =
		b->function == NO_FUNCTION ? NULL : &p->functions.data[b->function];

	return f && f->nranges > 1 && b->start - f->ranges[0].vaddr >= f->ranges[0].size;
}

/* In post-order: a block is cold if all its successors are. */
static void find_cold(struct guess *g)
{
	for (size_t i = 0; i < g->order.len; i++) {
		uint32_t b = g->order.data[i];
		const struct plan_block *block = &g->p->blocks.data[b];
		bool all = g->flow->out[b] < g->flow->out[b + 1];

		for (uint32_t k = g->flow->out[b]; k < g->flow->out[b + 1]; k++)
			all &= g->cold[g->flow->successors[k]];
		g->cold[b] = all || block->noreturn || block->abnormal || in_cold_part(g->p, block);
	}
}

static bool is_back_edge(const struct guess *g, const uint32_t *position, uint32_t from,
			 uint32_t to)
{
	return position[to] >= position[from];
}

/* Distributes, in reverse post-order, each block's frequency to its successors, without back
 * edges. */
static void spread(struct guess *g, double *of)
{
	uint32_t *position = xcalloc(g->p->blocks.len + 1, sizeof(*position));

	for (size_t i = 0; i < g->order.len; i++)
		position[g->order.data[i]] = i;
	for (size_t i = g->order.len; i-- > 0;) {
		uint32_t b = g->order.data[i];
		double share = 0;

		if (of[b] == 0)
			of[b] = 1; /* a function's start, or an abnormal entry */
		for (uint32_t k = g->flow->out[b]; k < g->flow->out[b + 1]; k++)
			if (!is_back_edge(g, position, b, g->flow->successors[k]))
				share += g->cold[g->flow->successors[k]] ? COLD : 1;
		for (uint32_t k = g->flow->out[b]; k < g->flow->out[b + 1]; k++)
			if (!is_back_edge(g, position, b, g->flow->successors[k]))
				of[g->flow->successors[k]] +=
					of[b] * (g->cold[g->flow->successors[k]] ? COLD : 1) /
					share;
	}
	free(position);
}

/* ---- from an earlier run ---- */

/* Blocks that the earlier run did not reach keep their estimate, scaled down to almost nothing. */
#define UNSEEN 1e-6
#define ROUNDS 8 /* the most consecutive blocks without a branch of their own */

/* Returns the known number of times that control transferred from block b to another one. */
static double runs_to(const struct guess *g, const struct branch_counts *counts, const bool *known,
		      const double *of, uint32_t b, uint32_t to)
{
	const struct plan_block *block = &g->p->blocks.data[b];
	uint32_t n = g->flow->out[b + 1] - g->flow->out[b];

	if (known[b] && block->taken != block->next) {
		if (to == block->taken)
			return counts[b].taken;
		if (to == block->next && block->taken != NO_BLOCK)
			return counts[b].not_taken;
	}
	return n ? of[b] / n : 0;
}

static void ask(const struct guess *g, const struct plan_options *o, struct branch_counts *counts,
		bool *known, double *of)
{
	for (uint32_t b = 0; b < g->p->blocks.len; b++) {
		const struct plan_block *block = &g->p->blocks.data[b];
		const struct plan_site *s =
			block->site == NO_SITE ? NULL : &g->p->sites.data[block->site];

		of[b] *= UNSEEN;
		known[b] = s && o->weights(o->weights_ctx, g->p->objects.data[s->object].object,
					   s->vaddr, &counts[b]);
		if (known[b])
			of[b] += counts[b].taken + counts[b].not_taken;
	}
}

/* A block without a branch runs as often as control enters it. */
static void use_weights(const struct guess *g, const struct plan_options *o, double *of)
{
	size_t n = g->p->blocks.len;
	struct branch_counts *counts = xcalloc(n + 1, sizeof(*counts));
	bool *known = xcalloc(n + 1, sizeof(*known));

	ask(g, o, counts, known, of);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t b = 0; b < n; b++) {
			double sum = 0;

			if (known[b])
				continue;
			for (uint32_t i = g->flow->in[b]; i < g->flow->in[b + 1]; i++)
				sum += runs_to(g, counts, known, of, g->flow->predecessors[i], b);
			of[b] = max_of(of[b], sum);
		}
	free(counts);
	free(known);
}

void frequency__estimate(struct frequency *f, const struct plan_flow *flow,
			 const struct plan_options *options)
{
	const struct plan *p = flow->plan;
	struct guess g = {.p = p, .flow = flow, .budget = BUDGET};
	size_t n = p->blocks.len;

	f->of = xcalloc(n + 1, sizeof(*f->of));
	g.state = xcalloc(n + 1, 1);
	g.depth = xcalloc(n + 1, 1);
	g.cold = xcalloc(n + 1, sizeof(*g.cold));
	g.stamp = xcalloc(n + 1, sizeof(*g.stamp));
	for (size_t i = 0; i < p->functions.len; i++)
		if (p->functions.data[i].entry_block != NO_BLOCK &&
		    g.state[p->functions.data[i].entry_block] == NEW)
			visit(&g, p->functions.data[i].entry_block);
	for (uint32_t b = 0; b < n; b++)
		if (g.state[b] == NEW)
			visit(&g, b);
	find_loops(&g);
	find_cold(&g);
	spread(&g, f->of);
	for (uint32_t b = 0; b < n; b++)
		for (unsigned d = 0; d < min_of(g.depth[b], (unsigned)MAX_DEPTH); d++)
			f->of[b] *= TURNS;
	if (options->weights)
		use_weights(&g, options, f->of);
	free(g.state);
	free(g.depth);
	free(g.cold);
	free(g.stamp);
	vec__free(&g.order);
	vec__free(&g.tails);
	vec__free(&g.headers);
}

void frequency__free(struct frequency *f)
{
	free(f->of);
}
