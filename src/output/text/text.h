/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format: text.c has the lines, columns.c the columns before the tree, repeats.c repeated
 * lines. */
#ifndef BBTRACE_OUTPUT_TEXT_TEXT_H
#define BBTRACE_OUTPUT_TEXT_TEXT_H

#include "output/base/fields.h"
#include "output/base/paint.h"
#include "fold.h"

struct text {
	struct map64 last;	/* by thread: the time of its last timed line. TIME_DELTA only */
	unsigned thread_column; /* its width: the widest thread so far */
	struct fold *fold;	/* NULL: no folding */
	struct known *known;	/* lines of branches that were rendered before; if there is fold */
	size_t line;		/* position of the current line in the buffer, after the columns */
	struct str src;		/* its last cell */
	size_t times, time_end; /* position of the current line's duration in the buffer */
};

/* Truncates the text to len. */
static inline void cut_back(struct str *s, size_t len)
{
	s->len = len;
	if (s->data)
		s->data[len] = 0;
}

/* True on a terminal that has no room for what could be left out. */
bool text__is_narrow(const struct output *o);
/* The longest name that is shown whole; 0: each is. */
unsigned text__most_name(const struct output *o);
/* A key for the thread: all CPUs' idle tasks have TID 0. */
uint64_t thread_key(const struct step *s);

/* Renders a line, or a group with its count; ctx is struct output *. */
void repeats__put(void *ctx, const struct fold_item *item);

/* The time and thread columns of a step, or blanks of the same width. */
void columns__put(struct output *o, const struct step *step);
void columns__blank(struct output *o);
/* How wide they are. */
unsigned columns__width(const struct output *o);
/* The time of a step of no thread, and blanks. */
void columns__put_global(struct output *o, const struct step *step);

/* Counts of branches in place of lines of events (edges.c). */
extern const struct output_format output_text_counted;

/* ---- places (place.c) ---- */

#define INDENT	   2
#define INDENT_MAX 40 /* levels; deeper ones show their depth instead */

/* The end of an object's path. */
void text__put_object(struct str *s, const char *object);
/* symbol+0xOFF, or the address without a symbol; and the object if it isn't the function's own. */
void text__put_place(struct output *o, const struct step *step, const struct location *at);
/* Returns how many spaces. */
unsigned text__put_indent(struct output *o, unsigned depth, unsigned more);
/* Innermost first, each frame on a line below the entry; and why it is incomplete. */
void text__show_stack(struct output *o, const struct step *step, const union field_value *v);
void text__show_stack_end(struct output *o, const struct step *step, const union field_value *v);

/* ---- which lines are the same (key.c) ---- */

#define KNOWN_KEYS (FOLD_KEYS + 11)
/* FOLD_KEYS words: what two steps must have in common, besides their text, to be folded. */
void text__fill_key(uint64_t *to, const struct step *s);
/* KNOWN_KEYS words: what the text of a branch's line is made of; and a slot below 1024 for it. */
void text__fill_known_key(const struct output *o, const struct step *s, uint64_t *to);
size_t text__known_slot(const uint64_t *key);

#endif
