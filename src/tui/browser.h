/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * browser: a stack of screens, the keys that lead through them, and what is drawn around them. It
 * draws into a grid and takes keys as numbers: a terminal, or a test, does the rest.
 */
#ifndef BBTRACE_TUI_BROWSER_H
#define BBTRACE_TUI_BROWSER_H

#include "screens.h"

/* Keys that are no characters; others are their code points. */
enum key {
	KEY_NONE = 0,
	KEY_UP_ROW = 0x110000,
	KEY_DOWN_ROW,
	KEY_BACK, /* left */
	KEY_INTO, /* right */
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_RUBOUT,
	KEY_HELP_SCREEN,
	KEY_REDRAW,
};
#define CONTROL(letter) ((letter)&0x1f)
#define KEY_ESCAPE	27

struct browser {
	struct model *model;
	VEC(struct screen *) screens; /* the last one is shown */
	struct patience patience;
	char prompt;	     /* / & : while a line is edited; else 0 */
	struct str input;    /* that line */
	struct str previous; /* the last search */
	struct str message;  /* of the last key */
	bool searches;
	regex_t search;
	bool ends; /* the user has had enough */
};

void browser__init(struct browser *b, struct model *m, const struct patience *p);
void browser__free(struct browser *b);
void browser__key(struct browser *b, int key);
void browser__draw(struct browser *b, struct grid *g);
/* The column of the terminal's cursor in the last row while a line is edited; -1: none is shown. */
int browser__cursor(const struct browser *b);

#endif
