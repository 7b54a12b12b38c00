/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges: the counts of branches, one by one, for the counting rows of text and JSON. Private to
 * src/output.
 */
#ifndef BBTRACE_OUTPUT_STATS_EDGES_H
#define BBTRACE_OUTPUT_STATS_EDGES_H

#include "stats.h"

/* Renders one branch with its counts. */
typedef void (*put_edge_fn)(struct output *o, const struct plan_site *s, const struct location *at,
			    const struct stats_site *counts);
/* Branches whose count is 0, and functions of which every branch is one. */
struct edges_zero {
	uint64_t branches, functions;
};
/* Ends the stats and renders every branch that is shown, in the plan's order; if left_out isn't
 * NULL, without those whose count is 0, which it counts. 0, or -errno of a failed write. */
int edges__put(struct output *o, put_edge_fn put, struct edges_zero *left_out);

#endif
