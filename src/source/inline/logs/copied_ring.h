/* SPDX-License-Identifier: BSD-2-Clause */
/* copied_ring: copies records out of a ring that its thread continues to write to. */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_COPIED_RING_H
#define BBTRACE_SOURCE_INLINE_LOGS_COPIED_RING_H

#include "compress.h"
#include "chunks.h"
#include "source/inline/target/ring.h"

/* The records from one position to another, of one segment; the thread doesn't overwrite them. */
struct chunk *ring__take(struct chunks *chunks, struct compressor *c, const struct log_ring *ring,
			 uint64_t from, uint64_t to, uint64_t time);
/* Copies the records from one position to another that the thread has not overwritten meanwhile: at
 * most the last LOG_RING bytes. Returns NULL if there are none. */
struct chunk *ring__copy_rest(const struct log_ring *ring, uint64_t from, uint64_t to,
			      uint64_t time);

#endif
