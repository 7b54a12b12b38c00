/* SPDX-License-Identifier: BSD-2-Clause */
/* param_place: where debug information has a parameter when its function is entered. Runs in the
 * sandbox. Private to src/object/dwarf. */
#ifndef BBTRACE_OBJECT_DWARF_PARAM_PLACE_H
#define BBTRACE_OBJECT_DWARF_PARAM_PLACE_H

#include <elfutils/libdw.h>
#include "types/types.h"

struct arch;

/* The function of a parameter. */
struct entered {
	const struct arch *arch;
	Dwarf_Die *function;
	Dwarf_Addr entry;	   /* as in its debug information */
	Dwarf_Attribute *location; /* of a parameter; set by param__locate() */
};

/* Sets where, place and passed of a parameter, from its DIE. */
void param__locate(const struct entered *f, Dwarf_Die *die, struct type_param *out);

#endif
