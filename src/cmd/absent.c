// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values that a probe could not read, since their page was not there. Where a file is mapped that
 * the program can't write to, nobody has changed what is there: it is in the file.
 */
#include "frames.h"

static const struct plan_value *value_of(const struct plan *p, const struct event *e, unsigned i)
{
	size_t n;
	const struct plan_value *v = plan__values(p, p->sites.data[e->site].function, &n);

	for (size_t k = 0; k < n; k++)
		if (v[k].fetched == i + 1 && v[k].of_return == (e->type != EVENT_ENTRY))
			return &v[k];
	return NULL;
}

/* The constant bytes at a running address; NULL: there are none. */
static const uint8_t *constant_at(struct show *s, uint32_t pid, uint64_t addr, size_t *avail)
{
	struct mapped_place place;
	const struct segment *g;

	spaces__find(s->spaces, pid, addr, &place);
	if (!place.object || object__is_kernel(place.object))
		return NULL;
	g = object__segment_at(place.object, place.vaddr);
	return g && !g->write && !object__text_relocated(place.object)
		       ? object__bytes(place.object, place.vaddr, avail)
		       : NULL;
}

/* A string may go on beyond what is shown of it; what isn't whole is not taken. */
static void complete(struct show *s, const struct event *e, const struct plan_value *v,
		     struct fetched *f)
{
	uint64_t addr;
	size_t avail, len = v->size;
	const uint8_t *bytes;

	memcpy(&addr, f->bytes, sizeof(addr));
	bytes = constant_at(s, e->pid, addr, &avail);
	if (!bytes)
		return;
	if (v->kind == KIND_TEXT) {
		size_t most = min_of(avail, (size_t)VALUE_TEXT_MAX + 1);

		len = strnlen((const char *)bytes, most);
		if (len == most && most <= VALUE_TEXT_MAX)
			return;
		len += len < most;
	}
	if (len > avail || len > FETCHED_ROOM)
		return;
	memcpy(f->bytes, bytes, len);
	f->len = len;
}

const struct event *absent__complete(struct show *s, const struct event *e,
				     struct checked_event *room)
{
	bool any = false;

	for (unsigned i = 0; i < e->nfetched; i++)
		any |= e->fetched[i].len == FETCHED_ABSENT;
	if (!any || e->nfetched > VALUES_FETCHED)
		return e;
	if (e != &room->event)
		room->event = *e;
	memcpy(room->fetched, e->fetched, e->nfetched * sizeof(*e->fetched));
	room->event.fetched = room->fetched;
	for (unsigned i = 0; i < e->nfetched; i++) {
		const struct plan_value *v = value_of(s->plan, e, i);

		if (v && room->fetched[i].len == FETCHED_ABSENT)
			complete(s, e, v, &room->fetched[i]);
	}
	return &room->event;
}
