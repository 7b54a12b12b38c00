// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the probes of a running trace where a new plan for it wants them. */
#include "plan/plan_private.h"

/* No witness of a function that isn't traced any more is kept. */
static void keep_witness(struct plan *p, uint32_t object, const struct plan_site *old)
{
	uint32_t block = plan__block_holding(p, object, old->vaddr);
	struct plan_site *s;

	if (block == NO_BLOCK || p->blocks.data[block].function == NO_FUNCTION ||
	    p->functions.data[p->blocks.data[block].function].flags & FUNCTION_HELPER)
		return;
	s = vec__add(&p->sites);
	*s = *old;
	s->object = object;
	s->block = block;
	s->function = p->blocks.data[block].function;
	s->probe = PROBE_TRAP;
	s->kept = 1;
	p->probes++;
}

static void keep_refusal(struct plan *p, uint32_t site, const struct plan_site *old)
{
	struct plan_site *s = &p->sites.data[site];

	if (s->refusal != PROBE_OK || old->refusal == PROBE_OK)
		return;
	s->refusal = old->refusal;
	if (s->probe == PROBE_NONE)
		return;
	s->probe = PROBE_NONE;
	p->probes--;
	p->skipped++;
	p->functions.data[s->function].skipped += s->role == ROLE_BRANCH;
}

/* A helper's site may have been a requested function's. */
static bool is_wanted(const struct plan *p, const struct plan_site *s)
{
	return s->refusal == PROBE_OK &&
	       (s->probe || !(p->functions.data[s->function].flags & FUNCTION_HELPER));
}

void keep__probes(struct plan *p, const struct plan *before)
{
	const struct plan_site *old;

	vec__each (old, &before->sites) {
		bool hooked = plan_site__is_hooked(old) || old->logs;
		uint32_t object, site;

		if (!hooked && old->refusal == PROBE_OK)
			continue;
		object = plan__object_of(p, before->objects.data[old->object].object);
		if (object == p->objects.len)
			continue;
		site = plan__site_of(p, object, old->vaddr, old->role);
		if (site != NO_SITE) {
			keep_refusal(p, site, old);
			p->sites.data[site].kept = hooked && is_wanted(p, &p->sites.data[site]);
		} else if (hooked && old->role == ROLE_WITNESS) {
			keep_witness(p, object, old);
		}
	}
}
