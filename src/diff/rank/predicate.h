/* SPDX-License-Identifier: BSD-2-Clause */
/* predicate: what is true of runs by a number that each of them has. Private to src/diff. */
#ifndef BBTRACE_DIFF_RANK_PREDICATE_H
#define BBTRACE_DIFF_RANK_PREDICATE_H

#include "diff/diff.h"

/* A run's number: n, or of a share n / all. */
struct run_value {
	uint64_t n, all;
	uint32_t run;
	bool fails;
};

struct predicate {
	enum rank_how how;
	size_t cut;		/* of the sorted values: the first, or the last, that is in */
	size_t runs[RANK_SETS]; /* of which it is true */
	double nats; /* the information that it gives, less what its choice costs; < 0: there is
			none */
};

/* n ln n, by n. */
struct logs {
	double *of;
	size_t n;
};
void logs__init(struct logs *l, size_t most);
void logs__free(struct logs *l);
/* Returns the information that can be had at most. */
double logs__all(const struct logs *l, const size_t *of);

/* Sorts the values, by n; shares: by n / all, which isn't 0. */
void values__sort(struct run_value *values, size_t n, bool shares);
/* Returns the best predicate about executions of sorted values; thresholds: also those that have
 * one. of: the runs for which it is known. */
struct predicate predicate__of_counts(const struct logs *l, const struct run_value *values,
				      size_t n, const size_t *of, bool thresholds);
/* The same for shares; the runs that have none count as false. */
struct predicate predicate__of_shares(const struct logs *l, const struct run_value *values,
				      size_t n, const size_t *of);
/* The shortest percentage that has the values at the cut on one side and all others on the other.
 */
double predicate__percent(const struct predicate *p, const struct run_value *values, size_t n,
			  unsigned *decimals);

#endif
