// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "ring.h"
#include "util/util.h"

/*
 * The program may write anything to its ring, at any moment. So each of these loads a word once,
 * takes no address from there, and gives what is within the ring, or nothing.
 */
#define TRIES 100

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Of a thread that has begun a segment but for its number: no record of that is read yet. */
static bool is_turning(uint64_t at, uint64_t segments, bool drops)
{
	uint64_t used = drops ? 2 * sizeof(uint64_t) : 0; /* LOG_LOST */

	return at == (segments + 1) % LOG_SEGMENTS * LOG_SEGMENT + used;
}

static bool find_position(const struct log_ring *ring, uint64_t base, uint64_t *position)
{
	uint64_t segments = load(&ring->segments), limit = load(&ring->limit);
	uint64_t at = load(limit ? &ring->cursor : &ring->kept) - base - LOG_RING_AT;

	if (load(&ring->segments) != segments || !load(&ring->limit) != !limit || at >= LOG_RING ||
	    at % sizeof(uint64_t) || segments >= RING_POSITIONS / LOG_SEGMENT)
		return false;
	if (is_turning(at, segments, !limit)) {
		*position = (segments + 1) * LOG_SEGMENT;
		return true;
	}
	*position = segments * LOG_SEGMENT + at % LOG_SEGMENT;
	return at / LOG_SEGMENT == segments % LOG_SEGMENTS;
}

bool ring__position(const struct log_ring *ring, uint64_t base, uint64_t *position)
{
	uint64_t found;

	for (int i = 0; i < TRIES; i++) {
		if (!find_position(ring, base, &found))
			continue;
		*position = found;
		return true;
	}
	return false;
}

bool ring__drops(const struct log_ring *ring)
{
	return !load(&ring->limit);
}

uint64_t ring__dropped(const struct log_ring *ring)
{
	return ring__drops(ring) ? load(&ring->dropped) : 0;
}

bool ring__is_full(const struct log_ring *ring)
{
	uint64_t limit = load(&ring->limit);

	return limit && load(&ring->cursor) >= limit &&
	       (int64_t)(load(&ring->segments) + 1 - load(&ring->released)) >= LOG_SEGMENTS;
}

void ring__look(struct log_ring *ring, uint64_t ticks)
{
	__atomic_store_n(&ring->beat, ticks, __ATOMIC_RELAXED);
}

void ring__be_patient(struct log_ring *ring, uint64_t ticks)
{
	__atomic_store_n(&ring->patience, ticks, __ATOMIC_RELAXED);
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
	return drop_before(first, oldest(load(&ring->segments)));
}
