/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * split: the files that have the larger part of debug information if a program was compiled with
 * -gsplit-dwarf: .dwo files, one for each unit, or a package of them (.dwp). The program has a
 * skeleton of each unit, which names its file (DWARF 5, 7.3.2 and 7.3.5; GCC wiki, DebugFission).
 * Private to src/object/debug.
 */
#ifndef BBTRACE_OBJECT_DEBUG_SPLIT_H
#define BBTRACE_OBJECT_DEBUG_SPLIT_H

#include "debug.h"

/* Opens those of an object, for the sandbox. units: the answer of split_units__list. */
void split_files__open(const struct object *o, const struct table *units, struct debug_files *f);
void split_files__close(struct debug_files *f);

/* A row of that answer: offsets in its strings. */
struct split_unit {
	uint32_t folder, name; /* of its file; folder: "" if not known */
	uint32_t found;	       /* it can be read, if files were passed */
};
void split_units__list(void *ctx, const struct debug_session *s, struct str *answer);
/* Returns the text of a row; NULL if the answer isn't valid. */
const char *split_unit__text(const struct table *units, uint32_t offset);

#endif
