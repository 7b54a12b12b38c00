// SPDX-License-Identifier: BSD-2-Clause
/* What was counted between two moments: the difference of their counts. */
#include <stdlib.h>
#include "tally_private.h"

struct tally_parts {
	struct plan_counts before; /* at the end of the previous part */
	size_t nsites, nblocks, ntable;
	VEC(uint64_t) targets;	 /* by target, also at that time */
	struct plan_counts part; /* the part that was returned last */
	VEC(struct counted_target) counted;
};

void tally__forget_parts(struct tally *t)
{
	if (!t->parts)
		return;
	plan_counts__free(&t->parts->before);
	plan_counts__free(&t->parts->part);
	vec__free(&t->parts->targets);
	vec__free(&t->parts->counted);
	free(t->parts);
	t->parts = NULL;
}

/* Returns the difference. A count that is derived from others may have become smaller, by what
 * is in the middle of its path: then the counts contradict each other. */
static uint64_t since(uint64_t now, uint64_t before, uint64_t *residue)
{
	if (now == COUNT_UNKNOWN || before == COUNT_UNKNOWN)
		return COUNT_UNKNOWN;
	if (now < before)
		*residue += before - now;
	return now > before ? now - before : 0;
}

static void subtract(uint64_t *out, const uint64_t *now, uint64_t *before, size_t n, size_t known,
		     uint64_t *residue)
{
	for (size_t i = 0; i < n; i++)
		out[i] = since(now[i], i < known ? before[i] : 0, residue);
}

static void subtract_sites(struct tally_parts *parts, const struct plan_counts *now, size_t n)
{
	static const struct site_count none;

	for (size_t i = 0; i < n; i++) {
		const struct site_count *b = i < parts->nsites ? &parts->before.sites[i] : &none;
		struct site_count *to = &parts->part.sites[i];

		to->taken = since(now->sites[i].taken, b->taken, &parts->part.residue);
		to->not_taken = since(now->sites[i].not_taken, b->not_taken, &parts->part.residue);
		parts->part.low[i] = now->low[i];
	}
}

static void take_targets(struct tally *t)
{
	struct tally_parts *parts = t->parts;

	parts->counted.len = 0;
	for (size_t i = 0; i < t->targets.rows.len; i++) {
		struct counted_target row = t->targets.rows.data[i];

		if (i == parts->targets.len)
			vec__push(&parts->targets, 0);
		row.count -= parts->targets.data[i];
		parts->targets.data[i] = t->targets.rows.data[i].count;
		if (row.count)
			vec__push(&parts->counted, row);
	}
}

/* Takes the present counts as the end of the previous part. */
static void remember(struct tally *t)
{
	struct tally_parts *parts = t->parts;
	const struct plan *p = t->plan;

	plan_counts__free(&parts->before);
	plan_counts__init(&parts->before, p);
	plan_counts__join(&parts->before, &t->edges, p);
	parts->nsites = p->sites.len;
	parts->nblocks = p->blocks.len;
	parts->ntable = p->table.len;
}

struct edge_counts tally__part(struct tally *t)
{
	struct tally_parts *parts = t->parts ? t->parts : (t->parts = xcalloc(1, sizeof(*parts)));
	struct plan_counts *part = &parts->part;

	plan_counts__free(part);
	plan_counts__init(part, t->plan);
	subtract_sites(parts, &t->edges, t->plan->sites.len);
	subtract(part->blocks, t->edges.blocks, parts->before.blocks, t->plan->blocks.len,
		 parts->nblocks, &part->residue);
	subtract(part->table, t->edges.table, parts->before.table, t->plan->table.len,
		 parts->ntable, &part->residue);
	take_targets(t);
	remember(t);
	return (struct edge_counts){part, parts->counted.data, parts->counted.len};
}
