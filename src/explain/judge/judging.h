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
	bool fails;	    /* leave out branches that have chosen one of several failures */
	bool chose_failure; /* the one that decided has */
};

/* Returns true if the verdict is on the function that was called, not on one that this function has
 * called. */
bool verdict__is_of_callee(const struct plan *p, const struct item *it, const struct verdict *v);
/* Notes what the branch, or the instruction that chose, has tested: a function's result, what was
 * loaded, what a loop computed. */
void judging__find_tested(struct judging *j);
/* Control left a loop by the branch at this index of the path. */
void judging__note_loop(struct judging *j, size_t at);
/* Of a value that could not be followed to where it came about: notes what a traced function, or
 * another thread, had to do with it. */
void judging__find_part(struct judging *j);
void judging__find_joined(struct judging *j);

#endif
