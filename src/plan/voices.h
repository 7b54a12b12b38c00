/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * voices: what speaks first on each way on from a block. Private to src/plan, shared by witness.c
 * and placement.c.
 */
#ifndef BBTRACE_VOICES_H
#define BBTRACE_VOICES_H

#include "plan/build.h"

/* A voice: a site that ends a block, a probe in a block, a place where nothing speaks any more, a
 * silent circle. */
enum {
	VOICE_SITE,
	VOICE_BLOCK = 1u << 30,
	VOICE_END = 2u << 30,
	VOICE_CYCLE = 3u << 30,
	VOICE_RET, /* a silent ret: what is heard next is outside of the call, whichever ret it was
		    */
};

struct voices {
	struct plan *p;
	bool *speaks;	/* by block: an entry or a witness in it carries a probe */
	bool *calls;	/* by block: ends in a call of a function whose entry speaks */
	uint8_t *state; /* by block, of the search in progress */
	VEC(uint32_t) touched;
	VEC(uint32_t) heard; /* the answer of voices__from() */
};

void voices__init(struct voices *v, struct plan *p);
void voices__free(struct voices *v);
/* Fills v->heard with what speaks first when control goes to block. */
void voices__from(struct voices *v, uint32_t block);
/* Ways on from the end of a block whose branch is silent, each once. Caller frees *list. */
void voices__ways(const struct plan *p, uint32_t block, uint32_t **list, size_t *n);
/* The first two ways that say the same, or fall silent in a circle; false: there are none. */
bool voices__conflict(struct voices *v, const uint32_t *ways, size_t n, size_t *one, size_t *other);
/*
 * Puts a witness into the block: a probe on an instruction of it, one that the kernel emulates if
 * there is one (only: if there is none, then nothing). False: it has one, or has no room for one.
 */
bool voices__add_witness(struct voices *v, uint32_t block, bool emulated_only);
/* Takes the last one added back. */
void voices__drop_witness(struct voices *v);
/* Sorts the sites and tells everybody their numbers, after witnesses were added. */
void voices__renumber(struct plan *p);

#endif
