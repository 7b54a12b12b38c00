/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces: the memory of what was copied from rings and waits to be decoded. Private to
 * src/source/inline. For several threads.
 */
#ifndef BBTRACE_INLINE_PIECES_H
#define BBTRACE_INLINE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compress.h"

/* Whole records of one segment. */
struct piece {
	struct piece *next;
	uint64_t position; /* of the first word, in the thread's stream */
	uint64_t time;	   /* ns, CLOCK_MONOTONIC: all of it was written before */
	uint64_t after;	   /* and after that; 0: not known */
	uint32_t n;	   /* words */
	uint32_t bytes;	   /* of data */
	bool compressed;   /* else data are the words, as the thread wrote them */
	uint64_t data[];
};
#define PIECE_MAX  (sizeof(struct piece) + PIECE_ROOM)
#define PIECE_ROOM COMPRESS_ROOM(LOG_SEGMENT / sizeof(uint64_t))

/* Bytes of records. */
static inline size_t piece__records(const struct piece *p)
{
	return p->n * sizeof(*p->data);
}
static inline uint64_t piece__end(const struct piece *p)
{
	return p->position + piece__records(p);
}

struct pieces;
struct pieces *pieces__new(void);
/* With all its pieces. */
void pieces__close(struct pieces *p);
/* For so many words. */
struct piece *piece__new(size_t n);
/* For compressed ones, with PIECE_ROOM bytes of data until it was filled: with so many, before the
 * next call of get. NULL: there is no memory. */
struct piece *pieces__get(struct pieces *p);
void pieces__fill(struct pieces *p, struct piece *piece, size_t bytes);
/* Either one. */
void pieces__put(struct pieces *p, struct piece *piece);
/* Gives memory that isn't in use back to the kernel: for when little is to be done. */
void pieces__trim(struct pieces *p);
/* How many bytes may wait: 1 GiB, but no more than a quarter of the memory that is available to
 * this process. */
size_t pieces__room(void);

#endif
