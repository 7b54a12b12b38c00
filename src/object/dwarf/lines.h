/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines: looks up one FILE:LINE in debug information. Private to lines.c, line_functions.c,
 * line_answer.c and golang_lines.c; scopes.c walks the same tree.
 *
 * Damaged DWARF can crash libdw, so the search (lines.c, line_functions.c) runs in the sandbox. It
 * writes its result as an answer, which line_answer.c checks and turns into functions.
 */
#ifndef BBTRACE_OBJECT_LINES_H
#define BBTRACE_OBJECT_LINES_H

#include <elfutils/libdwfl.h>
#include "object/elf/elf_file.h"
#include "object/object.h"

struct line_search {
	struct object *o;
	char *file; /* the same without "./" */
	int line;
	Dwarf_Addr bias;  /* of the current unit: added to its addresses */
	bool file_known;  /* some unit has such a file */
	int below, above; /* nearest lines that have code; 0: none */
	size_t found;
	VEC(struct address_range) rows; /* code of the line */
	Dwarf_Off walked;		/* the last visited DIE of the unit */
	struct str *answer;
};

/* Does path, from debug information, end in the components of the requested file? */
bool lines__is_file(const struct line_search *s, const char *path);

/* Record a result of the search: code of the line, code of another line. */
void lines__add_row(struct line_search *s, uint64_t start, uint64_t end);
void lines__note_near(struct line_search *s, int line);
/* Writes the rows to the answer and frees them. */
void lines__put_rows(struct line_search *s);

/* The same search without debug information, in the table of a program of Go (golang_lines.c). */
void golang__search_line(struct line_search *s, struct str *answer);

/* Finds functions declared or defined at the line, with their copies and inlined instances
 * (line_functions.c). */
void lines__find_functions(struct line_search *s, Dwarf_Die *unit);

/* ---- the tree of DIEs (line_functions.c) ---- */

#define DIE_DEPTH 256 /* the deepest: hostile ones may nest without bound */

/*
 * The next sibling; walked: the last DIE that was visited. DW_AT_sibling may be damaged: it must
 * refer neither back nor to the DIE's own children, which would be visited twice, their children
 * four times, and so on.
 */
bool lines__next_die(Dwarf_Die *die, Dwarf_Off walked);

/* ---- the answer (line_answer.c): a list of these, each followed by numbers ---- */

enum answer {
	ANSWER_NO_DWARF, /* alone: there is no debug information */
	ANSWER_FILE,  /* some unit has the file. Nearest lines with code below and above; 0: none */
	ANSWER_RANGE, /* start, end: code of the line, or an inlined instance */
	ANSWER_FUNCTION, /* entry, size or 0, name: length and bytes. Its ranges follow */
	ANSWER_MORE,	 /* start, end: another range of the previous function */
};

void answer__put(struct str *answer, enum answer what, uint64_t a, uint64_t b);
void answer__put_name(struct str *answer, const char *name);
bool answer__has_no_dwarf(const struct str *answer);
/* Is it a non-empty range of code in one segment? */
bool lines__is_range(const struct object *o, uint64_t start, uint64_t end);
/* Accepts any bytes: returns an error (-ENOENT, -EPROTO) or functions within the object. */
int answer__take(struct object *o, const char *text, const char *file, const struct str *answer,
		 function_vec *v);

#endif
