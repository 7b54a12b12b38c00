/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fit: text whose lines are no wider than a terminal. A line that is cut ends with an ellipsis, so
 * that nothing that is cut is taken for whole. Each character takes one column; an escape sequence
 * none.
 */
#ifndef BBTRACE_UTIL_FIT_H
#define BBTRACE_UTIL_FIT_H

#include "util/util.h"

/* Zeroed but for width, which is not 0. */
struct fit {
	unsigned width, column;
	bool in_escape, is_cut, was_escaped;
	unsigned nheld; /* the bytes in the last column, which are left out if more follow */
	char held[64];
};
/* Appends the text as far as it fits; a line may come in pieces. */
void fit__put(struct fit *f, struct str *out, const char *text, size_t len);
/* Appends what is held back, at the end of the text. */
void fit__end(struct fit *f, struct str *out);

/* Cuts the lines from start on; width 0: none. The last one has its newline. */
void fit__lines(struct str *s, size_t start, unsigned width);
/* Wraps the lines, each indented as its last cell is; width 0: not. */
void fit__wrap_lines(struct str *s, unsigned width);
/* From now on, the lines of the stream stdout are cut, or wrapped between words; width 0: neither.
 * They follow the terminal if it gets another width. */
void fit__stdout(unsigned width, bool wrap);
/* Appends a paragraph, which begins at column at, wrapped between words: the other lines are
 * indented by indent. width 0: not wrapped. */
void fit__wrap(struct str *out, const char *text, unsigned at, unsigned indent, unsigned width);

/* Appends a function's name; one that is longer than this with an ellipsis in place of its template
 * arguments and parameters. most 0: whole. */
void fit__name(struct str *out, const char *name, unsigned most);

/* The columns and lines of the terminal fd: as COLUMNS and LINES have them, else as
 * the terminal itself; 0 if not known. */
unsigned terminal__columns(int fd);
/* From now on no width is known, so nothing is cut or wrapped. */
void terminal__unlimit(void);
unsigned terminal__lines(int fd);

#endif
