/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search: functions in code that neither a symbol nor an FDE covers, by control flow and pointers,
 * and how many bytes are left. Front header of src/object/search, which uses elf, tables, lookup
 * and the decoders of src/arch. First: search__functions(), object__unknown_code().
 */
#ifndef BBTRACE_OBJECT_SEARCH_SEARCH_H
#define BBTRACE_OBJECT_SEARCH_SEARCH_H

#include "object/object.h"

/*
 * Appends a frame, with .found set, for each function that is found in code that no symbol and no
 * FDE covers. To be called when symbols and frames are there. Found are: what the loader calls;
 * what is called or jumped to directly from code that is known; and what a pointer or a constant in
 * such code leads to, if following it shows that it is code (claims.c). Where no call proves an
 * entry, .unproved is set: it is code, but its start may be a label (entries.c), so it is a
 * selection.
 */
void search__functions(struct object *o);
/* Sets o->main: the function that the start code passes to the C library as the first argument. */
void search__find_main(struct object *o);

/* The code of a section that belongs to no known function. */
struct unknown_code {
	const char *section; /* NULL: a segment of a file without section headers */
	uint64_t bytes, size;
};
typedef VEC(struct unknown_code) unknown_code_vec;
/* Appends a member for each executable section with such bytes. Padding isn't counted: nops,
 * breakpoints and zeros between functions; nor are less than 16 bytes that are less than a
 * hundredth of the section. */
void object__unknown_code(const struct object *o, unknown_code_vec *out);

#endif
