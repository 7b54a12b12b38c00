// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values that a probe could not read because their page was not in memory, also the texts that
 * arguments of static probes point to. Where a file is mapped that the program can't write to,
 * nobody has changed its bytes: they are read from the file.
 */
#include "pipeline/frames.h"

static const struct plan_value *value_of(const struct plan *p, const struct event *e, unsigned i)
{
	size_t n;
	const struct plan_value *v = plan__values(p, p->sites.data[e->site].function, &n);

	for (size_t k = 0; k < n; k++)
		if (v[k].fetched == i + 1 && v[k].of_return == (e->type != EVENT_ENTRY))
			return &v[k];
	return NULL;
}

static const struct segment *constant_segment(const struct object *o, uint64_t vaddr)
{
	const struct segment *g = object__is_kernel(o) ? NULL : object__segment_at(o, vaddr);

	return g && !g->write && !object__text_relocated(o) ? g : NULL;
}

struct search {
	struct show *show;
	uint32_t pid;
	uint64_t addr;
	struct mapped_place found;
};

/* Only mappings of code are reported: other parts of the file are as far from it in memory as in
 * the file. */
static void look_around(void *ctx, const struct map *m)
{
	struct search *s = ctx;
	struct mapped_place code;
	uint64_t vaddr;

	spaces__find(s->show->spaces, s->pid, m->start, &code);
	if (!code.object)
		return;
	vaddr = s->addr - m->start + code.vaddr;
	if (constant_segment(code.object, vaddr)) {
		s->found = code;
		s->found.vaddr = vaddr;
	}
}

/* Returns the constant bytes at a running address; NULL if there are none. */
static const uint8_t *constant_at(struct show *s, uint32_t pid, uint64_t addr, size_t *avail)
{
	struct search search = {s, pid, addr, {0}};

	spaces__find(s->spaces, pid, addr, &search.found);
	if (!search.found.path)
		spaces__each(s->spaces, pid, look_around, &search);
	if (!search.found.object || !constant_segment(search.found.object, search.found.vaddr))
		return NULL;
	return object__bytes(search.found.object, search.found.vaddr, avail);
}

/* Completes a value. A string may continue beyond what is shown of it; one that isn't whole is
 * not used. */
static void complete(struct show *s, const struct event *e, const struct plan_value *v,
		     struct fetched *f)
{
	uint64_t addr;
	size_t avail, len = v->chunk ? v->chunk : v->size;
	const uint8_t *bytes;

	memcpy(&addr, f->bytes, sizeof(addr));
	bytes = constant_at(s, e->pid, addr, &avail);
	if (!bytes)
		return;
	if (v->kind == KIND_TEXT && !v->array) {
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

/* ---- static probes ---- */

/* Pages below it are never mapped. */
#define LOWEST 4096

/* The field before a text is the pointer to it. */
static bool lacks_text(const struct plan_field *f, const struct event_named *n, uint64_t *addr)
{
	struct named_value pointer;

	if (f->kind != TYPE_TEXT || f[-1].kind != TYPE_HEX ||
	    !named__value(&f[-1], 0, n->data, n->len, &pointer) || f->offset >= n->len)
		return false;
	*addr = pointer.number;
	return *addr > LOWEST && !n->data[f->offset];
}

static void complete_text(struct show *s, uint32_t pid, uint64_t addr, const struct plan_field *f,
			  uint8_t *data)
{
	size_t avail;
	const uint8_t *bytes = constant_at(s, pid, addr, &avail);

	if (bytes && memchr(bytes, 0, avail))
		memcpy(data + f->offset, bytes, strnlen((const char *)bytes, f->size - 1));
}

/* Text of which nothing was read is looked up, be it empty. */
static const struct event *complete_named(struct show *s, const struct event *e,
					  struct checked_event *room)
{
	size_t nfields;
	const struct plan_field *f = plan__fields(s->plan, e->named->which, &nfields);
	uint64_t addr;

	for (size_t i = 1; i < nfields; i++) {
		if (!lacks_text(&f[i], e->named, &addr) || e->named->len > sizeof(room->data) ||
		    f[i].size > e->named->len - f[i].offset)
			continue;
		if (e->named->data != room->data) {
			memcpy(room->data, e->named->data, e->named->len);
			room->named = *e->named;
			room->named.data = room->data;
			if (e != &room->event)
				room->event = *e;
			room->event.named = &room->named;
			e = &room->event;
		}
		complete_text(s, e->pid, addr, &f[i], room->data);
	}
	return e;
}

/* ---- of each event ---- */

const struct event *absent__complete(struct show *s, const struct event *e,
				     struct checked_event *room)
{
	bool any = false;

	if (e->type == EVENT_NAMED && s->plan->named.data[e->named->which].kind == NAMED_USDT)
		return complete_named(s, e, room);
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
