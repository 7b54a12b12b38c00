/* SPDX-License-Identifier: BSD-2-Clause */
/* sampled: functions by their samples, for summary and top. */
#ifndef BBTRACE_OUTPUT_TEXT_SAMPLED_H
#define BBTRACE_OUTPUT_TEXT_SAMPLED_H

#include "output/stats/stats.h"

/* A function in the samples of all, of a thread, of a CPU. */
struct sampled {
	uint32_t scope, function;
	uint64_t self, total;
};
typedef VEC(struct sampled) sampled_vec;

/* Of all threads together; the caller frees both. */
struct sampled_all {
	sampled_vec functions; /* most samples of its own first */
	uint64_t *threads;     /* samples of each thread of the stats */
};
struct sampled_all sampled__all(const struct stats *p);
void sampled__put_name(struct output *o, uint32_t function);
/* Calls fn with the stacks, of all threads of one name together, that have most samples. Returns
 * how many stacks there are. */
size_t sampled__each_stack(struct output *o, size_t most,
			   void (*fn)(struct output *o, const stats_nodes *nodes,
				      const struct stats_node *n));

#endif
