/* SPDX-License-Identifier: BSD-2-Clause */
/* The pieces of the text format: text.c has the lines, columns.c what stands left of the tree,
 * repeats.c how repeated lines are shown. */
#ifndef BBTRACE_TEXT_H
#define BBTRACE_TEXT_H

#include "output/fields.h"
#include "output/fold.h"

struct text {
	struct map64 last;	/* of each thread: when its last timed line was. TIME_DELTA only */
	unsigned thread_column; /* its width: the widest thread so far */
	struct fold *fold;	/* NULL: not asked for */
	size_t times, time_end; /* where in the buffer the line at hand tells a duration */
};

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)

enum colour { PLAIN, DIM, BRIGHT, GREEN, CYAN, YELLOW, RED };
/* Switches to a colour where colours are wanted; PLAIN ends it. */
void paint(struct output *o, enum colour colour);

void put_spaces(struct str *s, unsigned n);
/* Shortens what was put: everything from len on. */
static inline void cut_back(struct str *s, size_t len)
{
	s->len = len;
	if (s->data)
		s->data[len] = 0;
}
/* 850ns, 1.2us, 15.9ms, 2.0s, 3m20s, 2h05m: cut, never rounded up */
void put_duration(struct str *s, uint64_t ns);

/* Which thread: every CPU has an idle thread, and all of them have the TID 0. */
uint64_t thread_key(const struct step *s);

/* A line, or a group of them with its count, into the buffer: struct output * is ctx. */
void repeats__put(void *ctx, const struct fold_item *item);

/* The time and thread columns of a step, or blanks of the same width. */
void columns__put(struct output *o, const struct step *step);
void columns__blank(struct output *o);

#endif
