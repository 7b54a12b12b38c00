/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merged_plan: several trace files as one. Its plan grows from file to file; steps and counts of a
 * file become those of this plan.
 */
#ifndef BBTRACE_PIPELINE_READ_MERGED_PLAN_H
#define BBTRACE_PIPELINE_READ_MERGED_PLAN_H

#include "cli/request.h"

struct merged_plan;
struct merged_plan *merged_plan__new(bool by_symbol);
void merged_plan__free(struct merged_plan *j);
/* Of all files so far. It lives as long as j. */
const struct plan *merged_plan__plan(const struct merged_plan *j);
/* What was extended is told from now on. */
void merged_plan__report(struct merged_plan *j,
			 int (*extended)(void *ctx, const struct plan_increment *i), void *ctx);

/* The next file begins. Its times become those of the first one's clock, by the real time. */
void merged_plan__begin_file(struct merged_plan *j, int64_t realtime_offset);
/*
 * Its plan, and again when that was extended. objects: of the file. -EXDEV: it can't be joined, and
 * the message says why.
 */
int merged_plan__take_plan(struct merged_plan *j, const struct plan *p);
/* Which function of the joined plan this one of the file's plan is. */
uint32_t merged_plan__function(const struct merged_plan *j, uint32_t function);
/*
 * The same step in the joined plan: *room, valid until the next call. Names of places, of the
 * stack, too, live as long as j: nothing of a kept_step of it is the file's, which may be freed.
 */
const struct step *merged_plan__step(struct merged_plan *j, const struct step *step,
				     struct step *room);
/* Adds up counts of the file. */
void merged_plan__add(struct merged_plan *j, const struct plan *p, const struct edge_counts *c);
/* Does the joined plan borrow from the file, so that it has to stay? Then what it has of it is
 * dropped. */
bool merged_plan__end_file(struct merged_plan *j);

/* All that was added up since the last merged_plan__clear(). Valid until the next call. */
struct edge_counts merged_plan__counts(const struct merged_plan *j);
void merged_plan__clear(struct merged_plan *j);
/* Functions of other builds that were found by their symbols, and those that stay apart. */
void merged_plan__mapped(const struct merged_plan *j, uint64_t *mapped, uint64_t *apart);

#endif
