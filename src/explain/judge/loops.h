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

/* Returns true if control left a loop by the branch at this index of the path, and the block at the
 * other index is of that loop. */
bool loops__left(struct slicing *s, size_t at, size_t inside);

/*
 * Of a place that kept its value in the loop that control left at this index of the path: the last
 * branch before that after which the loop's round could no longer change it, while its other side
 * could. Returns false if there is none.
 */
bool loops__unchanged(struct slicing *s, size_t exit, place_t place, size_t *out);

/*
 * Follows what a place depended on likewise, up to the last call of a traced function whose result
 * is a part of it: of a sum, of flags, of the largest one. Results of 0 are passed over. Sets the
 * index of the block that ends in the call. Returns false if there is none.
 */
bool loops__part(struct slicing *s, size_t at, size_t n, place_t place, size_t *out);

#endif
