// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "ring.h"
#include "util/util.h"

#define TRIES 100

bool ring__position(const struct log_ring *r, uint64_t base, uint64_t *position)
{
	const volatile struct log_ring *ring = r;

	for (int i = 0; i < TRIES; i++) {
		uint64_t segments = ring->segments, limit = ring->limit;
		uint64_t at = (limit ? ring->cursor : ring->kept) - base - LOG_RING_AT;

		if (ring->segments != segments || !ring->limit != !limit || at >= LOG_RING ||
		    at % 8 || at / LOG_SEGMENT != segments % LOG_SEGMENTS)
			continue;
		*position = segments * LOG_SEGMENT + at % LOG_SEGMENT;
		return true;
	}
	return false;
}

bool ring__is_full(const struct log_ring *r)
{
	const volatile struct log_ring *ring = r;

	return ring->limit && ring->cursor >= ring->limit &&
	       ring->segments + 1 - ring->released >= LOG_SEGMENTS;
}

static void release(struct log_ring *ring, uint64_t segments)
{
	__atomic_store_n(&ring->released, segments, __ATOMIC_RELEASE);
}

void ring__release(struct log_ring *ring, uint64_t position)
{
	release(ring, position / LOG_SEGMENT);
}

/* ---- what is copied ---- */

#define LEAST (LOG_SEGMENT / 4) /* bytes that are compressed */

static const uint64_t *words_at(const struct log_ring *ring, uint64_t position)
{
	return (const uint64_t *)((const char *)ring + LOG_RING_AT + position % LOG_RING);
}

static struct piece *copy(const struct log_ring *ring, uint64_t from, uint64_t to)
{
	struct piece *p = piece__new((to - from) / sizeof(*p->data));

	memcpy(p->data, words_at(ring, from), to - from);
	return p;
}

/* NULL: there is no memory. */
static struct piece *compress(struct pieces *pieces, struct compressor *c,
			      const struct log_ring *ring, uint64_t from, uint64_t to)
{
	struct piece *p = pieces__get(pieces);

	if (!p)
		return NULL;
	p->n = (to - from) / sizeof(*p->data);
	pieces__fill(pieces, p, compressor__put(c, words_at(ring, from), p->n, p->data));
	return p;
}

struct piece *ring__take(struct pieces *pieces, struct compressor *c, const struct log_ring *ring,
			 uint64_t from, uint64_t to, uint64_t time)
{
	struct piece *p = to - from < LEAST ? NULL : compress(pieces, c, ring, from, to);

	p = p ? p : copy(ring, from, to);
	p->position = from;
	p->time = time;
	return p;
}

/* ---- rings that are overwritten ---- */

/* More than any thread ever fills; the thread compares signed numbers (arch_copier.log_begin). */
#define ENOUGH (1ull << 40)

void ring__release_all(struct log_ring *ring, uint64_t position)
{
	release(ring, position / LOG_SEGMENT + ENOUGH);
}

/* The first position that is not overwritten if the thread is in this segment now. */
static uint64_t oldest(uint64_t segments)
{
	return segments < LOG_SEGMENTS ? 0 : (segments - LOG_SEGMENTS + 1) * LOG_SEGMENT;
}

/* Without the pieces before this position. */
static struct piece *drop_before(struct piece *p, uint64_t position)
{
	while (p && p->position < position) {
		struct piece *next = p->next;

		free(p);
		p = next;
	}
	return p;
}

struct piece *ring__copy_rest(const struct log_ring *ring, uint64_t from, uint64_t to,
			      uint64_t time)
{
	struct piece *first = NULL, **last = &first;
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
