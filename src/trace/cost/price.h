/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hit costs, learned from samples by kind of hit (price.c). Pure. */
#ifndef BBTRACE_TRACE_COST_PRICE_H
#define BBTRACE_TRACE_COST_PRICE_H

#include "plan/placement/hits.h"
#include "plan/plan.h"

#define BATCH_FIRST 8
#define BATCH_MAX   64

/* ns: the median of a batch of samples, and what nine in ten of them don't exceed, but at least the
 * mean of all samples, which rare long ones determine. */
struct price {
	uint64_t usual, high;
};

struct prices {
	struct kind_price {
		struct price price;
		bool known;
		uint64_t sum, samples;	/* of all samples, also those left out of batches */
		uint32_t ns[BATCH_MAX]; /* the samples of the current batch: n, up to size */
		unsigned n, size, skip; /* skip: how many of the next samples are left out */
		uint64_t least; /* the shortest time from a hit to the thread's next one; 0 if none
				 */
	} of[HIT_KINDS];
	bool apart; /* Siblings don't stand in for each other. */
};

/* A hit of this kind took at most ns. */
void prices__bound(struct prices *p, enum hit_kind kind, uint64_t ns);
/* A hit of this kind took ns. */
void prices__sample(struct prices *p, enum hit_kind kind, uint64_t ns);
/* Sets the price of the kind. If it has none, its sibling's, or half that of a dearer kind with as
 * much spread, stands in. Returns false if none is known. */
bool prices__of(const struct prices *p, enum hit_kind kind, struct price *out);

#endif
