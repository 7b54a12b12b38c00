// SPDX-License-Identifier: BSD-2-Clause
/* The units of an object whose debug information is in other files, by their skeletons. Runs in the
 * sandbox. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include "split.h"

#define AT_GNU_dwo_name 0x2130 /* of binutils, include/dwarf2.def */

static uint32_t put(struct str *names, const char *text)
{
	uint32_t at = names->len;

	str__put(names, text ? text : "", text ? strlen(text) + 1 : 1);
	return at;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, name, &attr));
}

void split_units__list(void *ctx, const struct debug_session *s, struct str *answer)
{
	struct str rows = {0}, names = {0};
	Dwarf_Die *unit = NULL, part;
	Dwarf_Addr bias;

	if (!debug__has_dwarf(s))
		return;
	while ((unit = dwfl_module_nextcu(s->module, unit, &bias))) {
		const char *name = text_of(unit, DW_AT_dwo_name);
		struct split_unit row = {0};
		uint8_t type;

		/* libdw takes skeletons that also have DIEs, before DWARF 5, for split units */
		name = name ? name : text_of(unit, AT_GNU_dwo_name);
		if (!name || dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) ||
		    type == DW_UT_compile)
			continue;
		row.name = put(&names, name);
		row.folder = put(&names, text_of(unit, DW_AT_comp_dir));
		row.found = s->files->nsplit && type == DW_UT_skeleton &&
			    !dwarf_cu_info(unit->cu, NULL, NULL, NULL, &part, NULL, NULL, NULL) &&
			    part.addr;
		str__put(&rows, (const char *)&row, sizeof(row));
	}
	table__put(answer, &rows, sizeof(struct split_unit), &names);
	str__free(&rows);
	str__free(&names);
}
