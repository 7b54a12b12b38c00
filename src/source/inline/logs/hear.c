// SPDX-License-Identifier: BSD-2-Clause
/* rings: what the supervisor says: threads that begin to write to a ring, and those that have
 * ended. */
#include <sys/socket.h>
#include <unistd.h>
#include "rings_private.h"

static struct stream *find_stream(struct rings *r, const struct say *say)
{
	struct stream **s;

	vec__each (s, &r->streams)
		if ((*s)->ring.area == say->area && (*s)->ring.slot == say->slot &&
		    (*s)->end.type != SAY_END)
			return *s;
	return NULL;
}

static struct stream *begin_stream(struct rings *r, const struct say *say)
{
	struct log_area *a = areas__find(&r->areas, say->area);
	struct log_ring *ring = areas__ring(&r->areas, a, say->slot);
	struct stream *s;

	if (!ring)
		return NULL;
	if (r->options.tail)
		ring__release_all(ring, say->position);
	else
		ring__release(ring, say->position);
	ring__look(ring, r->options.ticks());
	ring__be_patient(ring, r->options.second);
	s = xcalloc(1, sizeof(*s));
	s->ring = s->end = *say;
	s->at = say->position;
	s->complete = s->looked = say->time;
	s->counted = xcalloc(r->options.counters + 1, sizeof(*s->counted));
	pthread_mutex_lock(&r->lock);
	vec__push(&r->streams, s);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void ask_done(struct rings *r, const struct say *say)
{
	struct ask ask = {.type = ASK_DONE, .area = say->area, .slot = say->slot};

	if (r->options.socket >= 0)
		(void)!send(r->options.socket, &ask, sizeof(ask), MSG_NOSIGNAL);
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

/* Is what the supervisor says of it what its ring says, and can that be? */
static bool makes_sense(const struct rings *r, const struct stream *s, const struct log_ring *ring,
			uint64_t base, const struct say *end)
{
	uint64_t position;

	return ring__position(ring, base, &position) && position == end->position &&
	       rings__can_be_at(r, s, position, now_ns(CLOCK_MONOTONIC));
}

/* All of it is copied at once, room or not: the slot is for another thread. */
static struct stream *end_stream(struct rings *r, const struct say *say)
{
	struct log_area *a = areas__find(&r->areas, say->area);
	struct log_ring *ring = areas__ring(&r->areas, a, say->slot);
	struct stream *s;

	pthread_mutex_lock(&r->lock);
	s = find_stream(r, say);
	pthread_mutex_unlock(&r->lock);
	if (!s)
		return NULL;
	if (ring && !s->broken &&
	    !makes_sense(r, s, ring, areas__base(&r->areas, a, say->slot), say))
		rings__give_up_ring(r, s);
	if (r->waits)
		s->at = s->ring.position = max_of(s->at, say->position);
	else if (ring && !s->broken && r->options.tail)
		rings__copy_tail(r, s, ring, say->position, say->time);
	else if (ring && !s->broken)
		rings__copy_up_to(r, s, ring, say->position, say->time);
	if (ring)
		rings__add_counts(r, s, ring);
	pthread_mutex_lock(&r->lock);
	s->dropped = ring ? believable(r, s, ring__dropped(ring), say->time) : 0;
	s->dropping = s->dropping ? s->dropping : say->time;
	s->end = *say;
	s->complete = UINT64_MAX;
	pthread_mutex_unlock(&r->lock);
	ask_done(r, say);
	return s;
}

static void hear(struct rings *r, const struct say *say, int fd)
{
	struct said said = {.say = *say};

	if (say->type == SAY_AREA)
		areas__add(&r->areas, say, fd);
	else if (say->type == SAY_AREA_GONE)
		areas__drop(&r->areas, say->area);
	else if (say->type == SAY_RING)
		said.stream = begin_stream(r, say);
	else if (say->type == SAY_END)
		said.stream = end_stream(r, say);
	if (fd >= 0)
		close(fd);
	said.say.text[sizeof(said.say.text) - 1] = 0;
	pthread_mutex_lock(&r->lock);
	r->gone |= say->type == SAY_GONE || say->type == SAY_DIED;
	r->answers |= say->type < 32 ? 1u << say->type : 0;
	vec__push(&r->said, said);
	pthread_mutex_unlock(&r->lock);
}

void rings__hear(struct rings *r, const struct say *say, int fd)
{
	pthread_mutex_lock(&r->pulling);
	hear(r, say, fd);
	pthread_mutex_unlock(&r->pulling);
}

/* Without the supervisor a handler may have interrupted any record since, and new threads write to
 * the rings of others. */
static void see_death(struct rings *r, bool given_up)
{
	const struct say died = {.type = SAY_DIED, .size = given_up};
	struct stream **s;

	vec__each (s, &r->streams)
		if ((*s)->end.type != SAY_END)
			rings__break_off(r, *s);
	hear(r, &died, -1);
}

void rings__give_up(struct rings *r)
{
	pthread_mutex_lock(&r->pulling);
	rings__hear_all(r);
	if (!r->gone)
		see_death(r, true);
	pthread_mutex_unlock(&r->pulling);
}

/* False: there is no message now. */
static bool receive(struct rings *r)
{
	struct say say;
	int fd, got = supervisor__hear(r->options.socket, &say, &fd);

	if (got == 1)
		hear(r, &say, fd);
	else if (got < 0)
		see_death(r, false);
	return got == 1;
}

void rings__hear_all(struct rings *r)
{
	while (r->options.socket >= 0 && !r->gone && receive(r))
		;
}
