/* SPDX-License-Identifier: BSD-2-Clause */
/* target_sums: sums of how often each site led to each target. */
#ifndef BBTRACE_PIPELINE_COUNTS_TARGET_SUMS_H
#define BBTRACE_PIPELINE_COUNTS_TARGET_SUMS_H

#include "trace/trace.h"

struct target_sums {
	VEC(struct counted_target) rows; /* in the order in which they were first seen */
	struct map64 by_place;		 /* hash of site and place -> index + 1 */
};
/* Adds t's count to the row of its site and place, or adds t as a new row. */
void target_sums__add(struct target_sums *s, const struct counted_target *t);
void target_sums__clear(struct target_sums *s);

#endif
