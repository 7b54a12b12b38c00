/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compress: compresses what was copied from rings to about a sixth of the memory, at three
 * nanoseconds a word. Private to src/source/inline.
 *
 * Each word is predicted: the first one of a record by the records before it, the others by their
 * values when that record was last written (value prediction: Burtscher, "VPC3: a fast and
 * effective trace-compression algorithm", SIGMETRICS 2004). Two bits encode whether a word is as
 * predicted, or how many of its lower bytes aren't: two, four or all. These bytes follow. Where
 * records begin is known by their kinds; a wrong guess there only costs memory.
 */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_COMPRESS_H
#define BBTRACE_SOURCE_INLINE_LOGS_COMPRESS_H

#include <stddef.h>
#include "arch/arch.h"

/* Bytes that n words take at most while they are compressed. */
#define COMPRESS_ROOM(n) (((n) + 31) / 32 * 264 + 8)

/* What one call compresses is independent of other calls, so any compressor with the same options
 * can read it. For one thread at a time. */
struct compressor;
struct compressor *compressor__new(const struct log_options *options);
void compressor__free(struct compressor *c);
/* out has COMPRESS_ROOM(n) bytes. Returns how many are used; 8 after them have to be readable. */
size_t compressor__put(struct compressor *c, const uint64_t *words, size_t n, void *out);
/* The n words that a call of put has taken. */
void compressor__get(struct compressor *c, const void *in, uint64_t *words, size_t n);

#endif
