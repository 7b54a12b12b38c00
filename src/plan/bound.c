// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lower bounds of counts, of a plan whose sites retire: what follows from flow would need exact
 * counts. A count without .low is exact.
 */
#include "plan/plan.h"

static bool is_conditional(const struct plan_site *s)
{
	return s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP;
}

/*
 * A side's witness counts what the conditional's own probe doesn't count any more, and what both
 * counted while the one replaced the other.
 */
static void bound_sides(struct plan_counts *c, const struct plan *p, const bool *retired)
{
	const struct plan_side *side;

	vec__each (side, &p->sides) {
		const struct site_count *seen = &c->sites[side->witness];
		struct site_count *n = &c->sites[side->site];
		uint64_t *of = side->taken ? &n->taken : &n->not_taken;

		if (!retired[side->site])
			continue;
		*of = max_of(*of, seen->taken + seen->not_taken);
		/* it has been watched all the time */
		if (!*of && p->sites.data[side->witness].probe == PROBE_COUNT)
			c->low[side->site] &= side->taken ? ~LOW_TAKEN : ~LOW_NOT_TAKEN;
	}
}

/* In the order of their addresses: a block without branch ran as often as control came by the edges
 * before it, at least. */
static void bound_blocks(struct plan_counts *c, const struct plan *p)
{
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];
		const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
		const struct site_count *n = s ? &c->sites[b->site] : NULL;

		if (n)
			c->blocks[i] = max_of(c->blocks[i], n->taken + n->not_taken);
		if (b->next != NO_BLOCK && (!s || is_conditional(s)))
			c->blocks[b->next] += n ? n->not_taken : c->blocks[i];
		if (b->taken != NO_BLOCK && n)
			c->blocks[b->taken] += n->taken;
	}
}

static void bound_entries(struct plan_counts *c, const struct plan *p)
{
	const struct plan_function *f;

	vec__each (f, &p->functions) {
		const struct site_count *n =
			f->entry_site == NO_SITE ? NULL : &c->sites[f->entry_site];

		if (n && f->entry_block < p->blocks.len)
			c->blocks[f->entry_block] =
				max_of(c->blocks[f->entry_block], n->taken + n->not_taken);
	}
}

void plan_counts__bound(struct plan_counts *c, const struct plan *p, const bool *retired)
{
	for (size_t i = 0; i < p->sites.len; i++)
		c->low[i] = retired[i] ? LOW_TAKEN | LOW_NOT_TAKEN : 0;
	bound_sides(c, p, retired);
	bound_blocks(c, p);
	bound_entries(c, p);
}
