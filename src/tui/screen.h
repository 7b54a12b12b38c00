/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen: a list of rows that can be moved in, searched, filtered and sorted. A struct of
 * functions, one for each kind of screen, makes the rows. It knows neither keys nor a terminal.
 */
#ifndef BBTRACE_TUI_SCREEN_H
#define BBTRACE_TUI_SCREEN_H

#include <regex.h>
#include "grid.h"
#include "tui/model/model.h"

struct screen;
struct screen_ops {
	const char *keys; /* its own keys, for help: lines */
	size_t (*count)(const struct screen *s);
	void (*title)(const struct screen *s, struct str *out);
	/* The heads of columns, for a width; NULL if there are none. */
	void (*heads)(const struct screen *s, unsigned width, struct str *out);
	/* A row as text with colours. */
	void (*row)(struct screen *s, size_t row, unsigned width, struct str *out);
	/* What a row leads to; NULL, perhaps with a message, if to nothing. */
	struct screen *(*enter)(struct screen *s, size_t row);
	/* Sorts by the next column (1), the one before (-1), or the other way round (0). NULL: it
	 * has an order of its own. */
	void (*sort)(struct screen *s, int column);
	/* A key that only this screen has. Returns false if it doesn't; *next is the screen to go
	 * to, if there is one. */
	bool (*key)(struct screen *s, size_t row, int key, struct screen **next);
	/* Draws what belongs to a row below the list; returns the lines that it takes of `most`.
	 * With g NULL it only says so. NULL if there is nothing. */
	unsigned (*pane)(struct screen *s, size_t row, struct grid *g, const struct span *at,
			 unsigned most);
	void (*free)(struct screen *s);
};

struct screen {
	const struct screen_ops *ops;
	struct model *model;
	size_t cursor, top; /* among the rows that are shown */
	unsigned left;	    /* columns that are scrolled out */
	unsigned lines;	    /* of the list when it was drawn last */
	unsigned width;
	bool filters;
	char *filter_text;
	regex_t filter;
	VEC(uint32_t) shown; /* filters: the rows that match */
};

/* Asks whether the user wants something else meanwhile. */
struct patience {
	bool (*is_over)(void *ctx);
	void *ctx;
};

/* The number of rows that are shown; the row at a position among these. */
size_t screen__shown(const struct screen *s);
size_t screen__row(const struct screen *s, size_t position);
/* Moves the cursor by rows, or to one, within the list. */
void screen__move(struct screen *s, int64_t by);
void screen__go_to(struct screen *s, size_t position);
/* Moves to this row; to the nearest one before it that is shown. */
void screen__go_to_row(struct screen *s, size_t row);
/* Draws the list, with what a search found marked: re may be NULL. */
void screen__draw(struct screen *s, struct grid *g, unsigned from, unsigned lines,
		  const regex_t *re);
/* Shows only rows that match; an empty text shows all. Returns 0, or -errno with a message; -EINTR
 * if patience was over: then only some of the rows were looked at. */
int screen__filter(struct screen *s, const char *text, const struct patience *p);
/* Its rows have changed. Returns 0, or -EINTR as screen__filter(). */
int screen__changed(struct screen *s, const struct patience *p);
/* Moves to the next row that matches, or the one before (step -1), from the cursor on. Returns 1 if
 * it went past the end to get there, 0 if not, -ENOENT if there is none, -EINTR if patience was
 * over. */
int screen__search(struct screen *s, const regex_t *re, int step, bool here,
		   const struct patience *p);
/* Compiles a pattern: extended, and it ignores case unless it has capitals. Returns -EINVAL with a
 * message if it is none. */
int pattern__compile(regex_t *re, const char *text);
void screen__free(struct screen *s);

/* A new one of that size, which begins with a struct screen. */
void *screen__new(const struct screen_ops *ops, struct model *m, size_t size);

#endif
