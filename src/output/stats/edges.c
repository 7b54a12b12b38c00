// SPDX-License-Identifier: BSD-2-Clause
/* Edges (-c): one line for each branch, whatever form it has. */
#include <stdlib.h>
#include "edges.h"

static struct location place_of(const struct output *o, uint32_t site)
{
	const struct plan_site *s = &o->plan->sites.data[site];
	struct location at = {.object = o->plan->objects.data[s->object].path, .vaddr = s->vaddr};

	at.symbol = plan__name_at(o->plan, s->function, s->vaddr, &at.offset);
	return at;
}

/* Returns true if it is listed even if it didn't run. Without branch events (-e) its count is
 * unknown. */
static bool is_asked_for(const struct output *o, const struct plan_site *s)
{
	return s->kind != BRANCH_NONE &&
	       !(o->plan->functions.data[s->function].flags & FUNCTION_HELPER) &&
	       (!o->options.events || o->options.events & PLAN_BRANCH) &&
	       (!o->options.functions || o->options.functions[s->function]);
}

/* What couldn't be probed, or may have run unobserved, has no count of 0. */
static bool is_zero(const struct plan_site *s, const struct stats_site *counts)
{
	return !counts->taken && !counts->not_taken && !counts->low && s->refusal == PROBE_OK;
}

/* By function: what edges__put() has found of it. */
enum { ROW_ZERO = 1, ROW_COUNT = 2 };

static void add_functions(struct edges_zero *zero, const uint8_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		zero->functions += rows[i] == ROW_ZERO;
}

int edges__put(struct output *o, put_edge_fn put, struct edges_zero *left_out)
{
	struct stats *p = o->state;
	autofree uint8_t *rows = xcalloc(o->plan->functions.len + 1, sizeof(*rows));
	int err = 0;

	stats__end(p);
	for (uint32_t i = 0; !err && i < o->plan->sites.len; i++) {
		const struct plan_site *s = &o->plan->sites.data[i];
		struct location at = place_of(o, i);

		if (!is_asked_for(o, s))
			continue;
		if (left_out && is_zero(s, &p->sites[i])) {
			left_out->branches++;
			rows[s->function] |= ROW_ZERO;
			continue;
		}
		rows[s->function] |= ROW_COUNT;
		put(o, s, &at, &p->sites[i]);
		err = aggregate__flush_full(o);
	}
	if (left_out)
		add_functions(left_out, rows, o->plan->functions.len);
	return err;
}
