/* SPDX-License-Identifier: BSD-2-Clause */
/* merged_plan: several trace files as one. Its plan grows from file to file; steps and counts of
 * a file become those of this plan. */
#ifndef BBTRACE_PIPELINE_READ_MERGED_PLAN_H
#define BBTRACE_PIPELINE_READ_MERGED_PLAN_H

#include "cli/request.h"

struct merged_plan;
struct merged_plan *merged_plan__new(bool by_symbol);
void merged_plan__free(struct merged_plan *j);
/* Returns the plan of all files so far, which lives as long as j. */
const struct plan *merged_plan__plan(const struct merged_plan *j);
/* From now on, calls extended for each increment of the plan. */
void merged_plan__report(struct merged_plan *j,
			 int (*extended)(void *ctx, const struct plan_increment *i), void *ctx);

/* Begins the next file. Its times are converted to the clock of the first file, by the real
 * time. */
void merged_plan__begin_file(struct merged_plan *j, int64_t realtime_offset);
/* Takes the plan of the file, and again when that was extended. -EXDEV with a message that has
 * the reason if it can't be merged. */
int merged_plan__take_plan(struct merged_plan *j, const struct plan *p);
/* Returns the function of the merged plan for one of the file's plan. */
uint32_t merged_plan__function(const struct merged_plan *j, uint32_t function);
/*
 * Returns the same step in the merged plan: *room, valid until the next call. Names of places, also
 * in stacks, live as long as j: a kept_step of it has nothing of the file, which may be freed.
 */
const struct step *merged_plan__step(struct merged_plan *j, const struct step *step,
				     struct step *room);
/* Adds up counts of the file. */
void merged_plan__add(struct merged_plan *j, const struct plan *p, const struct edge_counts *c);
/* Ends the file. Returns true if the merged plan borrows from it, so that it has to stay; else
 * the merged plan has dropped all it had of it. */
bool merged_plan__end_file(struct merged_plan *j);

/* Returns all that was added since the last merged_plan__clear(). Valid until the next call. */
struct edge_counts merged_plan__counts(const struct merged_plan *j);
void merged_plan__clear(struct merged_plan *j);
/* Sets the numbers of functions of other builds that were found by symbol, and of those that
 * stay apart. */
void merged_plan__mapped(const struct merged_plan *j, uint64_t *mapped, uint64_t *apart);
/* Returns the name of a file of the last plan that was taken for one of another name, and sets
 * that; NULL if none was. */
const char *merged_plan__renamed(const struct merged_plan *j, const char **was);

#endif
