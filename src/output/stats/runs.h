/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs: how often each block ran, from stats: the count of its branch, or of the edges into it.
 * Private to src/output; pure. Counts that can't be derived are RUNS_UNKNOWN.
 */
#ifndef BBTRACE_OUTPUT_STATS_RUNS_H
#define BBTRACE_OUTPUT_STATS_RUNS_H

#include "stats.h"

#define RUNS_UNKNOWN UINT64_MAX

struct runs {
	const struct stats *stats;
	uint64_t *blocks; /* by index as plan->blocks */
	uint64_t *most;	  /* by function: the count of its hottest block */
	bool known;	  /* branches were recorded; else all is unknown */
	bool all;	  /* nothing was traced: show every function */
};

void runs__init(struct runs *r, const struct stats *p, const struct output_options *options);
void runs__free(struct runs *r);

/* How often control fell through to the next block. Unknown after a call. */
uint64_t runs__next(const struct runs *r, uint32_t block);
/* Returns the block of the plan at a branch target; NO_BLOCK if there is none. */
uint32_t runs__block_of(const struct plan *plan, const struct location *to);
/* Returns true if any block of the function ran, or if its count is unknown. */
bool runs__ran(const struct runs *r, uint32_t function);

#endif
