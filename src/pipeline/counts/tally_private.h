/* SPDX-License-Identifier: BSD-2-Clause */
/* tally_private: the state that tally.c, tally_change.c and tally_part.c share. */
#ifndef BBTRACE_PIPELINE_COUNTS_TALLY_PRIVATE_H
#define BBTRACE_PIPELINE_COUNTS_TALLY_PRIVATE_H

#include "tally.h"
#include "target_sums.h"

/* Addresses that changed their meaning since the counts were given last. */
struct replaced {
	uint64_t start, end;
	uint32_t pid;
};

/* The plan before the present change. */
struct tally_before {
	bool *traced; /* by function */
	struct plan_block *blocks;
	size_t nfunctions, nblocks, nsites, ntable;
};

struct tally {
	const struct plan *plan;
	struct trace *trace;
	size_t nsites;		    /* of the plan when its counting began */
	struct site_count *counted; /* by site: counts of the site's own probe */
	struct target_sums targets;
	/* by target: the part of its count that is in earlier; missing rows: 0 */
	VEC(uint64_t) passed_on;
	VEC(struct plan_cut) cuts;
	VEC(struct replaced) replaced;
	bool *retired;			    /* by site */
	struct plan_counts earlier;	    /* from before the last change of the plan; solved */
	struct plan_counts edges;	    /* as given last */
	struct tally_before *before_change; /* NULL if the plan isn't changing */
	struct tally_parts *parts;	    /* NULL if tally__part() was never called */
	uint64_t hits, before;		    /* of all hits; of the events before the last reset */
	uint64_t cut;			    /* number of threads and of signal handlers */
	/* hash of thread, interrupted instruction and stack pointer -> number of cuts that are
	 * theirs */
	struct map64 handlers;
	/* pid << 32 | tid -> the instruction whose fault is about to end the thread */
	struct map64 faults;
};

/* Forgets what tally__part() has returned. */
void tally__forget_parts(struct tally *t);
/* Solves the counts since the last change of the plan. The caller frees out. */
void tally__solve(const struct tally *t, struct plan_counts *out);
/* Clears the counts of functions that are no longer traced, without making others uncertain. */
void tally__forget_untraced(const struct tally *t, struct plan_counts *c);
void tally_before__free(struct tally_before *b);

#endif
