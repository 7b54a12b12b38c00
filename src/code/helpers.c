// SPDX-License-Identifier: BSD-2-Clause
/*
 * Helper functions: functions that were not requested, but that a traced function tail-calls. Their
 * rets are the traced function's returns.
 */
#include <stdlib.h>
#include "code/code.h"

/* A PLT stub jumps out of the object and has no ret. */
static bool is_stub(const struct object *o, uint64_t addr)
{
	const struct symbol *s = object__symbol_at(o, addr);

	return s && s->type == SYMBOL_PLT;
}

/* Returns true if returns of the function at from are recorded: not those of a range, or of a
 * function that encloses one. */
static bool returns_matter(struct graph *g, uint64_t from)
{
	uint32_t owner = graph__owner(g, from);

	return owner != NO_FUNCTION &&
	       !(g->functions.data[owner].f.flags & (FUNCTION_RANGE | FUNCTION_HIDDEN));
}

/* Returns true if no helper that is not indexed yet has this target. */
static bool is_new(const struct graph *g, uint32_t first, uint64_t target)
{
	for (uint32_t i = first; i < g->functions.len; i++)
		if (graph__holds(g, i, target))
			return true;
	return false;
}

static void add(struct graph *g, uint64_t target)
{
	struct function f;
	uint32_t i;

	if (is_stub(g->object, target) || !function__around(g->object, target, &f))
		return;
	f.flags = FUNCTION_HELPER;
	i = graph__add_function(g, &f);
	g->functions.data[i].started = true; /* by the jump, which need not lead to its entry */
}

/* Adds the targets of this round's jumps, at most left. */
static void add_functions(struct graph *g, unsigned left)
{
	uint32_t first = g->functions.len;

	for (size_t i = 0; i < g->outs.len; i++) {
		const struct insn *b = graph__branch(g, &g->nodes.data[g->outs.data[i]]);

		if (g->functions.len - first >= left)
			break;
		if (graph__owner(g, b->target) == NO_FUNCTION && !is_new(g, first, b->target) &&
		    returns_matter(g, b->addr))
			add(g, b->target);
	}
	if (g->functions.len > first)
		graph__start(g);
}

/* Follows the jumps whose targets are now in the graph. Returns true if there is new code. */
static bool follow_outs(struct graph *g)
{
	size_t n = g->outs.len, kept = 0, again = 0;
	uint32_t *inside = xcalloc(n + 1, sizeof(*inside));

	for (size_t i = 0; i < n; i++) {
		uint32_t from = g->outs.data[i];

		if (graph__owner(g, graph__branch(g, &g->nodes.data[from])->target) != NO_FUNCTION)
			inside[again++] = from;
		else
			g->outs.data[kept++] = from;
	}
	g->outs.len = kept;
	for (size_t i = 0; i < again; i++)
		graph__jump(g, inside[i], graph__branch(g, &g->nodes.data[inside[i]])->target);
	free(inside);
	return again > 0;
}

void helpers__add(struct graph *g)
{
	uint32_t first = g->functions.len;

	do {
		graph__follow(g);
		add_functions(g, HELPERS_MAX - min_of(HELPERS_MAX, g->functions.len - first));
	} while (follow_outs(g));
}
