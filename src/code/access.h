/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access: which instruction accessed the memory that a hardware breakpoint watches. Part of the
 * public header of src/code.
 *
 * The processor reports the access after the instruction (x86: SDM volume 3, 17.2.4), so the
 * address of the next one is known. What ends there, is there and repeats itself, or has called or
 * jumped there is a candidate. A candidate is reported only if no other one is possible.
 */
#ifndef BBTRACE_CODE_ACCESS_H
#define BBTRACE_CODE_ACCESS_H

#include "arch/arch.h"
#include "object/object.h"

/* The place of a running address in an object. */
struct access_place {
	const struct object *object;
	const struct object *kernel; /* the running kernel; NULL for a program */
	uint64_t bias;		     /* running address less link-time address */
};

/* What a hit has found. All addresses are running ones. */
struct access_hit {
	const uint64_t *regs;	/* by number, at the trap */
	uint64_t fs, gs;	/* bases of segments */
	uint64_t addr, size;	/* the watched memory: at most 8 bytes */
	bool writes;		/* only writes are reported */
	bool has_top, has_word; /* whether these could be read: */
	uint64_t top;		/* the word at the stack pointer */
	uint64_t word;		/* the aligned word that contains the watched memory */
};

enum access_result {
	ACCESS_PROVED,
	ACCESS_NO_CODE, /* no code is known where the thread is */
	ACCESS_NONE,	/* no instruction that leads there accesses it */
	ACCESS_SEVERAL, /* more than one may have */
	ACCESS_JUMP, /* a jump or a return that has read its target there; where it is isn't known
		      */
	ACCESS_RESULTS
};
extern const char *const access_result_text[ACCESS_RESULTS]; /* NULL for PROVED */

struct accessor {
	uint8_t result; /* enum access_result; PROVED: the following is known */
	struct access_place place;
	uint64_t vaddr; /* of the instruction */
	uint8_t len;
	bool writes, reads;
	uint8_t known; /* which of the watched bytes were stored as in value: one bit each */
	uint64_t value;
};

/* Decodes functions when they are asked for, and keeps them. at returns false if an address is in
 * no known object. */
struct accesses;
struct accesses *accesses__new(bool (*at)(void *ctx, uint64_t addr, struct access_place *out),
			       void *ctx);
void accesses__free(struct accesses *a);
void accesses__find(struct accesses *a, const struct access_hit *hit, struct accessor *out);

#endif
