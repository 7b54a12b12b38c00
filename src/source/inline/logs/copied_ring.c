// SPDX-License-Identifier: BSD-2-Clause
/* Records that are copied out of a ring. See copied_ring.h. */
#include <stdlib.h>
#include <string.h>
#include "copied_ring.h"
#include "util/util.h"

/* ---- what is copied ---- */

#define LEAST (LOG_SEGMENT / 4) /* bytes that are compressed */

static const uint64_t *words_at(const struct log_ring *ring, uint64_t position)
{
	return (const uint64_t *)((const char *)ring + LOG_RING_AT + position % LOG_RING);
}

static struct chunk *copy(const struct log_ring *ring, uint64_t from, uint64_t to)
{
	struct chunk *p = chunk__new((to - from) / sizeof(*p->data));

	memcpy(p->data, words_at(ring, from), to - from);
	return p;
}

/* Returns NULL if there is no memory. */
static struct chunk *compress(struct chunks *chunks, struct compressor *c,
			      const struct log_ring *ring, uint64_t from, uint64_t to)
{
	struct chunk *p = chunks__get(chunks);

	if (!p)
		return NULL;
	p->n = (to - from) / sizeof(*p->data);
	chunks__fill(chunks, p, compressor__put(c, words_at(ring, from), p->n, p->data));
	return p;
}

struct chunk *ring__take(struct chunks *chunks, struct compressor *c, const struct log_ring *ring,
			 uint64_t from, uint64_t to, uint64_t time)
{
	struct chunk *p = to - from < LEAST ? NULL : compress(chunks, c, ring, from, to);

	p = p ? p : copy(ring, from, to);
	p->position = from;
	p->time = time;
	return p;
}

/* ---- rings that are overwritten ---- */

/* The first position that is not overwritten if the thread is in this segment now. */
static uint64_t oldest(uint64_t segments)
{
	return segments < LOG_SEGMENTS ? 0 : (segments - LOG_SEGMENTS + 1) * LOG_SEGMENT;
}

/* Without the chunks before this position. */
static struct chunk *drop_before(struct chunk *p, uint64_t position)
{
	while (p && p->position < position) {
		struct chunk *next = p->next;

		free(p);
		p = next;
	}
	return p;
}

struct chunk *ring__copy_rest(const struct log_ring *ring, uint64_t from, uint64_t to,
			      uint64_t time)
{
	struct chunk *first = NULL, **last = &first;
	uint64_t end;

	for (from = max_of(from, oldest(to / LOG_SEGMENT)); from < to; from = end) {
		end = min_of(to, (from / LOG_SEGMENT + 1) * LOG_SEGMENT);
		*last = copy(ring, from, end);
		(*last)->position = from;
		(*last)->time = time;
		last = &(*last)->next;
	}
	/* a segment's number is stored before its first record (arch/log.h) */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return drop_before(first, oldest(__atomic_load_n(&ring->segments, __ATOMIC_ACQUIRE)));
}
