/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * passing: which ways the branches of a run that passes have gone, for a comparison with one that
 * fails: a branch by which both came is no reason by itself. Pure. The memory may be shared by
 * processes: the run that passes is made in one of its own.
 */
#ifndef BBTRACE_EXPLAIN_PASSING_H
#define BBTRACE_EXPLAIN_PASSING_H

#include "plan/plan.h"

enum { WENT_TAKEN = 1, WENT_ON = 2 };

#define PASSING_SLOTS (1u << 20)
struct passing {
	bool complete; /* the run was traced, and has passed */
	bool full;     /* there are more branches than slots */
	uint32_t n;
	uint64_t slots[PASSING_SLOTS]; /* a hash of the place, with the ways in its low bits */
};

void passing__note(struct passing *p, const struct plan *plan, uint32_t site, bool taken);
/* Sets the ways that the branch has gone there: 0 if it was not executed. Returns false if that
 * isn't known. p may be NULL. */
bool passing__went(const struct passing *p, const struct plan *plan, uint32_t site, unsigned *out);
/* Returns how the passing run went there, in words: for text, and a name for JSON; NULL if that
 * isn't known. */
const char *passing__words(const struct passing *p, const struct plan *plan, uint32_t site,
			   bool taken, const char **name);

#endif
