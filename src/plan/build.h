/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build: what the files that make a plan share. Private to src/plan.
 */
#ifndef BBTRACE_PLAN_BUILD_H
#define BBTRACE_PLAN_BUILD_H

#include "code/code.h"
#include "plan/plan.h"

/* struct plan.priv */
struct plan_data {
	VEC(struct function)
	functions; /* owns the names and ranges that plan->functions points to */
};

/* One object's graph while its plan is made. */
struct emit {
	struct graph *g;
	struct plan *plan;
	const struct plan_options *options;
	uint32_t object;
	leader_vec leaders;
	uint32_t *block_of; /* by leader: plan block, NO_BLOCK */
	int32_t *deltas;
};

/* Appends the blocks and sites of one object to the plan; its functions are there already. */
void plan__emit(struct plan *p, uint32_t object, struct graph *g,
		const struct plan_options *options);

/* Adds the probes that tell apart the ways on from branches which can't carry one (witness.c). */
void witness__place(struct plan *p);
/* Takes away the probes of jumps and calls that what comes next implies; and of the conditionals
 * (placement.c). */
void placement__imply(struct plan *p);
void placement__choose(struct plan *p, const struct plan_options *options);
/* Takes away the probes of rets whose calls nothing but they can end. */
void placement__unprobe_rets(struct plan *p, const struct plan_options *options);

/* Finds the functions whose entries may carry no return probe (returns.c). */
void returns__check(struct plan *p);

#endif
