/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs: how often each block ran, by a profile: what its branch counts, or what led to it. Private
 * to src/output; pure. A figure that can't be told from what was observed is RUNS_UNKNOWN.
 */
#ifndef BBTRACE_RUNS_H
#define BBTRACE_RUNS_H

#include "output/stats.h"

#define RUNS_UNKNOWN UINT64_MAX

struct runs {
	const struct stats *stats;
	uint64_t *blocks; /* by index as plan->blocks */
	uint64_t *most;	  /* by function: how often the hottest of its blocks ran */
	bool known;	  /* branches were recorded: else all is unknown */
	bool all;	  /* nothing was traced: every function is to be shown */
};

void runs__init(struct runs *r, const struct stats *p, const struct output_options *options);
void runs__free(struct runs *r);

/* How often control went on to the block behind: not taken, fell through. Behind a call it is not
 * known. */
uint64_t runs__next(const struct runs *r, uint32_t block);
/* The block of the plan that a target of a branch starts; NO_BLOCK: none. */
uint32_t runs__block_of(const struct plan *plan, const struct location *to);
/* Did anything of the function run, as far as was seen? Or is there nothing to see? */
bool runs__ran(const struct runs *r, uint32_t function);

#endif
