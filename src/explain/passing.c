// SPDX-License-Identifier: BSD-2-Clause
#include "explain/passing.h"

#define WAYS 3ull

/* The same in both runs, whose plans may have objects in another order. */
static uint64_t key_of(const struct plan *plan, uint32_t site)
{
	const struct plan_site *s = &plan->sites.data[site];
	const char *path = plan->objects.data[s->object].path;
	uint64_t key[2] = {path ? map64__hash(path, strlen(path)) : 0, s->vaddr};

	return (map64__hash(key, sizeof(key)) & ~WAYS) | 1ull << 63;
}

/* Returns the slot that has the place, or the free one for it; PASSING_SLOTS if there is none. */
static size_t find(const struct passing *p, uint64_t key)
{
	for (size_t i = 0; i < PASSING_SLOTS; i++) {
		size_t at = ((key >> 2) + i) % PASSING_SLOTS;

		if (!p->slots[at] || (p->slots[at] & ~WAYS) == key)
			return at;
	}
	return PASSING_SLOTS;
}

void passing__note(struct passing *p, const struct plan *plan, uint32_t site, bool taken)
{
	uint64_t key = key_of(plan, site);
	size_t at = find(p, key);

	if (at == PASSING_SLOTS || (!p->slots[at] && p->n >= PASSING_SLOTS / 4 * 3)) {
		p->full = true;
		return;
	}
	p->n += !p->slots[at];
	p->slots[at] |= key | (taken ? WENT_TAKEN : WENT_ON);
}

bool passing__went(const struct passing *p, const struct plan *plan, uint32_t site, unsigned *out)
{
	size_t at;

	if (!p || !p->complete || p->full)
		return false;
	at = find(p, key_of(plan, site));
	*out = at < PASSING_SLOTS ? (unsigned)(p->slots[at] & WAYS) : 0;
	return true;
}

const char *passing__words(const struct passing *p, const struct plan *plan, uint32_t site,
			   bool taken, const char **name)
{
	unsigned went, way = taken ? WENT_TAKEN : WENT_ON;

	if (!plan_site__is_conditional(&plan->sites.data[site]) ||
	    !passing__went(p, plan, site, &went))
		return NULL;
	*name = !went ? "not reached" : went == way ? "same" : went & way ? "both" : "other";
	return !went	     ? "the passing run didn't come here"
	       : went == way ? "the passing run went the same way"
	       : went & way  ? "the passing run went both ways"
			     : "the passing run went the other way";
}
