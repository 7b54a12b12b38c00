/* SPDX-License-Identifier: BSD-2-Clause */
/* screens: the kinds of screens, from functions to steps. */
#ifndef BBTRACE_TUI_SCREENS_H
#define BBTRACE_TUI_SCREENS_H

#include "screen.h"

/* A call of one of the runs. */
struct call_ref {
	uint32_t run, call;
};
typedef VEC(struct call_ref) call_refs;

/* A function in each run. They differ if its code does, as in another build. */
struct function_pair {
	uint32_t of[RUNS];
};

struct screen *functions__open(struct model *m);
/* All calls of a function; with path, only those on that path. */
struct screen *calls__open(struct model *m, struct function_pair function, const uint64_t *path);
/* The paths of a function: how often each run took them. */
struct screen *paths__open(struct model *m, struct function_pair function);
struct screen *threads__open(struct model *m);
/* The steps of one of these calls: its siblings are reached from it. Takes over refs. */
struct screen *steps__open_call(struct model *m, call_refs refs, size_t which);
struct screen *steps__open_thread(struct model *m, uint32_t run, uint32_t thread);
/* All keys, and those of a screen. */
struct screen *help__open(struct model *m, const struct screen_ops *of);

/* ---- columns of tables ---- */

struct table_column {
	const char *head;
	unsigned width;
	unsigned drop_order; /* on narrow screens the lowest are left out first; 0: never */
};
/* Returns the highest drop_order to leave out, so that `rest` columns remain after the table. */
unsigned cells__omit(const struct table_column *c, size_t n, unsigned width, unsigned rest);
bool cells__shows(const struct table_column *c, unsigned omit);
/* Appends the text, right-justified, and two blanks. */
void cells__put(struct str *out, const struct table_column *c, const char *text);
void cells__put_head(struct str *out, const struct table_column *c, bool sorted);
/* Appends a difference with its sign. */
void put_difference(struct str *out, int64_t n);
void put_time_difference(struct str *out, int64_t ns);

#endif
