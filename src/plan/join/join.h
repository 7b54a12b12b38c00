/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join: the plans of several traces as one, so that what they counted can be added up. Uses the
 * data and the lookups of plan.h. First: plan__join(), plan_counts__add().
 *
 * Objects are the same if their build-ids are; without build-ids, if their paths and the code of
 * their functions are. Functions, blocks and sites are the same if they are at the same place of
 * the same object. The kernel and its modules may be at other addresses after each boot.
 */
#ifndef BBTRACE_PLAN_JOIN_JOIN_H
#define BBTRACE_PLAN_JOIN_JOIN_H

#include "object/lookup/lookup.h"
#include "plan/counting/counting.h"
#include "plan/values/values.h"
#include "util/util.h"

struct plan;
struct plan_counts;
struct plan_increment;

/* A block of the joined plan that was cut in two: in another trace, control enters the second
 * part. */
struct plan_split {
	uint32_t block, rest;
};

/* The numbers, in the joined plan, of another plan's rows, by their numbers there. */
struct plan_numbers {
	uint32_t *objects, *functions, *sites, *named;
	uint32_t *blocks; /* the first of the blocks that it consists of, which follow by address */
	bool *by_symbol;  /* by function: it was found by its symbol, in an object of another build
			   */
	uint64_t *shifts; /* by function: its address in the joined plan minus that in the other */
	/*
	 * By function: the values of the joined plan aren't this one's. Then these arrays have, for
	 * what this plan loaded at an entry and at a return, 1 + its index among what is loaded
	 * there in the joined plan.
	 */
	bool *untyped;
	uint8_t (*fetched)[2][VALUES_FETCHED];
	VEC(struct plan_split) splits; /* the blocks that the increment cuts in two */
	/* ranges that the increment borrows, too; the caller frees them */
	VEC(struct range *) ranges;
	/* by_symbol: the number of functions of other builds that were found, and of those that
	 * weren't */
	uint32_t mapped, apart;
	/* by_symbol: the name of the only file that has no namesake in the joined plan, and the one
	 * there that it is taken for. Borrowed; NULL if there is none. */
	const char *renamed, *was;
};
void plan_numbers__free(struct plan_numbers *n);

/*
 * Fills in what all lacks of p, and the numbers after plan__extend(). Nothing is lacking if
 * more->rows has no functions, sites, blocks and lines. What all borrows must live as long as it: p
 * and its objects.
 *
 * by_symbol: functions of an object of another build are considered the same if their names are,
 * and their blocks and branches correspond; others are functions of an object of their own.
 *
 * Returns -EXDEV if the architecture is another one, or an object is of another build; the message
 * has both build-ids.
 */
int plan__join(const struct plan *all, const struct plan *p, bool by_symbol,
	       struct plan_increment *more, struct plan_numbers *numbers);
/* Returns true if there is nothing to extend the plan by. */
bool plan_increment__is_empty(const struct plan_increment *i);

/* What isn't known of one of two times isn't known of their sum. */
static inline void count__add(uint64_t *sum, uint64_t more)
{
	*sum = *sum == COUNT_UNKNOWN || more == COUNT_UNKNOWN ? COUNT_UNKNOWN : *sum + more;
}

/* Makes room in counts of the joined plan, after it was extended from these sizes. */
void plan_counts__extend(struct plan_counts *c, size_t sites, size_t blocks, size_t table,
			 const struct plan *all, const struct plan_numbers *n);
/* Adds counts of the other plan, except for where jump tables led: the caller adds these. */
void plan_counts__add(struct plan_counts *sum, const struct plan *all,
		      const struct plan_counts *more, const struct plan *p,
		      const struct plan_numbers *n);
/* Returns the number of entries and branches that were counted. */
uint64_t plan_counts__events(const struct plan_counts *c, const struct plan *p);

#endif
