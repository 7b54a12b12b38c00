/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * characters: text that anybody may have written, by the columns that it takes on a terminal.
 * Escape sequences of colours (paint.h) are known; any others are shown, not interpreted.
 */
#ifndef BBTRACE_TUI_MODEL_CHARACTERS_H
#define BBTRACE_TUI_MODEL_CHARACTERS_H

#include <wchar.h>
#include "util/util.h"

/* A colour, and how it is shown. */
enum look {
	LOOK_PLAIN,
	LOOK_GREEN,
	LOOK_CYAN,
	LOOK_YELLOW,
	LOOK_RED,
	LOOK_COLOURS,
	LOOK_COLOUR = 7,
	LOOK_DIM = 8,
	LOOK_BOLD = 16,
	LOOK_REVERSE = 32,
	LOOK_FOUND = 64, /* what a search found */
};

/* Decodes a character of UTF-8, and moves *text past it; of what is none, one byte. */
wchar_t character__next(const char **text);
/* Returns the columns of a character, and replaces it if it must not be shown; 0: it is left out.
 */
unsigned character__columns(wchar_t *c);
/* Moves *text past an escape sequence for a colour, and sets *look. Returns false if there is none.
 */
bool colour__take(const char **text, unsigned *look);

/* The columns of a text, and the text without colours. */
unsigned text__width(const char *text);
void text__plain(const char *text, struct str *out);
/* Appends columns of blanks until the text from start on is this wide. */
void text__pad(struct str *s, size_t start, unsigned width);
/* Appends text that anybody may have chosen, at most this wide; what is longer is cut at its
 * end, which a > shows. */
void text__put_name(struct str *s, const char *text, unsigned width);

#endif
