/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frontier: the probes that control can reach first from a block, and the witnesses that make
 * frontiers disjoint. Private to src/plan, shared by witness.c and placement.c.
 */
#ifndef BBTRACE_PLAN_PLACEMENT_FRONTIER_PRIVATE_H
#define BBTRACE_PLAN_PLACEMENT_FRONTIER_PRIVATE_H

#include "plan/graph/flow.h"
#include "plan/plan_private.h"

/*
 * A member of a frontier: a site that ends a block, the probe at a block's start (FRONTIER_BLOCK |
 * block), an unprobed exit from the plan (FRONTIER_END | block), an unprobed cycle, or an unprobed
 * ret: after any of these rets the next event is outside of the call.
 */
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
	uint8_t *state; /* by block, of the current search */
	VEC(uint32_t) touched;
	VEC(uint32_t) members; /* the result of frontier__of() */
};

void frontier__init(struct frontier *f, struct plan *p);
void frontier__free(struct frontier *f);
/* Sets f->members to the frontier of block. */
void frontier__of(struct frontier *f, uint32_t block);
/* Sets the first two successors of a block, by their indices, whose frontiers have a member in
 * common or that reach an unprobed cycle. Returns false if there are none. */
bool frontier__conflict(struct frontier *f, uint32_t block, uint32_t *one, uint32_t *other);
/* An instruction that may carry a witness, by preference. */
enum witness_place {
	PLACE_NONE,
	PLACE_READ, /* the program may read it: insn__may_be_read() */
	PLACE_STEPPED,
	PLACE_EMULATED, /* by the kernel */
};
/* Puts a witness into the block: a probe on the best of its instructions. Returns false if the
 * block already has a witness, or if no instruction is as good as least. */
bool frontier__add_witness(struct frontier *f, uint32_t block, enum witness_place least);
/* Removes the witness that was added last. */
void frontier__drop_witness(struct frontier *f);

#endif
