// SPDX-License-Identifier: BSD-2-Clause
/* What was counted of a function, for those who show it themselves. */
#include "stats.h"

bool output__function(const struct output *o, uint32_t function, struct output_function *out)
{
	const struct stats *p = o->state;
	const struct stats_function *f;

	if (!o->format->covers || function >= p->nfunctions)
		return false;
	f = &p->functions[function];
	*out = (struct output_function){.calls = f->calls,
					.branches = f->branches,
					.timed = f->time.n,
					.open = f->open,
					.total = f->total,
					.self = f->self,
					.max = f->time.max};
	return f->calls || f->branches || f->unseen || f->open;
}

bool output__missing(const struct output *o, const struct trace_totals *t, struct str *s)
{
	return o->format->covers && stats__missing(o->state, t, s);
}
