// SPDX-License-Identifier: BSD-2-Clause
/*
 * The final check of where probes may go, independent of how a site was found. A breakpoint within
 * an instruction corrupts the program, so there are two checks. If two reached instructions
 * overlap, both are rejected. An instruction that only tables, landing pads and the like lead to
 * must be on the linear sweep from the nearest certain start before it: the start of a function or
 * of an FDE, or an instruction that direct branches reach from there.
 */
#include "code/code.h"

static bool reached(struct graph *g, uint32_t i)
{
	return i && g->nodes.data[i].flags & NODE_REACHED;
}

/* Marks node i and the previous nodes that overlap it. *covered is the furthest end of these, and
 * then also that of i. */
static void mark_overlaps(struct graph *g, uint32_t i, uint64_t *covered)
{
	uint64_t addr = g->nodes.data[i].addr, before = *covered;

	*covered = max_of(before, node__next(&g->nodes.data[i]));
	if (addr >= before)
		return;
	for (uint64_t back = 1; back < g->arch->longest && back <= addr; back++) {
		uint32_t outer = graph__known(g, addr - back);

		if (!reached(g, outer) || node__next(&g->nodes.data[outer]) <= addr ||
		    sweep__is_past_prefix(g, outer, i))
			continue;
		g->nodes.data[outer].flags |= NODE_UNCERTAIN;
		g->nodes.data[i].flags |= NODE_UNCERTAIN;
	}
}

/*
 * Marks the reached nodes in [addr, end): they are within the sweep's instruction i or, if i is 0,
 * in undecodable bytes. Returns the next address of the sweep: a certain start ends the range
 * early.
 */
static uint64_t pass_over(struct graph *g, uint32_t i, uint64_t addr, uint64_t end)
{
	uint32_t inside;

	for (; (inside = graph__next_reached(g, &addr, end)); addr++) {
		if (g->nodes.data[inside].flags & NODE_CERTAIN)
			break;
		if (!(i && sweep__is_past_prefix(g, i, inside)))
			g->nodes.data[inside].flags |= NODE_UNCERTAIN;
	}
	return addr;
}

/* Sweeps from a certain start at pos to end, or beyond it if the last instruction does. Returns the
 * address that it reached. A proved table is passed over. Undecodable bytes are data, and what
 * follows them is only a guess. */
static uint64_t sweep(struct graph *g, uint64_t pos, uint64_t end)
{
	while ((pos = pool__after_proved(g, pos, end)) < end) {
		uint32_t i = graph__node(g, pos);

		if (i)
			pos = pass_over(g, i, pos + 1, node__next(&g->nodes.data[i]));
		else
			pos = pass_over(g, 0, pos, end);
	}
	return pos;
}

void guard__mark(struct graph *g)
{
	const struct owned_extent *p;
	uint64_t pos = 0, covered = 0;
	uint32_t i, before = NO_FUNCTION;

	vec__each (p, &g->extents) {
		if (before != NO_FUNCTION && p->start < max_of(pos, covered))
			graph__join(g, before, p->function);
		if (!graph__in_batch(g, p->function))
			continue;
		before = p->function;
		for (uint64_t addr = p->start; (i = graph__next_reached(g, &addr, p->end)); addr++)
			mark_overlaps(g, i, &covered);
		pos = sweep(g, max_of(pos, p->start), p->end);
	}
}
