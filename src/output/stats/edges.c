// SPDX-License-Identifier: BSD-2-Clause
/* Edges (-c): one line for each branch, whatever form it has. */
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

int edges__put(struct output *o, put_edge_fn put)
{
	struct stats *p = o->state;
	int err = 0;

	stats__end(p);
	for (uint32_t i = 0; !err && i < o->plan->sites.len; i++) {
		const struct plan_site *s = &o->plan->sites.data[i];
		struct location at = place_of(o, i);

		if (!is_asked_for(o, s))
			continue;
		put(o, s, &at, &p->sites[i]);
		err = aggregate__flush_full(o);
	}
	return err;
}
