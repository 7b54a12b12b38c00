/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet: where control surely comes to, whichever way it goes: post-dominators of a plan's blocks.
 * Public.
 */
#ifndef BBTRACE_PLAN_MEET_H
#define BBTRACE_PLAN_MEET_H

#include <stdbool.h>
#include <stdint.h>

struct plan;

/* Of the functions that were asked for so far. The plan must outlive it, and stay as it is. */
struct plan_meets;
struct plan_meets *plan_meets__new(const struct plan *p);
void plan_meets__free(struct plan_meets *m);
/*
 * The first branch to which every way leads from both blocks to the end of their function (the
 * nearest common post-dominator; of ways that end in a call that doesn't return, nothing is asked).
 * NO_SITE: there is none, or the ways are not all known, or the blocks are of two functions.
 */
uint32_t plan_meets__site(struct plan_meets *m, uint32_t a, uint32_t b);
/* The block that control is in after a branch of that outcome; of an indirect jump, at that
 * link-time address; of a call, after it. NO_BLOCK: not known, or outside of the plan. */
uint32_t plan__block_after(const struct plan *p, uint32_t site, bool taken, uint64_t vaddr);

#endif
