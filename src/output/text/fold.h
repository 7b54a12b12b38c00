/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold: folds repeated lines of a stream. Private to src/output.
 *
 * A repeated sequence of a thread's lines becomes a group with a count. The sequence may itself
 * contain groups: nested loops fold from the inside out. A group expands to exactly the original
 * lines, except for times.
 *
 * Lines keep their order; a group is at the position of its first line. A line is held while it may
 * become part of a group. At most FOLD_HELD lines are held: beyond that the oldest item is output,
 * a group with its current count.
 */
#ifndef BBTRACE_OUTPUT_TEXT_FOLD_H
#define BBTRACE_OUTPUT_TEXT_FOLD_H

#include "util/util.h"

#define FOLD_HELD 2048 /* lines */
#define FOLD_BODY 128  /* most items of one body */
#define FOLD_KEYS 6

/* What equal lines have in common, once. */
struct fold_line {
	struct str text; /* without columns, times and \n */
	size_t times;	 /* where the times are in it */
	uint64_t number; /* unique, as long as an item has it; then 0 */

	/* of fold.c */
	uint64_t key[FOLD_KEYS];
	bool alone;
	uint64_t hash;
	size_t refs;
	struct fold_line *next;
};

struct fold_item {
	/* a line */
	struct str text; /* its columns, then its times: equal lines may differ here */
	size_t columns;	 /* bytes of it */
	struct fold_line *line;
	unsigned indent; /* bytes of indentation of the line's text; of a group: the least */

	/* a group: body repeats count times; count is 0 in a line */
	struct fold_item **body;
	size_t nbody;
	uint64_t count;

	/* both: times of the earliest and latest timed step; for a nested group: of its first
	 * iteration */
	bool timed;
	uint64_t first, last; /* ns */

	/* of fold.c */
	uint64_t hash;
	size_t lines; /* lines in memory */
	struct fold_window *window;
	struct fold_item *next, *prev;
};

typedef void (*fold_fn)(void *ctx, const struct fold_item *item);

struct fold;
struct fold *fold__new(fold_fn fn, void *ctx);
void fold__free(struct fold *f);
/* An empty item for a line, to fill in and pass to fold__push(). Its text may have capacity from
 * earlier use. */
struct fold_item *fold__line(struct fold *f);
/*
 * The line's text after the columns, without
 * . From times to time_end it has times, in which equal lines may differ: these become the item's
 * text. key: what must be equal besides; NULL: the line equals no other.
 */
void fold__describe(struct fold *f, struct fold_item *item, const uint64_t *key, const char *text,
		    size_t len, size_t times, size_t time_end);
/* As the item that line was described for; it has no times. Valid as long as line's number is the
 * same. */
void fold__share(struct fold_item *item, struct fold_line *line);
void fold__push(struct fold *f, uint64_t thread, struct fold_item *line);
/* Outputs all that is held. */
void fold__settle(struct fold *f);

#endif
