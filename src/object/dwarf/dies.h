/* SPDX-License-Identifier: BSD-2-Clause */
/* dies: the tree of DIEs of debug information, read in the sandbox. Private to src/object/dwarf. */
#ifndef BBTRACE_OBJECT_DIES_H
#define BBTRACE_OBJECT_DIES_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#define DIE_DEPTH 256 /* the deepest: hostile ones may nest without bound */

/* The next sibling. */
bool die__next(Dwarf_Die *child);
/*
 * The next sibling; walked: the last DIE that was visited. DW_AT_sibling may be damaged: it must
 * refer neither back nor to the DIE's own children, which would be visited twice, their children
 * four times, and so on.
 */
bool die__next_after(Dwarf_Die *die, Dwarf_Off walked);
/* A numeric attribute; 0: it has none. */
uint64_t die__number(Dwarf_Die *die, unsigned name);
/* Where a member is in its struct; false: that isn't constant. */
bool die__offset(Dwarf_Die *member, uint64_t *out);
/* Bytes of a type; 0: not known. */
uint64_t die__size(Dwarf_Die *type);
/* The type of a DIE, without qualifiers and other names. */
bool die__peeled_type(Dwarf_Die *die, Dwarf_Die *type);

#endif
