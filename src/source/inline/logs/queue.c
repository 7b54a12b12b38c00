// SPDX-License-Identifier: BSD-2-Clause
/* The decoder's side of the rings: what was reported, and the chunks that wait. */
#include <stdlib.h>
#include <string.h>
#include "rings_private.h"

bool rings__next_received(struct rings *r, struct received *out)
{
	bool some;

	pthread_mutex_lock(&r->lock);
	some = r->taken < r->received.len;
	if (some)
		*out = r->received.data[r->taken++];
	if (r->taken == r->received.len)
		r->taken = r->received.len = 0;
	pthread_mutex_unlock(&r->lock);
	return some;
}

bool rings__gone(struct rings *r)
{
	bool gone;

	pthread_mutex_lock(&r->lock);
	gone = r->gone;
	pthread_mutex_unlock(&r->lock);
	return gone;
}

uint64_t rings__complete(struct rings *r)
{
	struct stream **s;
	uint64_t complete;

	pthread_mutex_lock(&r->lock);
	/* A thread that is not known yet may have written something since. */
	complete = r->heard;
	vec__each (s, &r->streams)
		complete = min_of(complete, (*s)->complete);
	pthread_mutex_unlock(&r->lock);
	return complete;
}

size_t rings__waiting(struct rings *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->waiting;
	pthread_mutex_unlock(&r->lock);
	return n;
}

bool rings__hurry(struct rings *r)
{
	size_t held;

	pthread_mutex_lock(&r->lock);
	held = r->held;
	pthread_mutex_unlock(&r->lock);
	return now_ns(CLOCK_MONOTONIC) < r->hurry && held < r->options.max / 4 * 3;
}

void rings__cut(struct rings *r)
{
	r->cut = true;
}

bool rings__is_cut(const struct rings *r)
{
	return r->cut;
}

void rings__left_out(struct rings *r, uint64_t bytes)
{
	pthread_mutex_lock(&r->lock);
	r->totals.left_out += bytes;
	pthread_mutex_unlock(&r->lock);
}

bool rings__is_over(struct rings *r, const struct stream *s)
{
	bool over;

	pthread_mutex_lock(&r->lock);
	over = s->broken || s->end.type == NOTICE_END;
	pthread_mutex_unlock(&r->lock);
	return over;
}

struct rings_totals rings__totals(struct rings *r)
{
	struct rings_totals t;

	pthread_mutex_lock(&r->lock);
	t = r->totals;
	pthread_mutex_unlock(&r->lock);
	return t;
}

struct chunk *rings__take(struct rings *r, struct stream *s)
{
	struct chunk *p;

	pthread_mutex_lock(&r->lock);
	p = s->first;
	s->first = s->last = NULL;
	pthread_mutex_unlock(&r->lock);
	return p;
}

void rings__give_back(struct rings *r, struct stream *s, struct chunk *p)
{
	pthread_mutex_lock(&r->lock);
	s->waiting -= chunk__records(p);
	r->waiting -= chunk__records(p);
	s->held -= rings__weight(r, p);
	r->held -= rings__weight(r, p);
	pthread_mutex_unlock(&r->lock);
	chunks__put(r->chunks, p);
}

struct chunk *rings__expand(struct rings *r, const struct chunk *p)
{
	struct chunk *out = chunk__new(p->n);

	out->position = p->position;
	out->time = p->time;
	out->after = p->after;
	if (p->compressed)
		compressor__get(r->expander, p->data, out->data, p->n);
	else
		memcpy(out->data, p->data, chunk__records(p));
	return out;
}

/* ---- streams that are done with ---- */

void stream__free(struct rings *r, struct stream *s)
{
	struct chunk *next;

	for (struct chunk *p = s->first; p; p = next) {
		next = p->next;
		chunks__put(r->chunks, p);
	}
	free(s->counted);
	free(s);
}

void rings__forget(struct rings *r, struct stream *s)
{
	size_t kept = 0;

	pthread_mutex_lock(&r->pulling);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->streams.len; i++)
		if (r->streams.data[i] != s)
			r->streams.data[kept++] = r->streams.data[i];
	r->streams.len = kept;
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->pulling);
	stream__free(r, s);
}
