/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold: lines that repeat, found as they come. Private to src/output.
 *
 * Lines of a thread that follow each other and then follow each other again become one group with a
 * count, and so do lines with such groups among them: nested loops fold from the inside out. What a
 * group expands to is exactly what came, times aside.
 *
 * Lines come out in the order in which they came, a group where its first line stood. A line is
 * held back while it may still become part of a group, but no more than FOLD_HELD lines in all are:
 * then the oldest comes out, a group with the count that it has reached.
 */
#ifndef BBTRACE_FOLD_H
#define BBTRACE_FOLD_H

#include "util/util.h"

#define FOLD_HELD 2048 /* lines */
#define FOLD_BODY 128  /* lines and groups of one body, at most */
#define FOLD_KEYS 6

struct fold_item {
	/* a line */
	struct str text; /* with \n */
	size_t columns;	 /* bytes of it that stand left of the tree */
	size_t times,
		time_end; /* [times, time_end) of it is a time, too: equal lines may differ there */
	unsigned indent;  /* bytes behind columns that are the tree's; of a group: its least */
	uint64_t key[FOLD_KEYS]; /* what must be equal besides the text */
	bool alone;		 /* never part of a group */

	/* a group: body repeats count times; count is 0 in a line */
	struct fold_item **body;
	size_t nbody;
	uint64_t count;

	/* both: when the earliest and latest of its timed steps were; for a group within a group:
	 * of the first time around */
	bool timed;
	uint64_t first, last; /* ns */

	/* of fold.c */
	uint64_t hash;
	size_t lines; /* that it holds in memory */
	struct fold_window *window;
	struct fold_item *next, *prev;
};

typedef void (*fold_fn)(void *ctx, const struct fold_item *item);

struct fold;
struct fold *fold__new(fold_fn fn, void *ctx);
void fold__free(struct fold *f);
/* A line to be filled in: empty, its text with room from earlier use. To be given to fold__push().
 */
struct fold_item *fold__line(struct fold *f);
void fold__push(struct fold *f, uint64_t thread, struct fold_item *line);
/* All that is held back comes out. */
void fold__settle(struct fold *f);

#endif
