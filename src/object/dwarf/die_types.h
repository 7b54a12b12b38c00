/* SPDX-License-Identifier: BSD-2-Clause */
/* die_types: types of debug information, read in the sandbox. Private to src/object. */
#ifndef BBTRACE_OBJECT_DWARF_DIE_TYPES_H
#define BBTRACE_OBJECT_DWARF_DIE_TYPES_H

#include <elfutils/libdw.h>
#include "types/types.h"

/* A type that will be equal to another one, except for its name, when that is complete. */
struct alias {
	uint32_t type, of;
};

struct die_types {
	const struct type_names *wanted; /* members */
	uint8_t word;
	struct types types;
	struct map64 seen; /* a DIE -> 1 + its type */
	VEC(struct alias) aliases;
};

/* Returns the type that a DIE has (DW_AT_type); NO_TYPE if it has none. */
uint32_t die_types__of(struct die_types *f, Dwarf_Die *die);
/* Returns the type that a DIE is. */
uint32_t die_types__add(struct die_types *f, Dwarf_Die *type);
/* Sets where a bit field is in a word of size bytes. Returns false if none has all of it. */
bool die_types__take_bits(struct type_member *m, Dwarf_Die *member, uint64_t size);
/* Adds the parts of the struct that a DIE has as its type, if it has one (die_parts.c). */
void die_types__add_parts(struct die_types *f, Dwarf_Die *die);
/* After the last type: completes types that are other ones by another name. */
void die_types__settle(struct die_types *f);
void die_types__free(struct die_types *f);

#endif
