/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acyclic: the whole paths of functions, cut at the back edges of loops (Ball and Larus, "Efficient
 * Path Profiling", MICRO 1996). Public.
 *
 * A path begins at a function's entry or after a back edge, and ends where the call ends or with
 * the next back edge. Each has a number, from 1.
 */
#ifndef BBTRACE_PLAN_GRAPH_ACYCLIC_H
#define BBTRACE_PLAN_GRAPH_ACYCLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;

enum path_edge {
	PATH_GOES_ON,
	PATH_LOOPS,   /* a back edge */
	PATH_ENDS,    /* control leaves the function, by a ret or a tail call */
	PATH_NO_EDGE, /* the function has no such edge */
};

/* The edge by which control leaves a block. WAY_TAKEN: also by a jump. WAY_NOT_TAKEN: also after a
 * call, and where there is no branch. */
#define WAY_NOT_TAKEN  0u
#define WAY_TAKEN      1u
#define WAY_OUT	       2u	     /* out of the function: by a ret, or an indirect jump */
#define WAY_TO(block)  ((block) + 3) /* by an indirect jump */
#define WAY_BLOCK(way) ((way)-3)
#define PATHS_MANY     UINT64_MAX

/* The graphs of the functions that were asked for so far. The plan must outlive it. */
struct acyclic;
struct acyclic *acyclic__new(const struct plan *p);
void acyclic__free(struct acyclic *a);
/*
 * In a call of this function, control transfers from a block to another one (NO_BLOCK: out of the
 * plan). An edge that the plan doesn't have, of an indirect jump whose targets aren't known, is cut
 * as a back edge is.
 */
enum path_edge acyclic__leave(struct acyclic *a, uint32_t function, uint32_t from, bool taken,
			      uint32_t to, uint32_t *way);
/* Returns the number of paths that may exist; PATHS_MANY if it has too many digits. */
uint64_t acyclic__paths(struct acyclic *a, uint32_t function);
/* Returns true if there are indirect jumps not all of whose targets are known. Then there may be
 * more paths. */
bool acyclic__is_open(struct acyclic *a, uint32_t function);
/*
 * Return the number of the first path that begins at the entry; of the first one after back edges
 * to a block; and what leaving a block this way adds to a path's number. PATHS_MANY: there is none,
 * or it has too many digits.
 */
uint64_t acyclic__at_entry(struct acyclic *a, uint32_t function);
uint64_t acyclic__at_loop(struct acyclic *a, uint32_t function, uint32_t block);
uint64_t acyclic__value(struct acyclic *a, uint32_t function, uint32_t block, uint32_t way);
/* By function: code of other functions may jump into the middle of it. The caller frees it. */
bool *plan__is_jumped_into(const struct plan *p);
/* By site, p->sites.len of them: its event shows when an iteration of a loop ends. The caller frees
 * it. */
bool *plan__ends_iterations(const struct plan *p);

#endif
