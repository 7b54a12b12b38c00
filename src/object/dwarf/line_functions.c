// SPDX-License-Identifier: BSD-2-Clause
/* The functions that start at a line: those declared there, or whose first instruction has that
 * line. The out-of-line copy is an ordinary function, each inlined instance a range. */
#include <dwarf.h>
#include <stdlib.h>
#include "dies.h"
#include "lines.h"

/* Sets the abstract origin, which all copies of a function in the unit share. */
static Dwarf_Die *origin_of(Dwarf_Die *die, Dwarf_Die *out)
{
	static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute attr;
	unsigned i, hops = 0;

	*out = *die;
	for (i = 0; i < ARRAY_SIZE(links) && hops < 8; i++) {
		Dwarf_Die next;

		if (!dwarf_attr(out, links[i], &attr) || !dwarf_formref_die(&attr, &next))
			continue;
		*out = next;
		i = -1;
		hops++;
	}
	return out;
}

static bool declared_at_line(const struct line_search *s, Dwarf_Die *die)
{
	Dwarf_Die of;
	int line;

	return dwarf_decl_line(die, &line) == 0 && line == s->line &&
	       lines__is_file(s, die__file(die, DW_AT_decl_file, s->unit, &of));
}

/* Returns true if the DIE, or what it is a copy or the definition of, is declared at the line. */
static bool is_declared(const struct line_search *s, Dwarf_Die *die)
{
	Dwarf_Die origin, step;
	Dwarf_Attribute attr;

	if (declared_at_line(s, die) || declared_at_line(s, origin_of(die, &origin)))
		return true;
	/* a copy refers to the definition, which refers to the declaration in a class */
	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &step) &&
	       declared_at_line(s, &step);
}

static bool row_starts_at(const struct line_search *s, uint64_t vaddr)
{
	const struct address_range *r;

	vec__each (r, &s->rows)
		if (r->start == vaddr)
			return true;
	return false;
}

static bool entry_of(const struct line_search *s, Dwarf_Die *die, uint64_t *entry)
{
	Dwarf_Addr pc;

	if (dwarf_entrypc(die, &pc))
		return false;
	*entry = pc + s->bias;
	return object__is_code(s->o, *entry);
}

/* ---- out-of-line copies ---- */

static uint64_t size_at(const struct line_search *s, Dwarf_Die *die, uint64_t entry)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start + s->bias <= entry && entry < end + s->bias)
			return end + s->bias - entry;
	return 0;
}

static void put_ranges(struct line_search *s, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		answer__put(s->answer, ANSWER_MORE, start + s->bias, end + s->bias);
}

static void put_function(struct line_search *s, Dwarf_Die *die, uint64_t entry)
{
	const char *name = dwarf_diename(die);
	uint64_t size = size_at(s, die, entry);

	if (object__symbols_from(s->o, entry) == s->o->symbols.len && !size)
		return;
	answer__put(s->answer, ANSWER_FUNCTION, entry, size);
	answer__put_name(s->answer, name ? name : "");
	put_ranges(s, die);
	s->found++;
}

/* ---- inlined instances ---- */

static void put_instance(struct line_search *s, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!lines__is_range(s->o, start + s->bias, end + s->bias))
			continue;
		answer__put(s->answer, ANSWER_RANGE, start + s->bias, end + s->bias);
		s->found++;
	}
}

/* ---- the tree ---- */

/* Returns true if it starts with inlined code. Then the row has the inlined function's line. */
static bool starts_inlined(const struct line_search *s, Dwarf_Die *die, uint64_t entry)
{
	autofree Dwarf_Die *scopes = NULL;
	bool inlined = false;
	Dwarf_Die unit;
	int i, n;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	n = dwarf_getscopes(&unit, entry - s->bias, &scopes);
	for (i = 0; i < n; i++)
		inlined |= dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine;
	return inlined;
}

static void look_at(struct line_search *s, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	uint64_t entry;

	if (tag == DW_TAG_inlined_subroutine && is_declared(s, die))
		put_instance(s, die);
	if (tag == DW_TAG_subprogram && entry_of(s, die, &entry) &&
	    (is_declared(s, die) || (row_starts_at(s, entry) && !starts_inlined(s, die, entry))))
		put_function(s, die, entry);
}

static void walk(struct line_search *s, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;

	s->walked = dwarf_dieoffset(die);
	look_at(s, die);
	if (depth < DIE_DEPTH && dwarf_child(die, &child) == 0)
		do
			walk(s, &child, depth + 1);
		while (die__next_after(&child, s->walked));
}

void lines__find_functions(struct line_search *s, Dwarf_Die *unit)
{
	Dwarf_Die whole = unit__whole(unit);

	s->unit = unit;
	walk(s, &whole, 0);
}
