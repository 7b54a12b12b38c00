// SPDX-License-Identifier: BSD-2-Clause
/*
 * Witnesses. If a branch with several successors can't carry a probe (notrack jmp, a hinted jcc),
 * the next probe that is hit shows its outcome. If the frontiers of two successors have a common
 * member, one of the successors gets a witness.
 */
#include "frontier_private.h"

/* Returns true if an unprobed path leads from block to the other one. */
static bool runs_into(struct frontier *f, uint32_t block, uint32_t other)
{
	bool marked = f->flow.marked[other], found = false;
	const uint32_t *m;

	f->flow.marked[other] = true;
	frontier__of(f, block);
	vec__each (m, &f->members)
		found |= *m == (FRONTIER_BLOCK | other);
	f->flow.marked[other] = marked;
	return found;
}

/* Of two successors in conflict, the one that leads to the other gets the witness: if the witness
 * isn't hit, control took the other one. */
static void distinguish(struct frontier *f, uint32_t block)
{
	const uint32_t *successors = plan_flow__successors(&f->flow, block);
	uint32_t one, other;

	while (plan_flow__count(&f->flow, block) > 1 &&
	       frontier__conflict(f, block, &one, &other)) {
		bool first = one != other && runs_into(f, successors[one], successors[other]);

		if (!frontier__add_witness(f, successors[first ? one : other], PLACE_READ) &&
		    !frontier__add_witness(f, successors[first ? other : one], PLACE_READ))
			break;
	}
}

static bool is_unprobed(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	return s && s->probe == PROBE_NONE && b->function != NO_FUNCTION &&
	       !(p->functions.data[b->function].flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP || s->kind == BRANCH_IJMP);
}

void witness__place(struct plan *p)
{
	struct frontier f;

	frontier__init(&f, p);
	for (uint32_t b = 0; b < p->blocks.len; b++)
		if (is_unprobed(p, &p->blocks.data[b]))
			distinguish(&f, b);
	frontier__free(&f);
}
