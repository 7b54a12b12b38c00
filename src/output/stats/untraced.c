// SPDX-License-Identifier: BSD-2-Clause
/* Functions that could not be traced: a count of 0 was not observed there, so it is unknown. */
#include <stdlib.h>
#include "stats.h"

/* Only what runs as a copy can be untraced: probes are the kernel's. By function; the caller frees
 * it. */
static bool *copied_functions(const struct plan *p)
{
	bool *copied = xcalloc(p->functions.len + 1, sizeof(*copied));
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->function < p->functions.len)
			copied[s->function] |=
				s->probe == PROBE_INLINE || s->probe == PROBE_INLINE_COUNT;
	return copied;
}

static bool concerns(const struct untraced *u, const struct plan *p, uint32_t function)
{
	return (u->object == UNTRACED_ALL || u->object == p->functions.data[function].object) &&
	       (u->function == UNTRACED_ALL || u->function == function);
}

static bool is_untraced(const untraced_vec *untraced, const struct plan *p, uint32_t function)
{
	const struct untraced *u;

	vec__each (u, untraced)
		if (concerns(u, p, function))
			return true;
	return false;
}

void stats__set_untraced(struct stats *p, const untraced_vec *untraced, bool all)
{
	bool any = untraced && untraced->len;

	free(p->untraced);
	p->untraced = any || all ? copied_functions(p->plan) : NULL;
	for (uint32_t i = 0; p->untraced && i < p->nfunctions; i++)
		p->untraced[i] = all || (p->untraced[i] && is_untraced(untraced, p->plan, i));
}

static uint64_t unless_zero(uint64_t n)
{
	return n ? n : COUNT_UNKNOWN;
}

void stats__forget_zeros(struct stats *p)
{
	for (size_t i = 0; p->untraced && i < p->nfunctions; i++)
		if (p->untraced[i])
			p->functions[i].calls = unless_zero(p->functions[i].calls);
	for (size_t i = 0; p->untraced && i < p->nsites; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];
		struct stats_site *ps = &p->sites[i];

		if (s->function >= p->nfunctions || !p->untraced[s->function])
			continue;
		ps->taken = unless_zero(ps->taken);
		if (plan_site__is_conditional(s))
			ps->not_taken = unless_zero(ps->not_taken);
	}
}
