// SPDX-License-Identifier: BSD-2-Clause
/* Copies of what the probes have reported, until it is passed on. */
#include <stdlib.h>
#include <linux/types.h>
#include "waiting.h"
#include "../bpf/wire_named.h"

static const uint64_t *copy_words(uint64_t **to, const uint64_t *from, unsigned n)
{
	uint64_t *copy = *to;

	if (!from)
		return NULL;
	*to += n;
	return memcpy(copy, from, n * sizeof(*copy));
}

static void copy_entry(struct waiting *w, const struct event_entry *e)
{
	unsigned nregs = e->regs ? min_of(e->nregs, (unsigned)EVENT_REGS) : 0;
	unsigned nstack = e->stack ? min_of(e->nstack, (unsigned)STACK_FRAMES) : 0;
	uint64_t *at;

	w->entry = *e;
	w->event.entry = &w->entry;
	snprintf(w->comm, sizeof(w->comm), "%s", e->comm);
	w->entry.comm = w->comm;
	at = w->data = xmalloc((nregs + nstack + EVENT_ARGS) * sizeof(*w->data) +
			       stack_copy__size(&e->copy));
	w->entry.regs = copy_words(&at, e->regs, nregs);
	w->entry.args = copy_words(&at, e->args, EVENT_ARGS);
	w->entry.stack = copy_words(&at, e->stack, nstack);
	if (e->copy.bytes)
		w->entry.copy.bytes = memcpy(at, e->copy.bytes, stack_copy__size(&e->copy));
}

static void copy_named(struct waiting *w, const struct event_named *n)
{
	unsigned nstack = n->stack ? n->nkernel + n->nuser : 0;
	uint64_t copied = stack_copy__size(&n->copy);
	uint64_t *at;

	w->named = *n;
	w->event.named = &w->named;
	snprintf(w->comm, sizeof(w->comm), "%s", n->comm);
	w->named.comm = w->comm;
	at = w->data = xmalloc((nstack + EVENT_REGS) * sizeof(*w->data) + copied + n->len);
	w->named.stack = copy_words(&at, n->stack, nstack);
	w->named.regs = copy_words(&at, n->regs, WIRE_REGS);
	if (n->copy.bytes)
		w->named.copy.bytes = memcpy(at, n->copy.bytes, copied);
	if (n->len)
		w->named.data = memcpy((uint8_t *)at + copied, n->data, n->len);
}

static void copy_fetched(struct waiting *w, const struct event *e)
{
	if (!e->fetched)
		return;
	w->fetched = xmalloc(e->nfetched * sizeof(*w->fetched));
	w->event.fetched = memcpy(w->fetched, e->fetched, e->nfetched * sizeof(*w->fetched));
}

struct waiting *waiting__event(const struct event *e)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->time = e->time;
	w->event = *e;
	w->pid = e->pid;
	w->tid = e->tid;
	w->text = e->text ? xstrdup(e->text) : NULL;
	w->event.text = w->text;
	if (e->entry)
		copy_entry(w, e->entry);
	if (e->named)
		copy_named(w, e->named);
	copy_fetched(w, e);
	if (!e->nabove)
		return w;
	w->data = xmalloc(e->nabove * sizeof(*w->data));
	w->event.above = memcpy(w->data, e->above, e->nabove * sizeof(*w->data));
	return w;
}

struct waiting *waiting__sideband(const struct sideband_event *e)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->time = e->time;
	w->type = WAITS_SIDEBAND;
	w->pid = e->pid;
	w->tid = e->tid;
	w->sideband = *e;
	w->text = e->text ? xstrdup(e->text) : NULL;
	w->sideband.text = w->text;
	return w;
}

struct waiting *waiting__lost(uint32_t pid, uint32_t tid, uint64_t count)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->type = WAITS_LOST;
	w->pid = pid;
	w->tid = tid;
	w->count = count;
	return w;
}

struct waiting *waiting__counted(const struct count *n)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->type = WAITS_COUNT;
	w->counted = *n;
	return w;
}

int waiting__give(const struct waiting *w, const struct source_sink *sink)
{
	switch (w->type) {
	case WAITS_EVENT:
		return sink->event(sink->ctx, &w->event);
	case WAITS_SIDEBAND:
		return sink->sideband(sink->ctx, &w->sideband);
	case WAITS_LOST:
		return sink->lost(sink->ctx, w->pid, w->tid, w->count);
	case WAITS_COUNT:
		return sink->counted(sink->ctx, &w->counted);
	}
	return 0;
}

void waiting__free(struct waiting *w)
{
	free(w->data);
	free(w->fetched);
	free(w->text);
	free(w);
}

/* It has a ring of its own, which is read before or after the other one. */
static bool is_loss(const struct waiting *w)
{
	return w->type == WAITS_EVENT && w->event.type == EVENT_LOST;
}

bool waiting__may_swap(const struct waiting *before, const struct waiting *w)
{
	if (before->time <= w->time || before->type == WAITS_COUNT || w->type == WAITS_COUNT)
		return false;
	/* the supervisor reports it before the probes report what was before that */
	if (before->type == WAITS_SIDEBAND &&
	    (before->sideband.type == SIDEBAND_GAP || before->sideband.type == SIDEBAND_UNTRACED))
		return true;
	if (before->type == WAITS_EVENT && w->type == WAITS_EVENT)
		return before->tid != w->tid || is_loss(before) || is_loss(w);
	return before->pid && w->pid && before->pid != w->pid;
}

bool waiting__add_loss(struct waiting *before, const struct waiting *w)
{
	struct event *e = &before->event;

	if (!is_loss(before) || !is_loss(w) || e->tid != w->event.tid || e->pid != w->event.pid ||
	    e->logged != w->event.logged)
		return false;
	e->count += w->event.count;
	e->hits |= w->event.hits;
	return true;
}

bool waiting__is_end(const struct waiting *w)
{
	return w->type == WAITS_SIDEBAND &&
	       (w->sideband.type == SIDEBAND_EXIT || w->sideband.type == SIDEBAND_EXEC);
}
