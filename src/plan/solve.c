// SPDX-License-Identifier: BSD-2-Clause
/* How often each edge was taken, by what probes counted. */
#include <stdlib.h>
#include "plan/build.h"

void plan_counts__init(struct plan_counts *c, const struct plan *p)
{
	*c = (struct plan_counts){
		.sites = xcalloc(p->sites.len + 1, sizeof(*c->sites)),
		.blocks = xcalloc(p->blocks.len + 1, sizeof(*c->blocks)),
		.table = xcalloc(p->table.len + 1, sizeof(*c->table)),
	};
}

void plan_counts__free(struct plan_counts *c)
{
	free(c->sites);
	free(c->blocks);
	free(c->table);
	vec__free(&c->cuts);
}

static uint32_t table_edge(const struct plan *p, const struct plan_block *b, uint32_t to)
{
	for (uint32_t i = 0; i < b->ntable && to != NO_BLOCK; i++)
		if (p->table.data[b->table + i] == to)
			return b->table + i;
	return UINT32_MAX;
}

void plan_counts__jumped(struct plan_counts *c, const struct plan *p, uint32_t site,
			 uint32_t object, uint64_t vaddr, uint64_t times)
{
	const struct plan_site *s = &p->sites.data[site];
	uint32_t to, edge;

	if (s->kind != BRANCH_IJMP || object == UINT32_MAX)
		return;
	to = plan__block_at(p, object, vaddr);
	edge = table_edge(p, &p->blocks.data[s->block], to);
	if (edge != UINT32_MAX)
		c->table[edge] += times;
	else
		vec__push(&c->cuts, (struct plan_cut){vaddr, object, times});
}

void plan_counts__solve(struct plan_counts *c, const struct plan *p)
{
	for (uint32_t i = 0; i < p->sites.len; i++)
		if (p->sites.data[i].probe != PROBE_COUNT)
			c->sites[i] = (struct site_count){COUNT_UNKNOWN, COUNT_UNKNOWN};
	memset(c->blocks, 0xff, p->blocks.len * sizeof(*c->blocks));
}
