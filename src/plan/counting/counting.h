/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting: which counts follow from those of probes. Part of the public headers of src/plan; uses
 * the data and the lookups of plan.h. First: plan_counts__init(), plan_counts__solve(),
 * plan_counts__bound(). counting.c decides where probes count.
 */
#ifndef BBTRACE_PLAN_COUNTING_COUNTING_H
#define BBTRACE_PLAN_COUNTING_COUNTING_H

#include "plan/plan.h"

#define COUNT_UNKNOWN UINT64_MAX

enum count_low { LOW_TAKEN = 1, LOW_NOT_TAKEN = 2 };

/* How often a site was executed: for a conditional (JCC, LOOP) taken and not taken, for any other
 * in .taken. */
struct site_count {
	uint64_t taken, not_taken;
};

/*
 * A place where control appeared or disappeared: a thread was found here when counting began (came
 * 1), or ended here (came -1); or an indirect jump led here that has no such target in its table
 * (its count). vaddr is the first instruction that was, or was not, executed: the one whose probe
 * was hit last counts as executed.
 */
struct plan_cut {
	uint64_t vaddr;
	uint32_t object;
	int64_t came;
};

/*
 * Before plan_counts__solve(): what the PROBE_COUNT sites counted, by site; for an indirect jump
 * also each target, by plan_counts__jumped(). After it: the counts of all branch and entry sites,
 * blocks and tables; COUNT_UNKNOWN for those that don't follow.
 */
struct plan_counts {
	struct site_count *sites; /* by site */
	uint64_t *blocks;	  /* by block: how often its first instruction was executed */
	uint64_t *table;	  /* by index into plan->table: how often the jump led there */
	uint64_t *targets; /* by site: the jumps that plan_counts__jumped() was called with */
	VEC(struct plan_cut) cuts;
	uint8_t *low;	  /* by site, enum count_low: counts that are lower bounds (after bound) */
	uint64_t residue; /* by how much the counts contradict each other; 0 if they agree */
};
/* Allocates for the plan as it is now, all zero. */
void plan_counts__init(struct plan_counts *c, const struct plan *p);
void plan_counts__free(struct plan_counts *c);
/*
 * The indirect jump at this site led to this link-time address count times. object is UINT32_MAX
 * for code in no object of the plan. If the calls don't account for all its executions, its targets
 * are unknown. Ignored for indirect calls.
 */
void plan_counts__jumped(struct plan_counts *c, const struct plan *p, uint32_t site,
			 uint32_t object, uint64_t vaddr, uint64_t times);
/* Instead of solving, if sites have retired (by site): what was counted gives lower bounds. */
void plan_counts__bound(struct plan_counts *c, const struct plan *p, const bool *retired);
/* Adds the counts of another time, which are solved as well. What is not known in one of them is
 * not known in the sum. */
void plan_counts__join(struct plan_counts *sum, const struct plan_counts *more,
		       const struct plan *p);
/* Takes time linear in the size of the plan. */
void plan_counts__solve(struct plan_counts *c, const struct plan *p);

#endif
