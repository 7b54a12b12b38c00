// SPDX-License-Identifier: BSD-2-Clause
/* What threads have counted, and written. */
#include <sys/socket.h>
#include <unistd.h>
#include "rings_private.h"

/* ---- at one time ---- */

#define PAUSE_NS 1000000000ull /* a thread that has not stopped then waits in the kernel */
#define LOOK_US	 100

static void send_request(const struct rings *r, enum request_type type)
{
	const struct supervisor_request request = {.type = type};

	if (r->options.socket >= 0)
		(void)!send(r->options.socket, &request, sizeof(request), MSG_NOSIGNAL);
}

static bool is_answered(struct rings *r, enum notice_type answer, bool *gone)
{
	bool answered;

	rings__pull(r);
	pthread_mutex_lock(&r->lock);
	answered = r->answers >> answer & 1;
	*gone = r->gone || r->options.socket < 0;
	pthread_mutex_unlock(&r->lock);
	return answered;
}

/* *gone: there is no supervisor to do it. */
static bool request_and_wait(struct rings *r, enum request_type type, enum notice_type answer,
			     bool *gone)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + PAUSE_NS;
	bool answered;

	/* of an earlier request, whose answer was not awaited any longer */
	rings__pull(r);
	pthread_mutex_lock(&r->lock);
	r->answers = 0;
	pthread_mutex_unlock(&r->lock);
	send_request(r, type);
	while (!(answered = is_answered(r, answer, gone)) && !*gone &&
	       now_ns(CLOCK_MONOTONIC) < end)
		usleep(LOOK_US);
	return answered;
}

bool rings__pause(struct rings *r)
{
	bool gone, paused = request_and_wait(r, REQUEST_PAUSE, NOTICE_PAUSED, &gone);

	rings__pull_whole(r);
	return paused;
}

bool rings__set_disarmed(struct rings *r, bool disarmed)
{
	bool gone, done = request_and_wait(r, disarmed ? REQUEST_DISARM : REQUEST_ARM,
					   NOTICE_CHANGED, &gone);

	if (!done && !gone)
		send_request(r, REQUEST_RESUME);
	return done || gone;
}

void rings__go_on(const struct rings *r)
{
	send_request(r, REQUEST_RESUME);
}

/* ---- counters ---- */

/* More than any thread counts at a place in a nanosecond. */
#define FASTEST 8

/* What the program writes to its counters is taken as far as it can be true: they only grow, and no
 * faster than that. */
void rings__add_counts(struct rings *r, struct stream *s, const struct log_ring *ring)
{
	const uint64_t *counters = (const uint64_t *)((const char *)ring + LOG_COUNTERS_AT);

	for (uint32_t i = 0; i < r->options.counters; i++) {
		uint64_t n = __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
		/* a thread may have counted before its ring was reported */
		uint64_t ns = now_ns(CLOCK_MONOTONIC) - r->began;

		if (n == s->counted[i])
			continue;
		if (n < s->counted[i] || n / FASTEST > ns) {
			rings__see_forged(r, s);
			continue;
		}
		r->sums[i] += n - s->counted[i];
		s->counted[i] = n;
	}
}

static uint64_t counts_of(const struct rings *r, const struct stream *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->options.counters; i++)
		sum += s->counted[i];
	return sum;
}

void rings__work(struct rings *r, void (*fn)(void *ctx, const struct log_work *w), void *ctx)
{
	struct stream **s;

	pthread_mutex_lock(&r->pulling);
	vec__each (s, &r->streams) {
		uint64_t base,
			position = (*s)->end.type == NOTICE_END ? (*s)->end.position : (*s)->at;
		struct log_ring *ring = rings__open_ring(r, *s, &base);
		struct log_work w = {.pid = (*s)->ring.pid, .waited = (*s)->waited};

		if (ring)
			rings__add_counts(r, *s, ring);
		/* a position that is too far ahead is not possible */
		if (ring &&
		    (!ring__position(ring, base, &position) || position - (*s)->at > LOG_RING))
			position = (*s)->at;
		w.bytes = position - min_of(position, (*s)->ring.position);
		w.counts = counts_of(r, *s);
		fn(ctx, &w);
	}
	pthread_mutex_unlock(&r->pulling);
}

/* Threads that have counted were reported to begin. */
void rings__count(struct rings *r, uint64_t *out)
{
	struct stream **s;

	pthread_mutex_lock(&r->pulling);
	rings__receive_all(r);
	vec__each (s, &r->streams) {
		struct log_area *a = areas__find(&r->areas, (*s)->ring.area);
		struct log_ring *ring = areas__ring(&r->areas, a, (*s)->ring.slot);

		if (ring && (*s)->end.type != NOTICE_END)
			rings__add_counts(r, *s, ring);
	}
	for (uint32_t i = 0; i < r->options.counters; i++)
		out[i] = r->sums[i];
	pthread_mutex_unlock(&r->pulling);
}
