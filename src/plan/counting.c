// SPDX-License-Identifier: BSD-2-Clause
/* Placement count: which instructions are counted. */
#include "plan/build.h"

void counting__place(struct plan *p, const struct plan_options *options)
{
	struct plan_site *s;

	(void)options;
	vec__each (s, &p->sites)
		if (s->probe == PROBE_TRAP)
			s->probe = PROBE_COUNT;
}
