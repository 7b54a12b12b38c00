/* SPDX-License-Identifier: BSD-2-Clause */
/* align: shared by what aligns two paths. Private to src/diff. */
#ifndef BBTRACE_DIFF_ALIGN_H
#define BBTRACE_DIFF_ALIGN_H

#include "diff/paths.h"

/* How many equal outcomes of a call count as the same path. */
#define SEARCH_SAME 8

struct aligning {
	struct diff *d;
	struct thread_pair threads;
	struct path_cursor at[SIDES];
	diff_frames frames;
	uint64_t same;		 /* outcomes */
	int64_t last_depth;	 /* of the call where they met last; -2: nowhere yet */
	uint64_t since;		 /* outcomes that were the same since then */
	struct parting *parting; /* the parting that is being passed; NULL for none */
};

/* Returns the next item of a path; NULL at the end. */
const struct path_item *aligning__peek(const struct aligning *a, struct path_cursor *c);
/* Skips it, as one of what a side takes alone. */
void aligning__pass(struct aligning *a, int side);
const struct outcome *aligning__outcome(const struct aligning *a, const struct path_item *i);
/* The depth of the call that an item is of; an entry is of the call that it is made from. -1: of no
 * call. */
int64_t aligning__frame_of(const struct aligning *a, const struct path_item *i);

/* Advances to where the same outcomes follow on both sides, in the call of this depth (search.c).
 * Returns false if there are none nearby; then nothing was passed. */
bool search__meet(struct aligning *a, int64_t depth);
/* Returns true if either side soon reaches this branch, in the call of this depth; false for
 * NO_SITE. */
bool search__is_near(const struct aligning *a, int64_t depth, uint32_t site);

#endif
