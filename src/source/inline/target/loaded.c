// SPDX-License-Identifier: BSD-2-Clause
/* The copies of an address space: which of them an address is in, and the state of each
 * function. */
#include "target.h"

const struct loaded *space__copies_at(const struct space *s, uint64_t addr)
{
	const struct loaded *l;

	vec__each (l, &s->loaded)
		if (!l->refused && addr >= l->base && addr - l->base < l->image->code.len)
			return l;
	return NULL;
}

const struct loaded *space__object_at(const struct space *s, uint64_t addr)
{
	const struct segment *g;
	const struct loaded *l;

	vec__each (l, &s->loaded) {
		if (l->refused)
			continue;
		g = object__segment_at(l->object, addr - l->bias);
		if (g && g->exec)
			return l;
	}
	return NULL;
}

const struct loaded *space__detour_at(const struct space *s, uint64_t addr)
{
	const struct loaded *l = space__copies_at(s, addr);

	if (l)
		return l;
	l = space__object_at(s, addr);
	return l && l->patched && copy_image__is_approach(l->image, addr - l->bias) ? l : NULL;
}

bool space__is_changed(const struct space *s, uint64_t addr)
{
	const struct loaded *l = space__object_at(s, addr);
	uint32_t offset;

	return l && !copy_image__is_live(l->image, addr - l->bias) &&
	       !copy_image__is_intact(l->image, addr - l->bias) &&
	       copy_image__copy_at(l->image, addr - l->bias, &offset);
}

/* ---- states of functions ---- */

void loaded__init_states(struct loaded *l)
{
	size_t n = l->image->functions.len + 1;

	l->states = xcalloc(n, sizeof(*l->states));
	l->states_notified = xcalloc(n, sizeof(*l->states_notified));
	l->open_notified = xcalloc(n, sizeof(*l->open_notified));
	l->entries = xcalloc(n, sizeof(*l->entries));
}

void loaded__copy_states(struct loaded *l)
{
	const struct loaded from = *l;
	size_t n = l->image->functions.len;

	loaded__init_states(l);
	memcpy(l->states, from.states, n * sizeof(*l->states));
	memcpy(l->states_notified, from.states_notified, n * sizeof(*l->states_notified));
	memcpy(l->open_notified, from.open_notified, n * sizeof(*l->open_notified));
	memcpy(l->entries, from.entries, n * sizeof(*l->entries));
}

void loaded__free_states(struct loaded *l)
{
	free(l->states);
	free(l->states_notified);
	free(l->open_notified);
	free(l->entries);
	l->states = NULL;
	l->states_notified = l->open_notified = l->entries = NULL;
}
