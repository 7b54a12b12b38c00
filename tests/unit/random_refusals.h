/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans of random programs of which the kernel refuses probes when they are attached. */
#ifndef RANDOM_REFUSALS_H
#define RANDOM_REFUSALS_H

#include "plan/change/change.h"
#include "random_program.h"

/* What can carry no probe is not known while the plan is made; appends it. */
static inline void hide_refusals(struct plan *p, id_vec *refused)
{
	for (uint32_t i = 0; i < p->sites.len; i++) {
		struct plan_site *s = &p->sites.data[i];

		if (s->refusal == PROBE_OK)
			continue;
		vec__push(refused, i);
		s->refusal = PROBE_OK;
		s->probe = PROBE_TRAP;
		p->probes++;
		p->skipped--;
	}
}

/* False: nothing was refused. random: which witnesses are refused. */
static inline bool refuse_attached(struct plan *p, const id_vec *refused, uint64_t random)
{
	uint32_t before = p->probes;
	const uint32_t *i;
	bool any;

	vec__each (i, refused)
		plan__refuse(p, *i, PROBE_KERNEL);
	for (uint32_t k = 0; k < p->sites.len; k++)
		if (p->sites.data[k].role == ROLE_WITNESS &&
		    (p->sites.data[k].vaddr * 7 + random) % 4 == 0)
			plan__refuse(p, k, PROBE_KERNEL);
	any = p->probes < before;
	if (any && p->return_probes)
		plan__probe_rets(p);
	return any;
}

/* As make_plan(), but refusals show when probes are attached, and others are chosen then. */
static inline void make_refused_plan(struct random_plan *r, const struct program *p,
				     enum plan_placement placement, unsigned events,
				     uint64_t random)
{
	struct plan_options options = {.events = events & ~BY_PROBE,
				       .placement = placement,
				       .return_probes = events & BY_PROBE};
	autofree id_vec refused = {0}, chosen = {0};

	lay_out(r, p, events);
	hide_refusals(r->plan, &refused);
	place(r, placement, events);
	for (int i = 0; i < 4 && refuse_attached(r->plan, &refused, random); i++)
		if (!plan__choose_again(r->plan, &options, &chosen))
			break;
	refuse_attached(r->plan, &refused, random);
}

#endif
