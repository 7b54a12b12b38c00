// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line table the other way round: which source lines a stretch of code comes from, by debug
 * information (DWARF, through libdw).
 */
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "elf_file.h"

/* The unit that holds vaddr. Not every compiler writes .debug_aranges: then each is asked. */
static Dwarf_Die *unit_at(Dwfl_Module *module, uint64_t vaddr, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, vaddr, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, vaddr - *bias) == 1)
			return unit;
	return NULL;
}

/* Index of the last row at or before addr (of the unit); n: none. */
static size_t row_before(Dwarf_Lines *lines, size_t n, Dwarf_Addr addr)
{
	size_t low = 0, high = n;
	Dwarf_Addr at;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (!dwarf_lineaddr(dwarf_onesrcline(lines, mid), &at) && at <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : n;
}

static struct line_row row_of(Dwarf_Line *line, uint64_t vaddr)
{
	struct line_row row = {.vaddr = vaddr};
	bool ends = false;
	int number = 0;

	if (dwarf_lineendsequence(line, &ends) || ends || dwarf_lineno(line, &number) ||
	    number <= 0)
		return row;
	row.file = dwarf_linesrc(line, NULL, NULL);
	row.line = row.file ? number : 0;
	return row;
}

void object__lines(const struct object *o, uint64_t start, uint64_t end,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx)
{
	Dwfl_Module *module = debug__module(o);
	Dwarf_Addr bias, at;
	Dwarf_Lines *lines;
	Dwarf_Die *unit;
	size_t n, i;

	if (!module || !dwfl_module_getdwarf(module, &bias))
		return;
	unit = unit_at(module, start, &bias);
	if (!unit || dwarf_getsrclines(unit, &lines, &n))
		return;
	i = row_before(lines, n, start - bias);
	for (uint64_t from = start; i < n; i++, from = 0) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct line_row row;

		if (dwarf_lineaddr(line, &at) || at + bias >= end)
			break;
		row = row_of(line, max_of(from, at + bias));
		fn(ctx, &row);
	}
}
