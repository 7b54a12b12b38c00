// SPDX-License-Identifier: BSD-2-Clause
/* Turns steps into counts of edges. */
#include <stdlib.h>
#include "runs.h"

struct counted {
	struct stats stats;
	struct plan_counts edges;
	VEC(struct counted_target) targets;
};

static void put_targets(struct counted *c, uint32_t site)
{
	const struct plan *p = c->stats.plan;
	const struct stats_target *t;

	if (p->sites.data[site].kind == BRANCH_RET) /* -c has no targets of rets */
		return;
	vec__each (t, &c->stats.sites[site].targets) {
		uint32_t block = runs__block_of(p, &t->to);

		vec__push(&c->targets,
			  (struct counted_target){.site = site,
						  .to = t->to,
						  .object = block == NO_BLOCK
								    ? UINT32_MAX
								    : p->blocks.data[block].object,
						  .count = t->count});
	}
}

static int counted__end(struct output *o, const struct trace_totals *t)
{
	struct counted *c = o->state;
	struct runs runs;

	stats__end(&c->stats);
	runs__init(&runs, &c->stats, &o->options);
	plan_counts__init(&c->edges, o->plan);
	for (size_t i = 0; i < o->plan->sites.len; i++) {
		const struct stats_site *s = &c->stats.sites[i];

		c->edges.sites[i] = (struct site_count){s->taken, s->not_taken};
		if (totals__are_low(t) && (s->taken || s->not_taken))
			c->edges.low[i] = LOW_TAKEN | LOW_NOT_TAKEN;
		put_targets(c, i);
	}
	memcpy(c->edges.blocks, runs.blocks, o->plan->blocks.len * sizeof(*runs.blocks));
	runs__free(&runs);
	return 0;
}

static void counted__free(struct output *o)
{
	struct counted *c = o->state;

	plan_counts__free(&c->edges);
	vec__free(&c->targets);
	aggregate__free(o);
}

struct edge_counts output__counted(const struct output *o)
{
	const struct counted *c = o->state;

	return (struct edge_counts){&c->edges, c->targets.data, c->targets.len};
}

const struct output_format output_counted = {
	.name = "counted",
	.wants = {.events = OUTPUT_EDGES},
	.size = sizeof(struct counted),
	.at_end = true,
	.begin = aggregate__begin,
	.plan_extended = aggregate__plan_extended,
	.step = aggregate__step,
	.end = counted__end,
	.free = counted__free,
};
