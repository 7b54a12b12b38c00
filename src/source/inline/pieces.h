/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces: the memory of what was copied from rings and waits to be decoded. Private to
 * src/source/inline. For several threads.
 */
#ifndef BBTRACE_INLINE_PIECES_H
#define BBTRACE_INLINE_PIECES_H

#include <stddef.h>
#include <stdint.h>

/* Whole records of one segment, as the thread wrote them. */
struct piece {
	struct piece *next;
	uint64_t position; /* of the first word, in the thread's stream */
	uint64_t time;	   /* ns, CLOCK_MONOTONIC: all of it was written before */
	uint64_t after;	   /* and after that; 0: not known */
	uint32_t n;
	uint32_t large; /* how it was allocated */
	uint64_t words[];
};

struct pieces;
struct pieces *pieces__new(void);
/* With all its pieces. */
void pieces__close(struct pieces *p);
/* For so many bytes of records, at most LOG_SEGMENT; n is set. */
struct piece *pieces__get(struct pieces *p, size_t bytes);
void pieces__put(struct pieces *p, struct piece *piece);
/* Gives memory that isn't in use back to the kernel: for when little is to be done. */
void pieces__trim(struct pieces *p);
/* How many bytes of records may wait: 1 GiB, but no more than a quarter of the memory that is
 * available to this process. */
size_t pieces__room(void);

#endif
