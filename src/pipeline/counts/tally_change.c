// SPDX-License-Identifier: BSD-2-Clause
/* Changes of the plan while its probes count. Counts follow from each other by the plan, so
 * those up to the change are solved by the old plan, and added to the later ones. */
#include <stdlib.h>
#include "tally_private.h"

void tally_before__free(struct tally_before *b)
{
	if (!b)
		return;
	free(b->traced);
	free(b->blocks);
	free(b);
}

/* Clears the counts of functions that are not among these (by function). */
static void keep_of(const struct plan *p, struct plan_counts *c, const bool *functions)
{
	for (size_t i = 0; i < p->sites.len; i++)
		if (!functions[p->sites.data[i].function])
			c->sites[i] = (struct site_count){0};
	for (size_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		if (functions[b->function])
			continue;
		c->blocks[i] = 0;
		for (uint32_t k = 0; k < b->ntable; k++)
			c->table[b->table + k] = 0;
	}
}

void tally__forget_untraced(const struct tally *t, struct plan_counts *c)
{
	autofree bool *traced = xcalloc(t->plan->functions.len + 1, sizeof(*traced));

	for (uint32_t i = 0; i < t->plan->functions.len; i++)
		traced[i] = plan__traces(t->plan, i);
	keep_of(t->plan, c, traced);
}

void tally__plan_changes(struct tally *t)
{
	struct tally_before *b = t->before_change = xcalloc(1, sizeof(*b));
	const struct plan *p = t->plan;

	b->nfunctions = p->functions.len;
	b->nblocks = p->blocks.len;
	b->nsites = p->sites.len;
	b->ntable = p->table.len;
	b->traced = xcalloc(b->nfunctions + 1, sizeof(*b->traced));
	for (uint32_t i = 0; i < b->nfunctions; i++)
		b->traced[i] = plan__traces(p, i);
	b->blocks = xcalloc(b->nblocks + 1, sizeof(*b->blocks));
	memcpy(b->blocks, p->blocks.data, b->nblocks * sizeof(*b->blocks));
}

/* ---- earlier counts, by the rows of the new plan ---- */

static uint64_t table_count(const struct tally *t, uint32_t block, uint32_t to,
			    const struct plan_counts *c)
{
	const struct plan_block *old = &t->before_change->blocks[block];

	for (uint32_t i = 0; i < old->ntable; i++)
		if (t->plan->table.data[old->table + i] == to)
			return c->table[old->table + i];
	return 0;
}

static void move_blocks(const struct tally *t, const struct plan_counts *old, struct plan_counts *c)
{
	const struct tally_before *before = t->before_change;
	const struct plan *p = t->plan;

	memcpy(c->blocks, old->blocks, before->nblocks * sizeof(*c->blocks));
	memcpy(c->table, old->table, before->ntable * sizeof(*c->table));
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		for (uint32_t k = 0; k < b->ntable && i < before->nblocks; k++)
			c->table[b->table + k] =
				table_count(t, i, p->table.data[b->table + k], old);
	}
	/* blocks that were split from others */
	for (uint32_t i = before->nblocks; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];
		uint32_t first = plan__block_holding(p, b->object, b->start - 1);

		if (b->function < before->nfunctions && before->traced[b->function] &&
		    first < before->nblocks)
			c->blocks[i] = old->blocks[first];
	}
}

static void move_earlier(struct tally *t)
{
	struct plan_counts old = t->earlier;

	plan_counts__init(&t->earlier, t->plan);
	memcpy(t->earlier.sites, old.sites, t->before_change->nsites * sizeof(*old.sites));
	memcpy(t->earlier.low, old.low, t->before_change->nsites * sizeof(*old.low));
	move_blocks(t, &old, &t->earlier);
	t->earlier.residue = old.residue;
	plan_counts__free(&old);
}

/* ---- the moment of the change ---- */

/* Solves the counts of the functions that were traced so far. */
static void solve_until_now(const struct tally *t, struct plan_counts *out)
{
	const struct tally_before *before = t->before_change;
	autofree bool *traced = xcalloc(t->plan->functions.len + 1, sizeof(*traced));

	memcpy(traced, before->traced, before->nfunctions * sizeof(*traced));
	tally__solve(t, out);
	keep_of(t->plan, out, traced);
}

static void begin_again(struct tally *t)
{
	size_t n = t->plan->sites.len;

	t->counted = xextend(t->counted, t->nsites, n, sizeof(*t->counted));
	t->retired = xextend(t->retired, t->nsites, n, sizeof(*t->retired));
	t->nsites = n;
	memset(t->counted, 0, n * sizeof(*t->counted));
	t->cuts.len = 0;
	t->passed_on.len = 0;
	for (size_t i = 0; i < t->targets.rows.len; i++)
		vec__push(&t->passed_on, t->targets.rows.data[i].count);
}

void tally__plan_changed(struct tally *t)
{
	struct plan_counts now;

	solve_until_now(t, &now);
	move_earlier(t);
	plan_counts__join(&t->earlier, &now, t->plan);
	plan_counts__free(&now);
	begin_again(t);
	tally_before__free(t->before_change);
	t->before_change = NULL;
}
