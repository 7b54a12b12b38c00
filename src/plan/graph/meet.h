/* SPDX-License-Identifier: BSD-2-Clause */
/* meet: where control is sure to arrive, whichever path it takes: the post-dominators of a plan's
 * blocks. Public. */
#ifndef BBTRACE_PLAN_GRAPH_MEET_H
#define BBTRACE_PLAN_GRAPH_MEET_H

#include <stdbool.h>
#include <stdint.h>

struct plan;

/* The trees of the functions that were asked for so far. The plan must outlive it, and must not
 * change. */
struct plan_meets;
struct plan_meets *plan_meets__new(const struct plan *p);
void plan_meets__free(struct plan_meets *m);
/*
 * Returns the first branch to which every path from both blocks to the end of their function leads
 * (the nearest common post-dominator; paths that end in a call that doesn't return don't count).
 * NO_SITE: there is none, or not all paths are known, or the blocks are of two functions.
 */
uint32_t plan_meets__site(struct plan_meets *m, uint32_t a, uint32_t b);
/*
 * Returns the block that control is in after a branch of that outcome; after an indirect jump, that
 * at the link-time address; after a call, that after it. NO_BLOCK: not known, or outside of the
 * plan.
 */
uint32_t plan__block_after(const struct plan *p, uint32_t site, bool taken, uint64_t vaddr);

#endif
