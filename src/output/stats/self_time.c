// SPDX-License-Identifier: BSD-2-Clause
/*
 * A call's own time by site: the time between two events is attributed to the later branch; after a
 * call of, or jump to, untraced code, to that call or jump.
 */
#include "stack.h"

static void charge(struct self_time *sp, uint32_t site, uint64_t ns)
{
	uint64_t *slot = map64__put(&sp->index, site);

	if (!*slot) {
		vec__push(&sp->sites, (struct site_time){site, 0});
		*slot = sp->sites.len;
	}
	sp->sites.data[*slot - 1].ns += ns;
}

/* Attributes the time up to this step. */
static void settle(struct stats *p, struct open_call *c, const struct step *s, uint32_t site)
{
	struct self_time *sp = &c->self_time;
	uint32_t to = sp->charged == NO_SITE ? site : sp->charged;

	/* time in another function's code is not attributed to a site */
	if (sp->since && s->time > sp->since && to != NO_SITE &&
	    p->plan->sites.data[to].function == c->function)
		charge(sp, to, s->time - sp->since);
	sp->since = s->time;
}

static bool leaves(const struct plan *plan, uint32_t site)
{
	const struct plan_site *s = &plan->sites.data[site];

	return s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL ||
	       (s->kind != BRANCH_RET && plan->blocks.data[s->block].leaves);
}

void self_time__event(struct stats *p, struct open_call *c, const struct step *s, uint32_t site)
{
	if (!p->by_site)
		return;
	if (s->timed) {
		settle(p, c, s, site);
		c->self_time.charged = NO_SITE;
	}
	if (s->type == STEP_BRANCH && leaves(p->plan, site))
		c->self_time.charged = site;
}

void self_time__inner(struct stats *p, struct open_call *c, const struct step *s)
{
	if (!p->by_site || !s->timed)
		return;
	if (s->type == STEP_ENTRY)
		settle(p, c, s, NO_SITE);
	c->self_time.since = s->time;
	if (s->type == STEP_RETURN)
		c->self_time.charged = NO_SITE;
}

static uint64_t add_to_node(struct stats *p, uint32_t node, uint32_t site, uint64_t ns)
{
	uint32_t below = p->site_nodes ? stack__node_below(p, node, STATS_SITE + site) : node;

	if (below == node)
		return 0;
	p->nodes.data[below].self += ns;
	p->nodes.data[below].time += ns;
	return ns;
}

/* The sum is limited to the call's own time: less is known of a call that was left and resumed. */
uint64_t self_time__take(struct stats *p, struct open_call *c, uint64_t self)
{
	const struct site_time *at;
	uint64_t of_nodes = 0;

	vec__each (at, &c->self_time.sites) {
		uint64_t ns = min_of(at->ns, self);

		p->sites[at->site].ns += ns;
		self -= ns;
		of_nodes += add_to_node(p, c->node, at->site, ns);
	}
	return of_nodes;
}

void self_time__free(struct self_time *s)
{
	map64__free(&s->index);
	vec__free(&s->sites);
}
