// SPDX-License-Identifier: BSD-2-Clause
/* Chooses sites that carry a probe instead of those where the kernel refused one. */
#include <stdlib.h>
#include "plan/plan_private.h"

/* Resets the plan to the state of a new one, but keeps what is attached. */
static void begin_again(struct plan *p, const struct plan_options *options)
{
	struct plan_site *s;

	p->skipped = 0;
	vec__each (s, &p->sites) {
		s->kept = plan_site__has_events(s);
		if (s->kept || s->role == ROLE_WITNESS || !site__is_wanted(p, s, options))
			continue;
		p->skipped += s->refusal != PROBE_OK;
		if (s->refusal != PROBE_OK)
			continue;
		s->probe = PROBE_TRAP;
		p->probes++;
	}
}

static void place_again(struct plan *p, const struct plan_options *options)
{
	bool counts = p->placement == PLACEMENT_COUNT;
	struct plan_options again = *options;
	struct plan_site *s;

	again.before = NULL;
	if (!counts)
		begin_again(p, &again);
	placement__place(p, &again);
	p->skipped += p->undecoded.len;
	plan__index(p);
	vec__each (s, &p->sites)
		s->kept = 0;
}

/* By function: it runs as a copy, so its original can't be probed any more. */
static bool *find_copied(const struct plan *p)
{
	bool *copied = xcalloc(p->functions.len + 1, sizeof(*copied));
	const struct plan_site *s;

	vec__each (s, &p->sites)
		copied[s->function] |= s->logs;
	return copied;
}

/* What only a probe in such a function would report stays unknown. */
static void leave_out_copied(struct plan *p)
{
	autofree bool *copied = find_copied(p);
	struct plan_site *s;

	vec__each (s, &p->sites) {
		if (!plan_site__is_hooked(s) || !copied[s->function])
			continue;
		s->probe = PROBE_NONE;
		p->probes--;
	}
}

bool plan__choose_again(struct plan *p, const struct plan_options *options, id_vec *chosen)
{
	uint32_t n = p->sites.len;
	autofree bool *hooked = xcalloc(n + 1, sizeof(*hooked));

	if (options->retire)
		return false;
	for (uint32_t i = 0; i < n; i++)
		hooked[i] = plan_site__is_hooked(&p->sites.data[i]);
	place_again(p, options);
	leave_out_copied(p);
	for (uint32_t i = 0; i < p->sites.len; i++)
		if (plan_site__is_hooked(&p->sites.data[i]) && (i >= n || !hooked[i]))
			vec__push(chosen, i);
	return chosen->len;
}
