// SPDX-License-Identifier: BSD-2-Clause
/* Walks the tree of DIEs, and reads attributes whose forms or values may be damaged. */
#include <dwarf.h>
#include "dies.h"

bool die__next(Dwarf_Die *child)
{
	return dwarf_siblingof(child, child) == 0;
}

bool die__next_after(Dwarf_Die *die, Dwarf_Off walked)
{
	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > walked;
}

bool die__entry(Dwarf_Die *die, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;

	return !dwarf_entrypc(die, entry) || dwarf_ranges(die, 0, &base, entry, &end) > 0;
}

Dwarf_Die unit__whole(Dwarf_Die *unit)
{
	Dwarf_Die whole;
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &whole, NULL, NULL, NULL) ||
	    type != DW_UT_skeleton || !whole.addr)
		return *unit;
	return whole;
}

const char *die__file(Dwarf_Die *die, unsigned name, Dwarf_Die *skeleton, Dwarf_Die *of)
{
	Dwarf_Die whole = unit__whole(skeleton);
	Dwarf_Attribute attr;
	Dwarf_Half version;
	Dwarf_Files *files;
	Dwarf_Word index;
	size_t n;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, of, &version, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	if (version < 5 && attr.cu == whole.cu)
		*of = *skeleton;
	if ((version < 5 && !index) || dwarf_getsrcfiles(of, &files, &n) || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

uint64_t die__number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, &value) ? value
											 : 0;
}

bool die__offset(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	*offset = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &attr))
		return true;
	if (dwarf_formudata(&attr, &value) || value > INT32_MAX)
		return false; /* of a virtual base */
	*offset = value;
	return true;
}

uint64_t die__size(Dwarf_Die *die)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(die, &size) ? 0 : size;
}

bool die__peeled_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type) &&
	       !dwarf_peel_type(type, type);
}
