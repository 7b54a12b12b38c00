/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by tally.c and tally_change.c. */
#ifndef BBTRACE_PIPELINE_COUNTS_TALLY_PRIVATE_H
#define BBTRACE_PIPELINE_COUNTS_TALLY_PRIVATE_H

#include "tally.h"
#include "target_sums.h"

/* Addresses that got another meaning since the counts were given last. */
struct replaced {
	uint64_t start, end;
	uint32_t pid;
};

/* The plan before a change of it. */
struct tally_before {
	bool *traced; /* by function */
	struct plan_block *blocks;
	size_t nfunctions, nblocks, nsites, ntable;
};

struct tally {
	const struct plan *plan;
	struct trace *trace;
	size_t nsites;		    /* of the plan when counting of it began */
	struct site_count *counted; /* by site: its own probe's */
	struct target_sums targets;
	VEC(uint64_t) told; /* by target: what of its count is in earlier; none: 0 */
	VEC(struct plan_cut) cuts;
	VEC(struct replaced) replaced;
	bool *retired;			    /* by site */
	struct plan_counts earlier;	    /* before the plan changed last; solved */
	struct plan_counts edges;	    /* as given last */
	struct tally_before *before_change; /* NULL: the plan isn't changing */
	struct tally_parts *parts;	    /* NULL: tally__part() was not called */
	uint64_t hits, before;		    /* all of them; the events before the last reset */
	uint64_t cut;			    /* threads, and handlers of signals */
	struct map64 handlers; /* thread, instruction and stack pointer that they interrupted
				  -> how many of the cuts are theirs */
	struct map64 faults; /* pid << 32 | tid -> the instruction whose fault is about to end it */
};

/* Nothing was told of parts. */
void tally__forget_parts(struct tally *t);
/* What follows from the counts since the plan changed last. out is the caller's to free. */
void tally__solve(const struct tally *t, struct plan_counts *out);
/* Of functions that are no longer traced nothing is counted: that is no doubt. */
void tally__forget_untraced(const struct tally *t, struct plan_counts *c);
void tally_before__free(struct tally_before *b);

#endif
