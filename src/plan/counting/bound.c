// SPDX-License-Identifier: BSD-2-Clause
/* Lower bounds of counts, for a plan whose sites retire: what follows from flow would need exact
 * counts. A count without .low is exact. */
#include <stdlib.h>
#include "plan/plan_private.h"
#include "counting.h"

/* The witness of a side counts what the conditional's own probe doesn't count any more, and what
 * both counted while one replaced the other. */
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
		/* It has been watched all the time. */
		if (!*of && p->sites.data[side->witness].probe == PROBE_COUNT)
			c->low[side->site] &= side->taken ? ~LOW_TAKEN : ~LOW_NOT_TAKEN;
	}
}

static bool is_call(const struct plan_site *s)
{
	return s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL;
}

static bool is_refused(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	return s && s->refusal != PROBE_OK && s->probe == PROBE_NONE;
}

/* Where its branch leads is not counted. */
static void leave_unseen(const struct plan *p, const struct plan_block *b, bool *unseen)
{
	const struct plan_site *s = &p->sites.data[b->site];

	if (b->next != NO_BLOCK && (is_call(s) || is_refused(p, b)))
		unseen[b->next] = true;
	if (b->taken != NO_BLOCK && is_refused(p, b))
		unseen[b->taken] = true;
}

bool *plan__unseen_blocks(const struct plan *p)
{
	bool *unseen = xcalloc(p->blocks.len + 1, sizeof(*unseen));

	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		unseen[i] |= b->abnormal != ABNORMAL_NONE;
		if (b->site != NO_SITE)
			leave_unseen(p, b, unseen);
		for (uint32_t t = b->table; t < b->table + b->ntable; t++)
			if (p->table.data[t] < p->blocks.len)
				unseen[p->table.data[t]] = true;
	}
	for (uint32_t i = 0; i < p->blocks.len; i++)
		unseen[i] &= p->blocks.data[i].site == NO_SITE || is_refused(p, &p->blocks.data[i]);
	return unseen;
}

/* Returns what probes within blocks, and at entries, have counted. They miss nothing. */
static uint64_t *seen_in(const struct plan_counts *c, const struct plan *p, const bool *retired,
			 bool *unseen)
{
	uint64_t *seen = xcalloc(p->blocks.len + 1, sizeof(*seen));

	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];
		uint64_t n = c->sites[i].taken + c->sites[i].not_taken;

		if (s->role == ROLE_BRANCH || s->block >= p->blocks.len ||
		    (s->probe == PROBE_NONE && !retired[i]))
			continue;
		seen[s->block] = max_of(seen[s->block], n);
		unseen[s->block] = false;
	}
	return seen;
}

static void come(uint64_t *in, uint32_t block, uint64_t n)
{
	if (block != NO_BLOCK)
		in[block] += n;
}

static void leave_branches(const struct plan_counts *c, const struct plan *p, uint64_t *in)
{
	const struct plan_block *b;

	vec__each (b, &p->blocks) {
		if (b->site == NO_SITE)
			continue;
		come(in, b->taken, c->sites[b->site].taken);
		if (plan_site__is_conditional(&p->sites.data[b->site]))
			come(in, b->next, c->sites[b->site].not_taken);
	}
}

/* The branch was executed as often as its block; where it led is known only if it was not
 * executed. */
static void bound_refused(struct plan_counts *c, const struct plan *p, uint32_t block)
{
	uint32_t site = p->blocks.data[block].site;
	struct site_count *n = &c->sites[site];

	if (!c->blocks[block])
		return;
	if (plan_site__is_conditional(&p->sites.data[site])) {
		n->taken = n->not_taken = COUNT_UNKNOWN;
		return;
	}
	n->taken = c->blocks[block];
	c->low[site] = n->taken == COUNT_UNKNOWN ? 0 : LOW_TAKEN;
}

/* Bounds blocks without a branch, in order of their addresses: each was executed at least as often
 * as control entered it by the edges before it. */
static void bound_blocks(struct plan_counts *c, const struct plan *p, const bool *retired)
{
	autofree bool *unseen = plan__unseen_blocks(p);
	autofree uint64_t *seen = seen_in(c, p, retired, unseen);
	autofree uint64_t *in = xcalloc(p->blocks.len + 1, sizeof(*in));

	leave_branches(c, p, in);
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];
		const struct site_count *n = b->site == NO_SITE ? NULL : &c->sites[b->site];

		c->blocks[i] = max_of(in[i], seen[i]);
		if (n && !is_refused(p, b)) {
			c->blocks[i] = max_of(c->blocks[i], n->taken + n->not_taken);
		} else if (unseen[i] && !c->blocks[i]) {
			c->blocks[i] = COUNT_UNKNOWN;
			if (!n && b->next != NO_BLOCK && p->blocks.data[b->next].site == NO_SITE)
				unseen[b->next] = true;
		} else if (!n) {
			come(in, b->next, c->blocks[i]);
		}
		if (n && is_refused(p, b))
			bound_refused(c, p, i);
	}
}

void plan_counts__bound(struct plan_counts *c, const struct plan *p, const bool *retired)
{
	for (size_t i = 0; i < p->sites.len; i++)
		c->low[i] = retired[i] ? LOW_TAKEN | LOW_NOT_TAKEN : 0;
	bound_sides(c, p, retired);
	bound_blocks(c, p, retired);
}
