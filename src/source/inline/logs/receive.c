// SPDX-License-Identifier: BSD-2-Clause
/* rings: what the supervisor says: threads that begin to write to a ring, and those that have
 * ended. */
#include <sys/socket.h>
#include <unistd.h>
#include "rings_private.h"

static struct stream *find_stream(struct rings *r, const struct notice *notice)
{
	struct stream **s;

	vec__each (s, &r->streams)
		if ((*s)->ring.area == notice->area && (*s)->ring.slot == notice->slot &&
		    (*s)->end.type != NOTICE_END)
			return *s;
	return NULL;
}

static struct stream *begin_stream(struct rings *r, const struct notice *notice)
{
	struct log_area *a = areas__find(&r->areas, notice->area);
	struct log_ring *ring = areas__ring(&r->areas, a, notice->slot);
	struct stream *s;

	if (!ring)
		return NULL;
	if (r->options.tail)
		ring__release_all(ring, notice->position);
	else
		ring__release(ring, notice->position);
	ring__look(ring, r->options.ticks());
	ring__be_patient(ring, r->options.second);
	s = xcalloc(1, sizeof(*s));
	s->ring = s->end = *notice;
	s->at = notice->position;
	s->complete = s->looked = notice->time;
	s->counted = xcalloc(r->options.counters + 1, sizeof(*s->counted));
	pthread_mutex_lock(&r->lock);
	vec__push(&r->streams, s);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void free_slot(struct rings *r, const struct notice *notice)
{
	struct supervisor_request request = {
		.type = REQUEST_FREE_SLOT, .area = notice->area, .slot = notice->slot};

	if (r->options.socket >= 0)
		(void)!send(r->options.socket, &request, sizeof(request), MSG_NOSIGNAL);
}

/* A thread can't drop a record within a nanosecond. A number that can't be is taken for one: how
 * many there were isn't known. */
static uint64_t believable(struct rings *r, struct stream *s, uint64_t dropped, uint64_t time)
{
	if (dropped <= time - min_of(time, s->ring.time))
		return dropped;
	rings__see_forged(r, s);
	return 1;
}

/* Returns true if the supervisor's message on it agrees with its ring, and is possible. */
static bool makes_sense(const struct rings *r, const struct stream *s, const struct log_ring *ring,
			uint64_t base, const struct notice *end)
{
	uint64_t position;

	return ring__position(ring, base, &position) && position == end->position &&
	       rings__can_be_at(r, s, position, now_ns(CLOCK_MONOTONIC));
}

/* All of it is copied at once, room or not: the slot is for another thread. */
static struct stream *end_stream(struct rings *r, const struct notice *notice)
{
	struct log_area *a = areas__find(&r->areas, notice->area);
	struct log_ring *ring = areas__ring(&r->areas, a, notice->slot);
	struct stream *s;

	pthread_mutex_lock(&r->lock);
	s = find_stream(r, notice);
	pthread_mutex_unlock(&r->lock);
	if (!s)
		return NULL;
	if (ring && !s->broken &&
	    !makes_sense(r, s, ring, areas__base(&r->areas, a, notice->slot), notice))
		rings__give_up_ring(r, s);
	if (r->waits)
		s->at = s->ring.position = max_of(s->at, notice->position);
	else if (ring && !s->broken && r->options.tail)
		rings__copy_tail(r, s, ring, notice->position, notice->time);
	else if (ring && !s->broken)
		rings__copy_up_to(r, s, ring, notice->position, notice->time);
	if (ring)
		rings__add_counts(r, s, ring);
	pthread_mutex_lock(&r->lock);
	s->dropped = ring ? believable(r, s, ring__dropped(ring), notice->time) : 0;
	s->dropping = s->dropping ? s->dropping : notice->time;
	s->end = *notice;
	s->complete = UINT64_MAX;
	pthread_mutex_unlock(&r->lock);
	free_slot(r, notice);
	return s;
}

static void handle(struct rings *r, const struct notice *notice, int fd)
{
	struct received received = {.notice = *notice};

	if (notice->type == NOTICE_AREA)
		areas__add(&r->areas, notice, fd);
	else if (notice->type == NOTICE_AREA_GONE)
		areas__drop(&r->areas, notice->area);
	else if (notice->type == NOTICE_RING)
		received.stream = begin_stream(r, notice);
	else if (notice->type == NOTICE_END)
		received.stream = end_stream(r, notice);
	if (fd >= 0)
		close(fd);
	received.notice.text[sizeof(received.notice.text) - 1] = 0;
	pthread_mutex_lock(&r->lock);
	r->gone |= notice->type == NOTICE_GONE || notice->type == NOTICE_DIED;
	r->answers |= notice->type < 32 ? 1u << notice->type : 0;
	vec__push(&r->received, received);
	pthread_mutex_unlock(&r->lock);
}

void rings__receive(struct rings *r, const struct notice *notice, int fd)
{
	pthread_mutex_lock(&r->pulling);
	handle(r, notice, fd);
	pthread_mutex_unlock(&r->pulling);
}

/* Without the supervisor a handler may have interrupted any record since, and new threads write to
 * the rings of others. */
static void see_death(struct rings *r, bool given_up)
{
	const struct notice died = {.type = NOTICE_DIED, .size = given_up};
	struct stream **s;

	vec__each (s, &r->streams)
		if ((*s)->end.type != NOTICE_END)
			rings__break_off(r, *s);
	handle(r, &died, -1);
}

void rings__give_up(struct rings *r)
{
	pthread_mutex_lock(&r->pulling);
	rings__receive_all(r);
	if (!r->gone)
		see_death(r, true);
	pthread_mutex_unlock(&r->pulling);
}

/* Returns false if there is no message now. */
static bool receive(struct rings *r)
{
	struct notice notice;
	int fd, got = supervisor__receive(r->options.socket, &notice, &fd);

	if (got == 1)
		handle(r, &notice, fd);
	else if (got < 0)
		see_death(r, false);
	return got == 1;
}

void rings__receive_all(struct rings *r)
{
	while (r->options.socket >= 0 && !r->gone && receive(r))
		;
}
