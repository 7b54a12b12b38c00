/* SPDX-License-Identifier: BSD-2-Clause */
/* frequency: how often each block runs, from an earlier run or estimated from the code. Private to
 * src/plan. */
#ifndef BBTRACE_PLAN_PLACEMENT_FREQUENCY_PRIVATE_H
#define BBTRACE_PLAN_PLACEMENT_FREQUENCY_PRIVATE_H

#include "plan/graph/flow.h"
#include "plan/plan_private.h"

struct frequency {
	double *of; /* by block: executions per call of its function */
};

/* Uses the branch weights if they are given; else loops and cold paths (Ball and Larus, "Branch
 * Prediction for Free", 1993; Wu and Larus, 1994). */
void frequency__estimate(struct frequency *f, const struct plan_flow *flow,
			 const struct plan_options *options);
void frequency__free(struct frequency *f);

#endif
