/* SPDX-License-Identifier: BSD-2-Clause */
/* chunks: the memory of what was copied from rings and waits to be decoded. Private to
 * src/source/inline. Several threads may use it. */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_CHUNKS_H
#define BBTRACE_SOURCE_INLINE_LOGS_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compress.h"

/* Whole records of one segment. */
struct chunk {
	struct chunk *next;
	uint64_t position; /* of the first word, in the thread's stream */
	uint64_t time;	   /* ns, CLOCK_MONOTONIC: all of it was written before */
	uint64_t after;	   /* and after that; 0: not known */
	uint32_t n;	   /* words */
	uint32_t bytes;	   /* of data */
	bool compressed;   /* else data are the words, as the thread wrote them */
	uint64_t data[];
};
#define PIECE_MAX  (sizeof(struct chunk) + PIECE_ROOM)
#define PIECE_ROOM COMPRESS_ROOM(LOG_SEGMENT / sizeof(uint64_t))

/* Bytes of records. */
static inline size_t chunk__records(const struct chunk *p)
{
	return p->n * sizeof(*p->data);
}
static inline uint64_t chunk__end(const struct chunk *p)
{
	return p->position + chunk__records(p);
}

struct chunks;
struct chunks *chunks__new(void);
/* Frees it with all its chunks. */
void chunks__close(struct chunks *p);
/* Makes a chunk for n words. */
struct chunk *chunk__new(size_t n);
/* For compressed chunks, with PIECE_ROOM bytes of data until it is filled; then it has as many as
 * it needs, before the next call of get. Returns NULL if there is no memory. */
struct chunk *chunks__get(struct chunks *p);
void chunks__fill(struct chunks *p, struct chunk *chunk, size_t bytes);
/* Either one. */
void chunks__put(struct chunks *p, struct chunk *chunk);
/* Gives memory that isn't in use back to the kernel: for when little is to be done. */
void chunks__trim(struct chunks *p);
/* How many bytes may wait: 1 GiB, but no more than a quarter of the memory that is available to
 * this process. */
size_t chunks__room(void);

#endif
