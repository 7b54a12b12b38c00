/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines: the line tables of an object (line_table.c), and the search of one FILE:LINE in debug
 * information. Private to src/object/dwarf: lines.c starts the search, line_functions.c and
 * golang_lines.c contribute to it, line_search.c collects.
 *
 * Damaged DWARF can crash libdw, so the search (lines.c, line_functions.c) runs in the sandbox. It
 * writes its result as an answer, which line_answer.c checks and turns into functions.
 */
#ifndef BBTRACE_OBJECT_DWARF_LINES_H
#define BBTRACE_OBJECT_DWARF_LINES_H

#include <elfutils/libdwfl.h>
#include "object/elf/elf_file.h"
#include "object/object.h"
#include "dwarf.h"
#include "folded.h"

struct line_search {
	struct object *o;
	char *file; /* the same without "./" */
	int line;
	Dwarf_Die *unit;  /* the current one */
	Dwarf_Addr bias;  /* of the current unit: added to its addresses */
	bool file_known;  /* some unit has such a file */
	int below, above; /* the nearest lines that have code; 0 if none */
	size_t found;
	VEC(struct address_range) rows; /* the code of the line */
	Dwarf_Off walked;		/* the last DIE of the unit that was visited */
	struct str *answer;
};

/* Returns true if path, from debug information, ends in the components of the requested file. */
bool lines__is_file(const struct line_search *s, const char *path);

/* Record a result of the search: code of the line, code of another line. */
void lines__add_row(struct line_search *s, uint64_t start, uint64_t end);
void lines__note_near(struct line_search *s, int line);
/* Writes the rows to the answer and frees them. */
void lines__put_rows(struct line_search *s);

/* The same search without debug information, in the table of a Go program (golang_lines.c). */
void golang__search_line(struct line_search *s, struct str *answer);

/* As object__lines(), by this table alone (golang_lines.c). */
void golang__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/* Finds functions declared or defined at the line, with their copies and inlined instances
 * (line_functions.c). */
void lines__find_functions(struct line_search *s, Dwarf_Die *unit);

/* ---- line tables, by sequence, without code that isn't in the program (line_table.c) ---- */

/* A row; vaddr is that of libdwfl's module. */
struct line_place {
	uint64_t vaddr;
	uint32_t file, line, discriminator; /* file: a number in the unit's table */
};

/* Code that was contiguous when it was compiled: rows [first, first + n) of its unit, ascending. */
struct line_sequence {
	uint64_t start, end;
	uint64_t reach; /* the highest end of it and those before it */
	uint32_t unit;
	size_t first, n;
};
typedef VEC(struct line_sequence) sequence_vec;

struct line_unit {
	Dwarf_Die die;
	Dwarf_Addr bias;
	bool read, damaged;
	VEC(struct line_place) rows;
	sequence_vec sequences; /* by start; of rows */
	Dwarf_Files *files;	/* NULL if there are none */
	size_t nfiles;
	struct folded_unit folded;
};

struct line_tables {
	const struct debug_session *session;
	VEC(struct line_unit) units;
	struct map64 by_offset; /* of a unit's DIE -> 1 + its number */
	Elf_Data *data;		/* .debug_line */
	sequence_vec all;	/* by start, of all units */
	bool indexed;		/* all is complete */
};

void line_tables__begin(struct line_tables *t, const struct debug_session *s);
void line_tables__end(struct line_tables *t);

/* Reads the table of a unit, if that wasn't done before. */
struct line_unit *line_tables__unit(struct line_tables *t, uint32_t unit);
/* Returns the name of a row's file; NULL if there is none. */
const char *line_unit__file(const struct line_unit *u, const struct line_place *row);
/*
 * Sets the sequence that the code at vaddr belongs to. If a linker folded several functions into
 * one, it is that of the function that is listed: name is its symbol's, or NULL for any. Returns
 * false if there is none.
 */
bool line_tables__at(struct line_tables *t, uint64_t vaddr, const char *name,
		     struct line_sequence *out);
/* Returns where the next sequence after vaddr begins; UINT64_MAX if that isn't known. */
uint64_t line_tables__next(const struct line_tables *t, uint64_t vaddr);

/* ---- the answer (line_answer.c): a list of these, each followed by numbers ---- */

enum answer {
	ANSWER_NO_DWARF, /* there is no debug information; no other answer follows */
	/* Some unit has the file. The nearest lines with code, below and above; 0 if none. */
	ANSWER_FILE,
	ANSWER_RANGE,	 /* start, end: code of the line, or an inlined instance */
	ANSWER_FUNCTION, /* entry, size or 0, name: length and bytes; its ranges follow */
	ANSWER_MORE,	 /* start, end: another range of the previous function */
};

void answer__put(struct str *answer, enum answer what, uint64_t a, uint64_t b);
void answer__put_name(struct str *answer, const char *name);
bool answer__has_no_dwarf(const struct str *answer);
/* Returns true for a non-empty range of code in one segment. */
bool lines__is_range(const struct object *o, uint64_t start, uint64_t end);
/* Accepts any bytes: returns an error (-ENOENT, -EPROTO), or functions within the object. */
int answer__take(struct object *o, const char *text, const char *file, const struct str *answer,
		 function_vec *v);

#endif
