/* SPDX-License-Identifier: BSD-2-Clause */
/* frequency: how often does each block run, by an earlier run or guessed from the code. Private to
 * src/plan. */
#ifndef BBTRACE_FREQUENCY_H
#define BBTRACE_FREQUENCY_H

#include "plan/build.h"

struct frequency {
	double *of; /* by block: runs for each run of its function */
};

/* By the profile where there is one; else by loops and ways that end badly (Ball and Larus, "Branch
 * Prediction for Free", 1993; Wu and Larus, 1994). */
void frequency__estimate(struct frequency *f, const struct plan_flow *flow,
			 const struct plan_options *options);
void frequency__free(struct frequency *f);

#endif
