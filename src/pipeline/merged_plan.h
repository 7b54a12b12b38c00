/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * joined: several trace files as one. Its plan grows from file to file; steps and counts of a file
 * become those of this plan.
 */
#ifndef BBTRACE_CMD_JOINED_H
#define BBTRACE_CMD_JOINED_H

#include "cli/args.h"

struct joined;
struct joined *joined__new(bool by_symbol);
void joined__free(struct joined *j);
/* Of all files so far. It lives as long as j. */
const struct plan *joined__plan(const struct joined *j);
/* What was extended is told from now on. */
void joined__tell(struct joined *j, int (*extended)(void *ctx, const struct plan_increment *i),
		  void *ctx);

/* The next file begins. Its times become those of the first one's clock, by the real time. */
void joined__begin_file(struct joined *j, int64_t realtime_offset);
/*
 * Its plan, and again when that was extended. objects: of the file. -EXDEV: it can't be joined, and
 * the message says why.
 */
int joined__take_plan(struct joined *j, const struct plan *p);
/* Which function of the joined plan this one of the file's plan is. */
uint32_t joined__function(const struct joined *j, uint32_t function);
/*
 * The same step in the joined plan: *room, valid until the next call. Names of places, of the
 * stack, too, live as long as j: nothing of a kept_step of it is the file's, which may be freed.
 */
const struct step *joined__step(struct joined *j, const struct step *step, struct step *room);
/* Adds up counts of the file. */
void joined__add(struct joined *j, const struct plan *p, const struct edge_counts *c);
/* Does the joined plan borrow from the file, so that it has to stay? Then what it has of it is
 * dropped. */
bool joined__end_file(struct joined *j);

/* All that was added up since the last joined__clear(). Valid until the next call. */
struct edge_counts joined__counts(const struct joined *j);
void joined__clear(struct joined *j);
/* Functions of other builds that were found by their symbols, and those that stay apart. */
void joined__mapped(const struct joined *j, uint64_t *mapped, uint64_t *apart);

#endif
