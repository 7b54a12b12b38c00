// SPDX-License-Identifier: BSD-2-Clause
/* The header of a ring, which the program may write to at any moment. See ring.h. */
#include "ring.h"

/* The program may write anything to its ring, at any moment. So each of these functions loads a
 * word once, takes no address from there, and returns what is within the ring, or nothing. */
#define TRIES 100

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Returns true for a thread that has begun a segment but not written its number: no record of that
 * segment is read yet. */
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

/* More than any thread ever fills; the thread compares signed numbers (arch_copier.log_begin). */
#define ENOUGH (1ull << 40)

void ring__release_all(struct log_ring *ring, uint64_t position)
{
	release(ring, position / LOG_SEGMENT + ENOUGH);
}
