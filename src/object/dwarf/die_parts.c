// SPDX-License-Identifier: BSD-2-Clause
/* What structs contain that are passed by value: all members, those of nested structs, bases and
 * arrays among them, as a flat list (struct type_part). Runs in the sandbox. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include "die_types.h"
#include "dies.h"

#define DEPTH_MOST 8

struct flattening {
	struct die_types *f;
	VEC(struct type_part) parts;
	bool whole;
};

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static void add_members(struct flattening *s, Dwarf_Die *type, uint64_t at, unsigned depth);

/* Returns the number of the part; it is complete when what it contains has been added. */
static size_t open_part(struct flattening *s, enum type_part_kind kind, const char *name,
			uint64_t at)
{
	vec__push(&s->parts, (struct type_part){.kind = kind,
						.name = types__add_name(&s->f->types, name),
						.type = NO_TYPE,
						.offset = at});
	return s->parts.len - 1;
}

static void close_part(struct flattening *s, size_t part)
{
	s->parts.data[part].n = s->parts.len - part - 1;
}

static bool is_full(struct flattening *s, uint64_t at, unsigned depth)
{
	if (s->parts.len < TYPE_PARTS_MOST && depth <= DEPTH_MOST && at <= INT32_MAX)
		return false;
	s->whole = false;
	return true;
}

/* ---- arrays ---- */

/* Returns how many elements a dimension has; 0 if that is not known. */
static uint64_t count_of(Dwarf_Die *range)
{
	Dwarf_Attribute attr;

	if (dwarf_attr(range, DW_AT_count, &attr))
		return die__number(range, DW_AT_count);
	if (!dwarf_attr(range, DW_AT_upper_bound, &attr))
		return 0;
	/* -1: an array without elements */
	return (uint32_t)(die__number(range, DW_AT_upper_bound) + 1);
}

#define DIMENSIONS 4

static unsigned dimensions_of(Dwarf_Die *type, uint64_t counts[DIMENSIONS])
{
	unsigned n = 0;
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return 0;
	do
		if (dwarf_tag(&child) == DW_TAG_subrange_type && n < DIMENSIONS)
			counts[n++] = count_of(&child);
	while (die__next(&child));
	return n;
}

static void add_value(struct flattening *s, Dwarf_Die *type, const char *name, uint64_t at,
		      const struct type_member *bits, unsigned depth);

static void add_elements(struct flattening *s, Dwarf_Die *element, const uint64_t *counts,
			 unsigned dimensions, const char *name, uint64_t at, uint64_t size,
			 unsigned depth)
{
	uint64_t each = size / counts[0];
	size_t part = open_part(s, PART_ARRAY, name, at);

	for (uint64_t i = 0; i < counts[0] && !is_full(s, at, depth); i++, at += each)
		if (dimensions > 1)
			add_elements(s, element, counts + 1, dimensions - 1, NULL, at, each,
				     depth + 1);
		else
			add_value(s, element, NULL, at, NULL, depth + 1);
	close_part(s, part);
}

static void add_array(struct flattening *s, Dwarf_Die *type, const char *name, uint64_t at,
		      unsigned depth)
{
	uint64_t counts[DIMENSIONS] = {0}, size = die__size(type), all = 1;
	unsigned n = dimensions_of(type, counts);
	Dwarf_Die element;

	for (unsigned i = 0; i < n; i++)
		all = counts[i] > TYPE_PARTS_MOST ? 0 : all * counts[i];
	if (n && size && all && die__peeled_type(type, &element)) {
		add_elements(s, &element, counts, n, name, at, size, depth);
		return;
	}
	s->whole &= !size; /* One without elements is at the end of a struct. */
	close_part(s, open_part(s, PART_ARRAY, name, at));
}

/* ---- members ---- */

/* type is without qualifiers and other names. */
static void add_value(struct flattening *s, Dwarf_Die *type, const char *name, uint64_t at,
		      const struct type_member *bits, unsigned depth)
{
	size_t part;

	if (is_full(s, at, depth))
		return;
	if (is_struct(type)) {
		part = open_part(s, PART_STRUCT, name, at);
		add_members(s, type, at, depth + 1);
		close_part(s, part);
		return;
	}
	if (dwarf_tag(type) == DW_TAG_array_type && !dwarf_hasattr(type, DW_AT_GNU_vector)) {
		add_array(s, type, name, at, depth);
		return;
	}
	part = open_part(s, PART_VALUE, name, at);
	s->parts.data[part].type = die_types__add(s->f, type);
	if (bits) {
		s->parts.data[part].bit_at = bits->bit_at;
		s->parts.data[part].bits = bits->bits;
	}
}

static void add_base(struct flattening *s, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	const char *name = dwarf_diename(type);
	autofree char *base = xasprintf("<%s>", name ? name : "base");
	size_t part;

	part = open_part(s, PART_STRUCT, base, at);
	add_members(s, type, at, depth + 1);
	close_part(s, part);
}

/* A bit field that no word has all of has no type. */
static void add_member(struct flattening *s, Dwarf_Die *die, uint64_t at, unsigned depth)
{
	struct type_member m = {0};
	Dwarf_Die type;
	size_t part;

	if (!die__offset(die, &m.offset) || !die__peeled_type(die, &type)) {
		s->whole = false;
		return;
	}
	if (is_full(s, at + m.offset, depth))
		return;
	if (dwarf_tag(die) == DW_TAG_inheritance) {
		add_base(s, &type, at + m.offset, depth);
	} else if (die_types__take_bits(&m, die, die__size(&type))) {
		add_value(s, &type, dwarf_diename(die), at + m.offset, &m, depth);
	} else {
		part = open_part(s, PART_VALUE, dwarf_diename(die), at + m.offset);
		close_part(s, part);
	}
}

static bool is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_inheritance ||
	       (tag == DW_TAG_member && !dwarf_hasattr(die, DW_AT_external) &&
		!dwarf_hasattr(die, DW_AT_declaration));
}

static void add_members(struct flattening *s, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return;
	do
		if (is_member(&child))
			add_member(s, &child, at, depth);
	while (die__next(&child));
}

void die_types__add_parts(struct die_types *f, Dwarf_Die *die)
{
	struct flattening s = {.f = f, .whole = true};
	Dwarf_Die type;
	uint32_t number;
	struct type *t;

	if (!die__peeled_type(die, &type) || !is_struct(&type) || !die__size(&type))
		return;
	number = die_types__add(f, &type);
	if (number == NO_TYPE || f->types.types.data[number].nparts)
		return;
	add_members(&s, &type, 0, 0);
	t = &f->types.types.data[number];
	if (s.whole && s.parts.len <= TYPE_PARTS_MOST) {
		t->whole = true;
		t->first_part = f->types.parts.len;
		t->nparts = s.parts.len;
		vec__append(&f->types.parts, &s.parts);
	}
	vec__free(&s.parts);
}
