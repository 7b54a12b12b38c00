/* SPDX-License-Identifier: BSD-2-Clause */
/* dies: the tree of DIEs of debug information, read in the sandbox. Private to src/object/dwarf. */
#ifndef BBTRACE_OBJECT_DWARF_DIES_H
#define BBTRACE_OBJECT_DWARF_DIES_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#define DIE_DEPTH 256 /* the depth limit, since hostile DIEs may nest without bound */

/* Moves to the next sibling. */
bool die__next(Dwarf_Die *child);
/*
 * Moves to the next sibling. walked is the last DIE that was visited. DW_AT_sibling may be damaged:
 * it must refer neither back nor to the DIE's own children, which would be visited twice, their
 * children four times, and so on.
 */
bool die__next_after(Dwarf_Die *die, Dwarf_Off walked);
/* Sets where control enters the code of a DIE: the first of its ranges, if nothing else is known.
 */
bool die__entry(Dwarf_Die *die, Dwarf_Addr *entry);
/* Returns the DIE that has a unit's contents: that of the split unit, if the unit is a skeleton and
 * its file is there. */
Dwarf_Die unit__whole(Dwarf_Die *unit);
/*
 * Returns the name of the file that an attribute names by its number in its unit's table, which
 * begins with 1 before DWARF 5; NULL if not known. Sets *of to the unit, which may be another one
 * than the DIE's: that of what was inlined. skeleton is that of the DIE's unit, or the unit itself:
 * before DWARF 5 it has the table, and the split file has one for types.
 */
const char *die__file(Dwarf_Die *die, unsigned name, Dwarf_Die *skeleton, Dwarf_Die *of);
/* Returns a numeric attribute; 0 if there is none. */
uint64_t die__number(Dwarf_Die *die, unsigned name);
/* Sets the offset of a member in its struct. Returns false if that isn't constant. */
bool die__offset(Dwarf_Die *member, uint64_t *out);
/* Returns the size of a type in bytes; 0 if not known. */
uint64_t die__size(Dwarf_Die *type);
/* Sets the type of a DIE, without qualifiers and other names. */
bool die__peeled_type(Dwarf_Die *die, Dwarf_Die *type);

#endif
