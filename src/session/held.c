// SPDX-License-Identifier: BSD-2-Clause
/* Samples that wait for the names of generated code. */
#include <stdlib.h>
#include "held.h"

#define MOST 16384

/* A sample with all that its pointers lead to. */
struct held_sample {
	struct held_sample *next;
	struct event event;
	struct event_named named;
	char comm[16];
	uint64_t frames[NAMED_FRAMES];
	uint8_t data[]; /* frames: those that it has */
};

bool held__has(const struct held *h, uint32_t pid)
{
	const uint64_t *n = h->n ? map64__get(&h->of_process, pid) : NULL;

	return n && *n;
}

void held__put(struct held *h, const struct event *e)
{
	const struct event_named *n = e->named;
	struct held_sample *s = xmalloc(sizeof(*s) + n->len);
	size_t frames = min_of(n->nkernel + n->nuser, (unsigned)NAMED_FRAMES);

	s->next = NULL;
	s->event = *e;
	s->named = *n;
	s->event.named = &s->named;
	snprintf(s->comm, sizeof(s->comm), "%s", n->comm ? n->comm : "");
	memcpy(s->frames, n->stack, frames * sizeof(*n->stack));
	memcpy(s->data, n->data ? n->data : s->data, n->len);
	s->named.comm = s->comm;
	s->named.stack = s->frames;
	s->named.data = s->data;
	s->named.regs = NULL;
	if (!h->first)
		h->end = &h->first;
	*h->end = s;
	h->end = &s->next;
	h->n++;
	++*map64__put(&h->of_process, e->pid);
}

bool held__is_full(const struct held *h)
{
	return h->n >= MOST;
}

int held__pass(struct held *h, uint32_t pid, bool (*ready)(void *ctx, const struct event *e),
	       int (*pass)(void *ctx, const struct event *e), void *ctx)
{
	struct held_sample **at = &h->first, *s;
	struct map64 waiting = {0};
	int err = 0;

	while (!err && (s = *at)) {
		bool keeps = pid && s->event.pid != pid;

		if (!keeps && ready) {
			uint64_t *waits = map64__put(&waiting, s->event.pid);

			*waits = *waits || !ready(ctx, &s->event);
			keeps = *waits;
		}
		if (keeps) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		h->n--;
		--*map64__put(&h->of_process, s->event.pid);
		err = pass(ctx, &s->event);
		free(s);
	}
	for (h->end = &h->first; *h->end; h->end = &(*h->end)->next)
		;
	map64__free(&waiting);
	return err;
}

void held__free(struct held *h)
{
	struct held_sample *s;

	while ((s = h->first)) {
		h->first = s->next;
		free(s);
	}
	h->n = 0;
	map64__free(&h->of_process);
}
