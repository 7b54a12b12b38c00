/* SPDX-License-Identifier: BSD-2-Clause */
/* judging: a call while it is judged; shared by judge.c and tested.c. */
#ifndef BBTRACE_EXPLAIN_JUDGE_JUDGING_H
#define BBTRACE_EXPLAIN_JUDGE_JUDGING_H

#include "explain/judge/calls.h"

struct judging {
	struct slicing s;
	path_vec path;
	struct ending ending;
	struct tracked *track; /* by index into path: where the value was */
	struct verdict *v;
	bool unread; /* code that matters could not be read */
	/* The value matters, not that control reached the end: branches after the value came about
	 * that lead past the end decide nothing. */
	bool of_value;
};

/* Returns true if the verdict is on the function that was called, not on one that this function has
 * called. */
bool verdict__is_of_callee(const struct plan *p, const struct item *it, const struct verdict *v);
/* Notes what the branch, or the instruction that chose, has tested: a function's result, what was
 * loaded, what a loop computed. */
void judging__find_tested(struct judging *j);

#endif
