/* SPDX-License-Identifier: BSD-2-Clause */
/* ring: the state of a ring (arch/log.h) that its thread continues to write to. */
#ifndef BBTRACE_SOURCE_INLINE_TARGET_RING_H
#define BBTRACE_SOURCE_INLINE_TARGET_RING_H

#include <stddef.h>
#include "arch/arch.h"

/* More than any thread ever writes. */
#define RING_POSITIONS (1ull << 62)

/* The position up to which its records are complete: a multiple of 8, less than RING_POSITIONS.
 * False: what it says can't be. base: running address of the slot. */
bool ring__position(const struct log_ring *ring, uint64_t base, uint64_t *position);
/* Returns true if the thread waits until segments are released. */
bool ring__is_full(const struct log_ring *ring);
/* Returns true if it drops its records, and sets how many it has dropped since it wrote one. That
 * may be any number. */
bool ring__drops(const struct log_ring *ring);
uint64_t ring__dropped(const struct log_ring *ring);
/* The reader looks at this time, ticks; a full ring is waited for so long after that. */
void ring__look(struct log_ring *ring, uint64_t ticks);
void ring__be_patient(struct log_ring *ring, uint64_t ticks);
/* Lets the thread write up to LOG_SEGMENTS segments from this position on. */
void ring__release(struct log_ring *ring, uint64_t position);
/* The ring is overwritten: the thread never waits for the reader. */
void ring__release_all(struct log_ring *ring, uint64_t position);

#endif
