/* SPDX-License-Identifier: BSD-2-Clause */
/* loops: by which branch control left the loop that computed what a later branch tested: a search
 * that found nothing, a count, a position. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_JUDGE_LOOPS_H
#define BBTRACE_EXPLAIN_JUDGE_LOOPS_H

#include "explain/judge/calls.h"

/* The natural loops of a function. */
struct loops;
void loops__free(struct loops *l);

/*
 * Follows what a place depended on, before the n-th instruction of the block at this index of the
 * path, backward over the path, up to where control left a loop that changes it. Sets the index of
 * the block that ends in the branch by which it left. Returns false if there is none.
 */
bool loops__exit(struct slicing *s, size_t at, size_t n, place_t place, size_t *out);

#endif
