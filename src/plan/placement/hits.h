/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of hits, by their costs. Public. */
#ifndef BBTRACE_PLAN_PLACEMENT_HITS_H
#define BBTRACE_PLAN_PLACEMENT_HITS_H

#include "plan/plan.h"

/* Kinds of hits that cost about the same (hits.c). */
enum hit_kind {
	HIT_ONE_TRAP, /* of a branch or a witness that the kernel emulates */
	HIT_TWO_TRAPS,
	HIT_ENTRY_ONE, /* of an entry, whose record is larger */
	HIT_ENTRY_TWO,
	HIT_RETURN, /* of a return probe */
	HIT_KERNEL,
	HIT_KERNEL_ENTRY,
	HIT_KERNEL_TWICE, /* of an entry that has a return probe, too */
	HIT_KERNEL_RETURN,
	HIT_KINDS /* not known */
};
/* returns: the hit was that of the site's return probe. */
enum hit_kind plan__hit_kind(const struct plan *p, uint32_t site, bool returns);
/* Returns the kind that costs nearly the same; HIT_KINDS if there is none. */
enum hit_kind hit_kind__sibling(enum hit_kind kind);
/* Returns the kind with one more trap; HIT_KINDS if there is none. */
enum hit_kind hit_kind__dearer(enum hit_kind kind);

#endif
