// SPDX-License-Identifier: BSD-2-Clause
/* Types from debug information, in the tables of src/types. Runs in the sandbox. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include "object/debug/debug.h"
#include "die_types.h"
#include "dies.h"

#define TYPE_DEPTH 64

static uint32_t add_type(struct die_types *f, Dwarf_Die *die, unsigned depth);

static uint32_t type_of(struct die_types *f, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
		return NO_TYPE;
	return add_type(f, &type, depth + 1);
}

static void take_base(struct type *t, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (die__number(die, DW_AT_encoding)) {
	case DW_ATE_signed:
		t->kind = TYPE_KIND_SIGNED;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		t->kind = TYPE_KIND_UNSIGNED;
		break;
	case DW_ATE_boolean:
		t->kind = TYPE_KIND_BOOL;
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		t->kind = name && !strcmp(name, "char") ? TYPE_KIND_CHAR
			  : die__number(die, DW_AT_encoding) == DW_ATE_signed_char
				  ? TYPE_KIND_SIGNED
				  : TYPE_KIND_UNSIGNED;
		break;
	case DW_ATE_float:
		t->kind = TYPE_KIND_FLOAT;
		break;
	case DW_ATE_complex_float:
		t->kind = TYPE_KIND_COMPLEX;
		break;
	case DW_ATE_decimal_float:
		t->kind = t->size <= 8 ? TYPE_KIND_COMPLEX : TYPE_KIND_UNKNOWN;
		break;
	}
}

/* Forms of a constant size don't say whether it has a sign; for negative constants compilers use
 * forms that do. */
static bool constant_of(Dwarf_Attribute *attr, int64_t *out)
{
	Dwarf_Sword value = 0;
	Dwarf_Word number = 0;
	unsigned form = dwarf_whatform(attr);
	bool has_sign = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
	int err;

	err = has_sign ? dwarf_formsdata(attr, &value) : dwarf_formudata(attr, &number);
	*out = has_sign ? value : (int64_t)number;
	return !err;
}

static void take_enumerators(struct die_types *f, struct type *t, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die child;

	t->first = f->types.enumerators.len;
	if (dwarf_child(die, &child))
		return;
	do {
		struct type_enumerator e = {0};
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		    !dwarf_attr(&child, DW_AT_const_value, &attr) ||
		    !constant_of(&attr, &e.value) || f->types.enumerators.len >= TYPES_MAX)
			continue;
		e.name = types__add_name(&f->types, name);
		if (e.name)
			vec__push(&f->types.enumerators, e);
	} while (die__next(&child));
	t->n = f->types.enumerators.len - t->first;
}

/* The lowest bit of a bit field is in the first byte, since this is little-endian. Returns false if
 * no word of the member's size contains it. */
bool die_types__take_bits(struct type_member *m, Dwarf_Die *die, uint64_t size)
{
	Dwarf_Attribute attr;
	uint64_t at = 0, bits = die__number(die, DW_AT_bit_size);

	if (!bits)
		return true;
	if (!size || size > 8 || bits > 8 * size)
		return false;
	if (dwarf_attr(die, DW_AT_data_bit_offset, &attr)) {
		at = die__number(die, DW_AT_data_bit_offset);
		/* the word that a compiler would load */
		m->offset = at / 8 / size * size;
		at -= m->offset * 8;
	} else if (dwarf_attr(die, DW_AT_bit_offset, &attr)) { /* before DWARF 4: from the top */
		at = 8 * size - die__number(die, DW_AT_bit_offset) - bits;
	}
	m->bit_at = at;
	m->bits = bits;
	return at <= 8 * size - bits;
}

static bool is_member(int tag)
{
	return tag == DW_TAG_member || tag == DW_TAG_inheritance;
}

typedef VEC(struct type_member) member_vec;

