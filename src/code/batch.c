// SPDX-License-Identifier: BSD-2-Clause
/*
 * Batches: functions of an object that are followed one after the other, so that the graph never
 * has the instructions of all. Code that only another batch's function leads to is found when that
 * batch is followed. Such crossings are recorded, and entered when the function is followed next.
 */
#include "code/code.h"

void graph__begin_batch(struct graph *g, uint32_t batch)
{
	graph__forget(g);
	g->batch = batch;
}

static void add_crossing(struct graph *g, uint64_t addr, bool pad)
{
	struct crossing new = {.to = addr, .pad = pad, .claimed = g->claims || pad};
	uint64_t *known = map64__put(&g->crossed, addr);

	if (!*known) {
		vec__push(&g->crossings, new);
		*known = g->crossings.len;
	} else if (g->crossings.data[*known - 1].claimed && !new.claimed) {
		g->crossings.data[*known - 1] = new;
	}
}

bool graph__crosses(struct graph *g, uint64_t addr, bool pad)
{
	uint32_t owner = graph__owner(g, addr);

	if (owner == NO_FUNCTION || graph__in_batch(g, owner))
		return false;
	if (!graph__is_entry(g, addr))
		add_crossing(g, addr, pad);
	return true;
}

bool graph__enter_crossings(struct graph *g, bool claimed)
{
	struct crossing *c;
	bool any = false;

	vec__each (c, &g->crossings) {
		uint32_t owner = graph__owner(g, c->to);

		if (c->claimed != claimed || c->entered > g->batch || owner == NO_FUNCTION ||
		    !graph__in_batch(g, owner))
			continue;
		c->entered = g->batch + 1;
		if (c->pad)
			vec__push(&g->pads, c->to);
		else
			any |= graph__reach(g, 0, c->to, NODE_LEADER) != 0;
	}
	return any;
}
