// SPDX-License-Identifier: BSD-2-Clause
/* What threads have counted, and written. */
#include "rings_private.h"

void rings__add_counts(struct rings *r, struct stream *s, const struct log_ring *ring)
{
	const volatile uint64_t *now = (const uint64_t *)((const char *)ring + LOG_COUNTERS_AT);

	for (uint32_t i = 0; i < r->options.counters; i++) {
		uint64_t n = now[i];

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
		uint64_t base, position = (*s)->end.type == SAY_END ? (*s)->end.position : (*s)->at;
		struct log_ring *ring = rings__open_ring(r, *s, &base);
		struct log_work w = {.pid = (*s)->ring.pid, .waited = (*s)->waited};

		if (ring)
			rings__add_counts(r, *s, ring);
		if (ring && !ring__position(ring, base, &position))
			position = (*s)->at;
		w.bytes = position - min_of(position, (*s)->ring.position);
		w.counts = counts_of(r, *s);
		fn(ctx, &w);
	}
	pthread_mutex_unlock(&r->pulling);
}

/* Threads that have counted were said to begin. */
void rings__count(struct rings *r, uint64_t *out)
{
	struct stream **s;

	pthread_mutex_lock(&r->pulling);
	rings__hear_all(r);
	vec__each (s, &r->streams) {
		struct log_area *a = areas__find(&r->areas, (*s)->ring.area);
		struct log_ring *ring = areas__ring(&r->areas, a, (*s)->ring.slot);

		if (ring && (*s)->end.type != SAY_END)
			rings__add_counts(r, *s, ring);
	}
	for (uint32_t i = 0; i < r->options.counters; i++)
		out[i] = r->sums[i];
	pthread_mutex_unlock(&r->pulling);
}