static void take_member(struct die_types *f, Dwarf_Die *die, unsigned depth, member_vec *members)
{
	struct type_member m = {0};
	Dwarf_Die type;

	if (!die__offset(die, &m.offset))
		return;
	if (!die_types__take_bits(&m, die, die__peeled_type(die, &type) ? die__size(&type) : 0))
		return;
	m.type = type_of(f, die, depth);
	m.name = dwarf_tag(die) == DW_TAG_member ? types__add_name(&f->types, dwarf_diename(die))
						 : 0;
	vec__push(members, m);
}

/* Takes the members that are asked for, and the structs that may have some of them. */
static void take_members(struct die_types *f, uint32_t number, Dwarf_Die *die, unsigned depth)
{
	member_vec members = {0};
	struct type *t;
	Dwarf_Die child;

	if (!f->wanted->all.len || dwarf_child(die, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);

		if (is_member(dwarf_tag(&child)) &&
		    (!name || dwarf_tag(&child) == DW_TAG_inheritance ||
		     type_names__has(f->wanted, name)))
			take_member(f, &child, depth, &members);
	} while (die__next(&child));
	t = &f->types.types.data[number];
	t->first = f->types.members.len;
	t->n = members.len;
	vec__append(&f->types.members, &members);
	vec__free(&members);
}

/* ---- how a struct is passed ---- */

static bool is_plain(Dwarf_Die *type, unsigned depth);

static bool is_plain_member(Dwarf_Die *die, unsigned depth)
{
	uint64_t at, size;
	Dwarf_Die type;

	if (dwarf_tag(die) == DW_TAG_inheritance)
		return false;
	if (dwarf_tag(die) != DW_TAG_member || dwarf_hasattr(die, DW_AT_external))
		return true;
	if (!die__offset(die, &at) || !die__peeled_type(die, &type))
		return false;
	size = die__size(&type);
	if (dwarf_hasattr(die, DW_AT_bit_size))
		return size;
	if (dwarf_tag(&type) == DW_TAG_structure_type || dwarf_tag(&type) == DW_TAG_union_type)
		return is_plain(&type, depth + 1);
	return size && size <= 8 && at % size == 0 && is_plain(&type, depth + 1);
}

/* Returns true if it consists of integers and pointers, each aligned. Arrays are left out. */
static bool is_plain(Dwarf_Die *type, unsigned depth)
{
	Dwarf_Die child;

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		switch (die__number(type, DW_AT_encoding)) {
		case DW_ATE_signed:
		case DW_ATE_unsigned:
		case DW_ATE_boolean:
		case DW_ATE_signed_char:
		case DW_ATE_unsigned_char:
			return true;
		}
		return false;
	case DW_TAG_pointer_type:
	case DW_TAG_enumeration_type:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		break;
	default:
		return false;
	}
	if (depth > 8 || dwarf_child(type, &child))
		return false;
	do
		if (!is_plain_member(&child, depth))
			return false;
	while (die__next(&child));
	return true;
}

static bool has_functions(Dwarf_Die *type, unsigned depth);

static bool is_with_functions(Dwarf_Die *member, unsigned depth)
{
	Dwarf_Die type;

	switch (dwarf_tag(member)) {
	case DW_TAG_subprogram:
	case DW_TAG_inheritance:
		return true;
	case DW_TAG_member:
		if (!die__peeled_type(member, &type))
			return true;
		while (dwarf_tag(&type) == DW_TAG_array_type)
			if (!die__peeled_type(&type, &type))
				return true;
		return has_functions(&type, depth + 1);
	}
	return false;
}

/* A struct of C++ may be copied or destroyed by one of its functions, or of its members'. */
static bool has_functions(Dwarf_Die *type, unsigned depth)
{
	int tag = dwarf_tag(type);
	Dwarf_Die child;

	if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type && tag != DW_TAG_class_type)
		return false;
	if (depth > 8)
		return true;
	if (dwarf_child(type, &child))
		return false;
	do
		if (is_with_functions(&child, depth))
			return true;
	while (die__next(&child));
	return false;
}

