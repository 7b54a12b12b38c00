// SPDX-License-Identifier: BSD-2-Clause
/* Adds up the counts of several traces, by the numbers that their rows have in the joined plan. */
#include <stdlib.h>
#include "plan/counting/counting.h"
#include "plan/plan_private.h"
#include "join.h"

void plan_counts__extend(struct plan_counts *c, size_t sites, size_t blocks, size_t table,
			 const struct plan *all, const struct plan_numbers *n)
{
	const struct plan_split *s;

	c->sites = xextend(c->sites, sites + 1, all->sites.len + 1, sizeof(*c->sites));
	c->low = xextend(c->low, sites + 1, all->sites.len + 1, sizeof(*c->low));
	c->targets = xextend(c->targets, sites + 1, all->sites.len + 1, sizeof(*c->targets));
	c->blocks = xextend(c->blocks, blocks + 1, all->blocks.len + 1, sizeof(*c->blocks));
	c->table = xextend(c->table, table + 1, all->table.len + 1, sizeof(*c->table));
	vec__each (s, &n->splits)
		c->blocks[s->rest] = c->blocks[s->block];
}

/* A block of the other plan may be several of the joined one. */
static void add_block(struct plan_counts *sum, const struct plan *all, uint32_t at, uint64_t size,
		      uint64_t count)
{
	uint64_t end = all->blocks.data[at].start + size;

	for (;;) {
		const struct plan_block *b = &all->blocks.data[at];

		count__add(&sum->blocks[at], count);
		at = b->start < b->end && b->end < end ? plan__block_at(all, b->object, b->end)
						       : NO_BLOCK;
		if (at == NO_BLOCK)
			return;
	}
}

void plan_counts__add(struct plan_counts *sum, const struct plan *all,
		      const struct plan_counts *more, const struct plan *p,
		      const struct plan_numbers *n)
{
	for (size_t i = 0; i < p->sites.len; i++) {
		struct site_count *to = &sum->sites[n->sites[i]];

		count__add(&to->taken, more->sites[i].taken);
		count__add(&to->not_taken, more->sites[i].not_taken);
		sum->low[n->sites[i]] |= more->low[i];
	}
	for (size_t i = 0; i < p->blocks.len; i++)
		if (more->blocks[i])
			add_block(sum, all, n->blocks[i],
				  p->blocks.data[i].end - p->blocks.data[i].start, more->blocks[i]);
	sum->residue += more->residue;
}

static uint64_t known(uint64_t count)
{
	return count == COUNT_UNKNOWN ? 0 : count;
}

uint64_t plan_counts__events(const struct plan_counts *c, const struct plan *p)
{
	const struct plan_function *f;
	uint64_t sum = 0;

	for (size_t i = 0; i < p->sites.len && !p->entries_only; i++)
		if (p->sites.data[i].kind != BRANCH_NONE)
			sum += known(c->sites[i].taken) + known(c->sites[i].not_taken);
	vec__each (f, &p->functions)
		if (f->entry_block < p->blocks.len && !(f->flags & FUNCTION_RANGE))
			sum += known(c->blocks[f->entry_block]);
	return sum;
}
