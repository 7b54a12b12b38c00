/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frontier: the probes that control can reach first from a block, and the witnesses that keep
 * frontiers apart. Private to src/plan, shared by witness.c and placement.c.
 */
#ifndef BBTRACE_PLAN_FRONTIER_H
#define BBTRACE_PLAN_FRONTIER_H

#include "plan/build.h"

/* A member of a frontier: a site that ends a block, the probe at a block's start (FRONTIER_BLOCK |
 * block), a place where control leaves the plan untold (FRONTIER_END | block), an unprobed cycle,
 * an unprobed ret: what is reported next lies outside of the call, whichever ret it was. */
enum {
	FRONTIER_SITE,
	FRONTIER_BLOCK = 1u << 30,
	FRONTIER_END = 2u << 30,
	FRONTIER_CYCLE = 3u << 30,
	FRONTIER_RET,
};

struct frontier {
	struct plan *p;
	struct plan_flow flow;
	uint8_t *state; /* by block, of the search in progress */
	VEC(uint32_t) touched;
	VEC(uint32_t) members; /* the answer of frontier__of() */
};

void frontier__init(struct frontier *f, struct plan *p);
void frontier__free(struct frontier *f);
/* Fills f->members with what is reported first when control enters block. */
void frontier__of(struct frontier *f, uint32_t block);
/* The first two successors of a block whose frontiers have a member in common, or that reach an
 * unprobed cycle: as indices from the first successor. False: there are none. */
bool frontier__conflict(struct frontier *f, uint32_t block, uint32_t *one, uint32_t *other);
/*
 * Puts a witness into the block: a probe on an instruction of it, one that the kernel emulates if
 * there is one (only: if there is none, then nothing). False: it has one, or has no room for one.
 */
bool frontier__add_witness(struct frontier *f, uint32_t block, bool emulated_only);
/* Takes the last one added back. */
void frontier__drop_witness(struct frontier *f);

#endif
