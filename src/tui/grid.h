/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grid: the cells of a screen, which is drawn into it and which a terminal, or a
 * test, then shows. It is pure. Text may be anything: what a terminal would interpret never gets
 * into a cell.
 */
#ifndef BBTRACE_TUI_GRID_H
#define BBTRACE_TUI_GRID_H

#include "tui/model/characters.h"

struct cell {
	wchar_t ch; /* 0: the right half of the wide character before it */
	uint8_t look;
};

struct grid {
	unsigned width, height;
	struct cell *cells;
};

/* Changes its size; all cells are blank then. */
void grid__resize(struct grid *g, unsigned width, unsigned height);
void grid__free(struct grid *g);

/* Part of a row. */
struct span {
	unsigned row, from, to; /* columns; to is not included */
	unsigned skip;		/* columns of the text that are left out at its start */
};
/* Writes text: UTF-8, in which escape sequences of colours (paint.h) choose the look. look is added
 * to all. Returns the column after it. */
unsigned grid__put(struct grid *g, const struct span *at, const char *text, unsigned look);
/* Fills the span with blanks. */
void grid__clear(struct grid *g, const struct span *at, unsigned look);
/* Adds a look to columns of the text that was put there. */
void grid__add_look(struct grid *g, unsigned row, unsigned from, unsigned to, unsigned look);
/* Appends a row's text as UTF-8, without blanks at its end. */
void grid__text(const struct grid *g, unsigned row, struct str *out);

#endif
