/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line_table: the line tables of all units of an object, sequence by sequence (DWARF 5, 6.2),
 * without those of code that isn't in the program. Read in the sandbox. Private to
 * src/object/dwarf.
 */
#ifndef BBTRACE_OBJECT_DWARF_LINE_TABLE_H
#define BBTRACE_OBJECT_DWARF_LINE_TABLE_H

#include <elfutils/libdw.h>
#include "folded.h"
#include "object/debug/debug.h"

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

#endif
