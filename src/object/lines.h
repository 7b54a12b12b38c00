/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines: one FILE:LINE looked up in debug information. Shared by lines.c, line_functions.c,
 * line_answer.c and golang_lines.c, and nobody else.
 *
 * libdw doesn't survive all damaged DWARF, so the search (lines.c, line_functions.c) runs in
 * the sandbox: what it finds is written down as an answer, which line_answer.c checks and makes
 * functions of.
 */
#ifndef BBTRACE_OBJECT_LINES_H
#define BBTRACE_OBJECT_LINES_H

#include <elfutils/libdwfl.h>
#include "elf_file.h"
#include "object/object.h"

struct line_search {
	struct object *o;
	char *file; /* the same without "./" */
	int line;
	Dwarf_Addr bias;  /* of the unit at hand: to be added to its addresses */
	bool file_known;  /* some unit has such a file */
	int below, above; /* nearest lines that have code; 0: none */
	size_t found;
	VEC(struct address_range) rows; /* code of the line */
	Dwarf_Off walked;		/* the last DIE of the unit that was looked at */
	struct str *answer;
};

/* Is path, of debug information, the file asked for? By its last components. */
bool lines__is_file(const struct line_search *s, const char *path);

/* What a search finds out: code of the line, code of another one. */
void lines__add_row(struct line_search *s, uint64_t start, uint64_t end);
void lines__note_near(struct line_search *s, int line);
/* Writes the rows down; they are freed. */
void lines__put_rows(struct line_search *s);

/* The same search without debug information, in the table of a program of Go (golang_lines.c). */
void golang__search_line(struct line_search *s, struct str *answer);

/* The functions that are declared or defined there: their copies and inlined instances
 * (line_functions.c). */
void lines__find_functions(struct line_search *s, Dwarf_Die *unit);

/* ---- the answer (line_answer.c): a list of these, each with numbers behind it ---- */

enum answer {
	ANSWER_NO_DWARF, /* alone: there is no debug information */
	ANSWER_FILE,  /* some unit has the file. line below, line above that have code; 0: none */
	ANSWER_RANGE, /* start, end: code of the line, or an inlined instance */
	ANSWER_FUNCTION, /* entry, size or 0, name: length and bytes. Its ranges follow */
	ANSWER_MORE,	 /* start, end: of the function before */
};

void answer__put(struct str *answer, enum answer what, uint64_t a, uint64_t b);
void answer__put_name(struct str *answer, const char *name);
bool answer__has_no_dwarf(const struct str *answer);
/* Code of one segment, and not empty? */
bool lines__is_range(const struct object *o, uint64_t start, uint64_t end);
/* Any bytes will do: an error (-ENOENT, -EPROTO) or functions that are within the object. */
int answer__take(struct object *o, const char *text, const char *file, const struct str *answer,
		 function_vec *v);

#endif
