// SPDX-License-Identifier: BSD-2-Clause
/* Removes the probe of a site that the kernel refused, before the trace starts or while it runs. */
#include "plan/plan_private.h"
#include "change.h"

void plan__refuse(struct plan *p, uint32_t site, enum probe_refusal why)
{
	struct plan_site *s = &p->sites.data[site];
	struct plan_function *f;

	if (site >= p->sites.len || s->probe == PROBE_NONE)
		return;
	s->probe = PROBE_NONE;
	s->refusal = why;
	p->probes--;
	if (p->placement == PLACEMENT_COUNT) {
		counting__find_unsolved(p);
		return;
	}
	p->skipped++;
	if (s->role != ROLE_BRANCH)
		return;
	p->functions.data[s->function].unprobed++;
	vec__each (f, &p->functions) {
		bool own = f == &p->functions.data[s->function];

		for (size_t i = 0; i < f->nranges && f->flags & FUNCTION_RANGE && !own; i++)
			own = f->object == s->object &&
			      s->vaddr - f->ranges[i].vaddr < f->ranges[i].size;
		f->skipped += own;
	}
}