/* For C++, some compilers record it. */
static void take_passing(struct type *t, Dwarf_Die *die)
{
	switch (die__number(die, DW_AT_calling_convention)) {
	case DW_CC_pass_by_reference:
		t->passed = PASSED_BY_ADDRESS;
		break;
	case DW_CC_pass_by_value:
		t->passed = PASSED_BY_VALUE;
		break;
	default:
		t->passed = has_functions(die, 0) ? PASSED_SOMEHOW : PASSED_BY_VALUE;
	}
	t->plain = t->size && t->size <= PLAIN_MAX && dwarf_tag(die) != DW_TAG_class_type &&
		   is_plain(die, 0);
}

/* ---- each type ---- */

static void take_type(struct die_types *f, uint32_t number, Dwarf_Die *die, unsigned depth)
{
	struct type *t = &f->types.types.data[number];
	uint32_t ref;

	t->size = die__size(die);
	t->name = types__add_name(&f->types, dwarf_diename(die));
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		take_base(t, die);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t->kind = TYPE_KIND_POINTER;
		t->size = f->word;
		ref = type_of(f, die, depth);
		f->types.types.data[number].ref = ref;
		break;
	case DW_TAG_array_type:
		t->kind = TYPE_KIND_ARRAY;
		ref = type_of(f, die, depth);
		f->types.types.data[number].ref = ref;
		break;
	case DW_TAG_enumeration_type:
		t->kind = TYPE_KIND_ENUM;
		take_enumerators(f, t, die);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_class_type:
		t->kind = TYPE_KIND_STRUCT;
		take_passing(t, die);
		take_members(f, number, die, depth);
		break;
	}
}

static uint32_t add_alias(struct die_types *f, Dwarf_Die *die, unsigned depth)
{
	struct type t = {.name = types__add_name(&f->types, dwarf_diename(die)), .ref = NO_TYPE};
	struct alias a = {.type = f->types.types.len};

	vec__push(&f->types.types, t);
	*map64__put(&f->seen, (uintptr_t)die->addr) = a.type + 1;
	a.of = type_of(f, die, depth);
	vec__push(&f->aliases, a);
	return a.type;
}

static uint32_t add_type(struct die_types *f, Dwarf_Die *die, unsigned depth)
{
	uint64_t *known = map64__get(&f->seen, (uintptr_t)die->addr);
	uint32_t type;

	if (known)
		return *known - 1;
	if (depth > TYPE_DEPTH || types__are_full(&f->types))
		return NO_TYPE;
	switch (dwarf_tag(die)) {
	case DW_TAG_typedef:
		return add_alias(f, die, depth);
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		return type_of(f, die, depth);
	}
	type = f->types.types.len;
	vec__push(&f->types.types, (struct type){.ref = NO_TYPE});
	*map64__put(&f->seen, (uintptr_t)die->addr) = type + 1;
	take_type(f, type, die, depth);
	return type;
}

void die_types__settle(struct die_types *f)
{
	const struct alias *a;
	struct map64 of = {0};
	uint64_t *next;

	vec__each (a, &f->aliases)
		*map64__put(&of, a->type) = a->of;
	vec__each (a, &f->aliases) {
		struct type *t = &f->types.types.data[a->type];
		uint32_t name = t->name, end = a->of;

		for (unsigned i = 0; i < TYPE_DEPTH && (next = map64__get(&of, end)); i++)
			end = *next;
		if (end == NO_TYPE || map64__get(&of, end))
			continue;
		*t = f->types.types.data[end];
		t->name = name;
	}
	map64__free(&of);
}

uint32_t die_types__of(struct die_types *f, Dwarf_Die *die)
{
	return type_of(f, die, 0);
}

uint32_t die_types__add(struct die_types *f, Dwarf_Die *type)
{
	return add_type(f, type, 0);
}

void die_types__free(struct die_types *f)
{
	types__free(&f->types);
	map64__free(&f->seen);
	vec__free(&f->aliases);
}
