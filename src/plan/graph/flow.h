/* SPDX-License-Identifier: BSD-2-Clause */
/* flow: control flow between blocks (flow.c). Public. */
#ifndef BBTRACE_PLAN_GRAPH_FLOW_H
#define BBTRACE_PLAN_GRAPH_FLOW_H

#include "plan/plan.h"

/*
 * Which blocks can follow a block, and which of these edges a probe reports. Placement removes
 * probes by this relation, and the replay reconstructs paths by it. Each outcome of a conditional
 * is a successor, even if both lead to one block. The successor of a call is the block after its
 * return.
 */
struct plan_flow {
	const struct plan *plan;
	uint32_t *out, *successors;  /* of block b: successors[out[b] ... out[b + 1]) */
	uint32_t *in, *predecessors; /* likewise */
	/* By block: an entry or a witness in it is probed, and hit whenever control enters. */
	bool *marked;
	bool *enters; /* by block: it ends in a direct call of a function whose entry is probed */
};
/* The plan must outlive it. Later changes of probes other than those of branches are not noticed:
 * the code that places witnesses updates marked. */
void plan_flow__init(struct plan_flow *f, const struct plan *p);
void plan_flow__free(struct plan_flow *f);
static inline const uint32_t *plan_flow__successors(const struct plan_flow *f, uint32_t block)
{
	return f->successors + f->out[block];
}
static inline uint32_t plan_flow__count(const struct plan_flow *f, uint32_t block)
{
	return f->out[block + 1] - f->out[block];
}
/* Returns true if an event reports what follows this block: that of the branch at its end, or of
 * the entry that it calls. */
bool plan_flow__is_probed(const struct plan_flow *f, uint32_t block);
/* Returns true if control can leave the block, without an event, for a place that is no
 * successor. */
bool plan_flow__is_open(const struct plan_flow *f, uint32_t block);
/* Returns true if the block ends in an unprobed ret. */
bool plan_flow__is_unprobed_ret(const struct plan_flow *f, uint32_t block);

#endif
