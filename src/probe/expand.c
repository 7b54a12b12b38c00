// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "expand.h"

#define KEPT_MIN 1024

static uint64_t key_of(uint64_t cpu, uint64_t tid)
{
	return cpu << WIRE_TID_BITS | tid;
}

static struct wire_event *find(struct expander *w, uint64_t key)
{
	const uint64_t *slot;

	if (w->last && key == w->key)
		return w->last;
	slot = map64__get(&w->by_place, key);
	w->last = slot ? (struct wire_event *)(uintptr_t)*slot : NULL;
	w->key = key;
	return w->last;
}

/* Those that are too old for any short record to come. */
static void look_through(struct expander *w, uint64_t settled)
{
	VEC(uint64_t) old = {0};
	uint64_t value, *key;

	for (size_t i = 0; i < w->by_place.cap; i++) {
		struct wire_event *e;

		if (!map64__slot(&w->by_place, i, &value))
			continue;
		e = (struct wire_event *)(uintptr_t)value;
		if (e->time + 2 * WIRE_FULL_FOR < settled) {
			vec__push(&old, key_of(e->cpu, e->tid));
			free(e);
		}
	}
	vec__each (key, &old)
		map64__del(&w->by_place, *key);
	vec__free(&old);
	w->kept = w->by_place.len;
	w->last = NULL;
}

static void note_full(struct expander *w, const struct wire_event *e, uint64_t settled)
{
	struct wire_event *whole = find(w, key_of(e->cpu, e->tid));

	if (!whole) {
		if (w->by_place.len > KEPT_MIN + 2 * w->kept)
			look_through(w, settled);
		whole = xmalloc(sizeof(*whole));
		*map64__put(&w->by_place, key_of(e->cpu, e->tid)) = (uintptr_t)whole;
		w->key = key_of(e->cpu, e->tid);
		w->last = whole;
	}
	*whole = *e;
}

static uint16_t flags_of(uint64_t six)
{
	return (six & 1) | (six & 2) << 1 | (six & 4) << 2 | (six & 0x18) << 3 | (six & 0x20) << 6;
}

static bool complete(struct expander *w, const struct wire_compact *s, struct wire_event *out)
{
	const uint64_t sp_mask = (1ull << WIRE_SP_LOW) - 1;
	const struct wire_event *whole =
		find(w, key_of(s->where >> 46 & 0xfff, s->where >> 24 & WIRE_TID_MASK));

	if (!whole)
		return false;
	*out = *whole;
	/* 40 bits, signed: the clock of a probe may step back by some ns
	 * (kernel/time/timekeeping.c, ktime_get_mono_fast_ns()) */
	out->time += (int64_t)((s->when >> 24 << 24) - (whole->time << 24)) >> 24;
	out->sp = (whole->sp & ~sp_mask) | (s->when << 3 & sp_mask);
	out->site_type = (s->where & WIRE_SITE_MASK) | WIRE_BRANCH << WIRE_SITE_BITS;
	out->flags = (whole->flags & ~WIRE_ARITHMETIC) | flags_of(s->where >> 58);
	return true;
}

const struct wire_event *expander__record(struct expander *w, const void *record, uint64_t *size,
					  uint64_t settled, struct wire_event *room)
{
	const struct wire_event *e = record;

	if (*size == sizeof(struct wire_compact)) {
		*size = sizeof(*room);
		return complete(w, record, room) ? room : NULL;
	}
	if (e->site_type >> WIRE_SITE_BITS == WIRE_BRANCH)
		note_full(w, e, settled);
	return e;
}

void expander__free(struct expander *w)
{
	uint64_t value;

	for (size_t i = 0; i < w->by_place.cap; i++)
		if (map64__slot(&w->by_place, i, &value))
			free((struct wire_event *)(uintptr_t)value);
	map64__free(&w->by_place);
}
