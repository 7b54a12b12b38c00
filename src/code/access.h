/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access: which instruction accessed the memory that a hardware breakpoint watches. Part of the
 * public header of src/code.
 *
 * The processor tells it behind the instruction (x86: SDM volume 3, 17.2.4), so that the address of
 * the next one is known. What ends there, stands there and repeats itself, or has called or jumped
 * there is a candidate; one of them is told only if none of the others can have been it.
 */
#ifndef BBTRACE_CODE_ACCESS_H
#define BBTRACE_CODE_ACCESS_H

#include "arch/arch.h"
#include "object/object.h"

/* Where a running address is in an object. */
struct access_place {
	const struct object *object;
	const struct object *kernel; /* the running kernel; NULL: of a program */
	uint64_t bias;		     /* running address less link-time address */
};

/* What a hit has found: all addresses are running ones. */
struct access_hit {
	const uint64_t *regs;	/* by number, as the trap finds them */
	uint64_t fs, gs;	/* bases of segments */
	uint64_t addr, size;	/* what is watched: at most 8 bytes */
	bool writes;		/* only writes are told */
	bool has_top, has_word; /* could these be read? */
	uint64_t top;		/* the word at the stack pointer */
	uint64_t word;		/* the aligned word that what is watched is in */
};

enum access_doubt {
	ACCESS_PROVED,
	ACCESS_NO_CODE, /* where the thread is, no code is known */
	ACCESS_NONE,	/* no instruction that leads there accesses it */
	ACCESS_SEVERAL, /* more than one may have */
	ACCESS_JUMP, /* a jump or a return that has read its target there; from where isn't known */
	ACCESS_DOUBTS
};
extern const char *const access_doubt_text[ACCESS_DOUBTS]; /* NULL for PROVED */

struct accessor {
	uint8_t doubt; /* enum access_doubt; PROVED: what follows is told */
	struct access_place place;
	uint64_t vaddr; /* of the instruction */
	uint8_t len;
	bool writes, reads;
	uint8_t known; /* which of the watched bytes were stored as in value: one bit each */
	uint64_t value;
};

/* It decodes functions when they are asked for, and keeps them. at: tells where an address is;
 * false: in no known object. */
struct accesses;
struct accesses *accesses__new(bool (*at)(void *ctx, uint64_t addr, struct access_place *out),
			       void *ctx);
void accesses__free(struct accesses *a);
void accesses__find(struct accesses *a, const struct access_hit *hit, struct accessor *out);

#endif
