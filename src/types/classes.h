/* SPDX-License-Identifier: BSD-2-Clause */
/* classes: how structs are passed that are in registers word by word. Private to src/types. */
#ifndef BBTRACE_TYPES_CLASSES_H
#define BBTRACE_TYPES_CLASSES_H

#include "types/types.h"

/* Of two, the later one is that of both. */
enum word_class { CLASS_NONE, CLASS_FLOAT, CLASS_INTEGER, CLASS_MEMORY, CLASS_UNKNOWN };

/* The classes of both words of a struct. MEMORY, UNKNOWN: of all of it. */
struct struct_classes {
	enum word_class of[2];
	bool has_wide; /* a number of two words is in it */
};
struct struct_classes type__classes(const struct types *t, const struct type *type);

#endif
