// SPDX-License-Identifier: BSD-2-Clause
/*
 * The variables that operands of instructions are, by debug information (DWARF 5, 2.6 and 4.1,
 * through libdw, in the sandbox). Each variable is read once, in the ranges of its location list.
 * The result is checked row by row.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "object/debug/debug.h"
#include "die_types.h"
#include "dies.h"
#include "dwarf.h"
#include "folded.h"

struct asked {
	const struct operand_place *places; /* by vaddr */
	size_t n;
	const struct arch *arch;
};

/* A row of the answer: one for each place that is a variable, ascending. */
struct row {
	uint32_t place, name; /* name: offset in the strings */
	uint32_t type;	      /* enum variable_type */
};

/* ---- in the sandbox ---- */

#define NAME_MOST 256

struct named_place {
	char *name; /* NULL if there is none */
	unsigned depth;
	uint32_t function; /* the number that it has as an owner of code; 0 if none */
	uint8_t type;
};

struct finder {
	const struct asked *asked;
	const struct debug_session *session;
	struct folded_owners owners;
	uint32_t functions; /* how many were taken */
	Dwarf_Addr bias;    /* of the unit */
	Dwarf_Off walked;
	struct named_place *found; /* by place */
	Dwarf_CFI *cfi;
	Dwarf_Addr cfi_bias;
};

/* A scope of the source, and the function that it is in. */
struct scope {
	Dwarf_Die *die, *function;
	unsigned depth;
	uint32_t number; /* of the function, from 1 on */
};

/* The location of a variable: a register, or memory at a register plus offset, or at an address. */
struct home {
	uint8_t kind; /* enum operand_kind: REG, MEM */
	uint8_t base; /* REG_NONE if there is none */
	int64_t offset;
};

static uint8_t register_of(const struct finder *f, uint64_t number)
{
	const struct arch_dwarf *d = &f->asked->arch->dwarf;

	return number < d->nregs ? d->regs[number] : REG_NONE;
}

/* Returns the first place from this address on. */
static size_t places_from(const struct finder *f, uint64_t vaddr)
{
	size_t low = 0, high = f->asked->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->asked->places[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- types ---- */

/* Returns VARIABLE_NONE if it is no scalar. */
static uint8_t scalar_of(Dwarf_Die *type)
{
	Dwarf_Die numbers;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return VARIABLE_POINTER;
	case DW_TAG_enumeration_type:
		return die__peeled_type(type, &numbers) && dwarf_tag(&numbers) == DW_TAG_base_type
			       ? scalar_of(&numbers)
			       : VARIABLE_NONE;
	case DW_TAG_base_type:
		break;
	default:
		return VARIABLE_NONE;
	}
	switch (die__number(type, DW_AT_encoding)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return VARIABLE_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_UTF:
		return VARIABLE_UNSIGNED;
	default:
		return VARIABLE_NONE;
	}
}

#define TYPE_DEPTH   16
#define MEMBERS_MOST 4096 /* examined for one name, since hostile types may nest without bound */

struct naming {
	struct str name;
	unsigned members; /* how many were examined */
};

static uint8_t put_part(Dwarf_Die *type, uint64_t offset, uint64_t size, const char *dot,
			unsigned depth, struct naming *to);

static bool has_one_dimension(Dwarf_Die *array)
{
	unsigned n = 0;
	Dwarf_Die child;

	if (dwarf_child(array, &child))
		return false;
	do
		n += dwarf_tag(&child) == DW_TAG_subrange_type;
	while (n < 2 && die__next(&child));
	return n == 1;
}

static uint8_t put_element(Dwarf_Die *type, uint64_t offset, uint64_t size, unsigned depth,
			   struct naming *to)
{
	uint64_t each;
	Dwarf_Die element;

	if (!has_one_dimension(type) || !die__peeled_type(type, &element) ||
	    !(each = die__size(&element)))
		return VARIABLE_NONE;
	str__printf(&to->name, "[%llu]", (unsigned long long)(offset / each));
	return put_part(&element, offset % each, size, ".", depth, to);
}

static uint8_t put_member(Dwarf_Die *type, uint64_t offset, uint64_t size, const char *dot,
			  unsigned depth, struct naming *to)
{
	size_t len = to->name.len;
	Dwarf_Die member, inner;
	uint64_t at;

	if (dwarf_child(type, &member))
		return VARIABLE_NONE;
	do {
		const char *text = dwarf_diename(&member);
		uint8_t found;

		if (to->members++ >= MEMBERS_MOST)
			return VARIABLE_NONE;
		if (dwarf_tag(&member) != DW_TAG_member || dwarf_hasattr(&member, DW_AT_bit_size) ||
		    !die__offset(&member, &at) || !die__peeled_type(&member, &inner) ||
		    offset < at || offset - at >= max_of(die__size(&inner), (uint64_t)1))
			continue;
		if (text) {
			str__puts(&to->name, dot);
			str__puts(&to->name, text);
		}
		found = put_part(&inner, offset - at, size, text ? "." : dot, depth, to);
		if (found)
			return found;
		to->name.len = len;
		if (len)
			to->name.data[len] = 0;
	} while (die__next(&member));
	return VARIABLE_NONE;
}

/* Appends ".member" for what is at offset in a variable, with this size. Returns VARIABLE_NONE if
 * nothing is; then what was appended has no meaning. */
static uint8_t put_part(Dwarf_Die *type, uint64_t offset, uint64_t size, const char *dot,
			unsigned depth, struct naming *to)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return depth < TYPE_DEPTH ? put_member(type, offset, size, dot, depth + 1, to)
					  : VARIABLE_NONE;
	case DW_TAG_array_type:
		return depth < TYPE_DEPTH ? put_element(type, offset, size, depth + 1, to)
					  : VARIABLE_NONE;
	default:
		return !offset && die__size(type) == size ? scalar_of(type) : VARIABLE_NONE;
	}
}

/* The same for what a pointer in a register leads to. */
static uint8_t put_pointed(Dwarf_Die *pointer, const char *variable, int64_t offset, uint64_t size,
			   struct naming *to)
{
	Dwarf_Die type;
	uint64_t each;

	if (scalar_of(pointer) != VARIABLE_POINTER || !die__peeled_type(pointer, &type) ||
	    offset < 0)
		return VARIABLE_NONE;
	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		str__puts(&to->name, variable);
		return put_part(&type, offset, size, "->", 0, to);
	default:
		each = die__size(&type);
		if (!each || offset % each)
			return VARIABLE_NONE;
		if (offset)
			str__printf(&to->name, "%s[%llu]", variable,
				    (unsigned long long)(offset / each));
		else
			str__printf(&to->name, "*%s", variable);
		return put_part(&type, 0, size, ".", 0, to);
	}
}

/* ---- where variables are ---- */

/* Sets the frame's address at a place, as a register and an offset. */
static bool frame_at(struct finder *f, struct scope *s, uint64_t vaddr, struct home *out)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	bool known = false;

	if (!dwarf_attr_integrate(s->function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, vaddr - f->bias, &ops, &n, 1) != 1 || n != 1)
		return false;
	out->kind = OPERAND_MEM;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		out->base = register_of(f, ops[0].atom - DW_OP_reg0);
		out->offset = 0;
		return out->base != REG_NONE;
	}
	if (ops[0].atom != DW_OP_call_frame_cfa || !f->cfi ||
	    dwarf_cfi_addrframe(f->cfi, vaddr - f->cfi_bias, &frame))
		return false;
	if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1 && ops[0].atom == DW_OP_bregx) {
		out->base = register_of(f, ops[0].number);
		out->offset = (int64_t)ops[0].number2;
		known = out->base != REG_NONE;
	}
	free(frame);
	return known;
}

/* Returns false if the variable is elsewhere, in parts, or has to be computed. */
static bool home_of(struct finder *f, struct scope *s, const Dwarf_Op *ops, size_t n,
		    uint64_t vaddr, struct home *out)
{
	uint8_t atom = n ? ops[0].atom : 0;
	bool is_value = n == 2 && ops[1].atom == DW_OP_stack_value;

	if (n != 1 && !is_value)
		return false;
	*out = (struct home){.kind = OPERAND_MEM, .base = REG_NONE};
	if (is_value) { /* the operations give the value, not its location */
		out->kind = OPERAND_REG;
		out->base = register_of(f, atom - DW_OP_breg0);
		return atom >= DW_OP_breg0 && atom <= DW_OP_breg31 && !ops[0].number;
	}
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		out->kind = OPERAND_REG;
		out->base = register_of(f, atom - DW_OP_reg0);
		return true;
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		out->base = register_of(f, atom - DW_OP_breg0);
		out->offset = (int64_t)ops[0].number;
		return out->base != REG_NONE;
	}
	if (atom == DW_OP_addr) {
		out->offset = ops[0].number + f->bias;
		return true;
	}
	if (atom != DW_OP_fbreg || !s->function || !frame_at(f, s, vaddr, out))
		return false;
	out->offset += (int64_t)ops[0].number;
	return true;
}

static uint8_t put_name(Dwarf_Die *variable, Dwarf_Die *type, const struct home *h,
			const struct operand_place *p, struct naming *to)
{
	const char *text = dwarf_diename(variable);

	if (!text || h->base != p->base)
		return VARIABLE_NONE;
	if (h->kind == OPERAND_REG && p->kind == OPERAND_REG) {
		str__puts(&to->name, text);
		return die__size(type) == p->size ? scalar_of(type) : VARIABLE_NONE;
	}
	if (h->kind == OPERAND_REG)
		return h->base == REG_NONE ? VARIABLE_NONE
					   : put_pointed(type, text, p->disp, p->size, to);
	if (p->kind != OPERAND_MEM || p->disp < h->offset)
		return VARIABLE_NONE;
	str__puts(&to->name, text);
	return put_part(type, p->disp - h->offset, p->size, ".", 0, to);
}

/* The innermost variable is preferred. */
static void take_match(struct finder *f, struct scope *s, Dwarf_Die *variable, Dwarf_Die *type,
		       const Dwarf_Op *ops, size_t n, size_t place)
{
	const struct operand_place *p = &f->asked->places[place];
	struct named_place *found = &f->found[place];
	struct naming to = {0};
	struct home h;
	uint8_t what;

	if ((found->name && found->depth > s->depth &&
	     !folded_owners__is_replaced(&f->owners, found->function)) ||
	    !home_of(f, s, ops, n, p->vaddr, &h))
		return;
	what = put_name(variable, type, &h, p, &to);
	if (!what || to.name.len > NAME_MOST) {
		str__free(&to.name);
		return;
	}
	free(found->name);
	*found = (struct named_place){to.name.data, s->depth, s->number, what};
}

static bool is_in(struct finder *f, struct scope *s, uint64_t vaddr)
{
	return !s->die || dwarf_haspc(s->die, vaddr - f->bias) > 0;
}

/* A variable without a list has one location in its whole scope, a global one everywhere. */
static void look_at(struct finder *f, struct scope *s, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Die type;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attr) || !die__peeled_type(die, &type))
		return;
	while ((at = dwarf_getlocations(&attr, at, &base, &start, &end, &ops, &n)) > 0) {
		bool always = !start && end == (Dwarf_Addr)-1;
		size_t i = always ? 0 : places_from(f, start + f->bias);
		Dwarf_Addr low, high;

		if (always && s->die && !dwarf_lowpc(s->die, &low) &&
		    !dwarf_highpc(s->die, &high)) {
			i = places_from(f, low + f->bias);
			end = high;
		}
		for (; i < f->asked->n &&
		       (end == (Dwarf_Addr)-1 || f->asked->places[i].vaddr < end + f->bias);
		     i++)
			if (!always || is_in(f, s, f->asked->places[i].vaddr))
				take_match(f, s, die, &type, ops, n, i);
	}
}

static bool has_places(struct finder *f, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		size_t i = places_from(f, start + f->bias);

		if (i < f->asked->n && f->asked->places[i].vaddr < end + f->bias)
			return true;
	}
	return false;
}

/* Returns false if the program doesn't have its code, or has that as another function. */
static bool take_function(struct finder *f, Dwarf_Die *die, struct scope *s)
{
	struct folded_function fn;

	s->number = ++f->functions;
	return folded__describe(die, f->bias, f->session, &fn) && fn.entry &&
	       folded_owners__take(&f->owners, &fn, fn.entry, s->number);
}

static void walk(struct finder *f, Dwarf_Die *die, const struct scope *outer, unsigned depth)
{
	struct scope s = *outer;
	int tag = dwarf_tag(die);
	Dwarf_Die child;

	f->walked = dwarf_dieoffset(die);
	if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
		look_at(f, &s, die);
		return;
	}
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	    tag == DW_TAG_lexical_block) {
		if (!has_places(f, die) || (tag == DW_TAG_subprogram && !take_function(f, die, &s)))
			return;
		s.die = die;
		s.depth++;
	} else if (tag != DW_TAG_compile_unit && tag != DW_TAG_partial_unit &&
		   tag != DW_TAG_namespace) {
		return;
	}
	if (tag == DW_TAG_subprogram)
		s.function = die;
	if (depth < DIE_DEPTH && dwarf_child(die, &child) == 0)
		do
			walk(f, &child, &s, depth + 1);
		while (die__next_after(&child, f->walked));
}

static void put_answer(struct finder *f, struct str *answer)
{
	struct str rows = {0}, names = {0};

	for (size_t i = 0; i < f->asked->n; i++) {
		struct row row = {.place = i, .name = names.len, .type = f->found[i].type};

		if (!f->found[i].name)
			continue;
		if (folded_owners__is_replaced(&f->owners, f->found[i].function)) {
			free(f->found[i].name);
			continue;
		}
		str__put(&names, f->found[i].name, strlen(f->found[i].name) + 1);
		str__put(&rows, (const char *)&row, sizeof(row));
		free(f->found[i].name);
	}
	if (names.len)
		table__put(answer, &rows, sizeof(struct row), &names);
	str__free(&rows);
	str__free(&names);
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	struct finder f = {.asked = ctx, .session = s};
	const struct scope none = {0};
	Dwarf_Die *unit = NULL, whole;

	if (!debug__has_dwarf(s) || s->moved)
		return;
	folded_owners__begin(&f.owners, s, NULL, 0);
	f.found = xcalloc(f.asked->n + 1, sizeof(*f.found));
	f.cfi = dwfl_module_eh_cfi(s->module, &f.cfi_bias);
	while ((unit = dwfl_module_nextcu(s->module, unit, &f.bias)))
		if (has_places(&f, unit) || !dwarf_hasattr(unit, DW_AT_ranges)) {
			whole = unit__whole(unit);
			walk(&f, &whole, &none, 0);
		}
	put_answer(&f, answer);
	folded_owners__end(&f.owners);
	free(f.found);
}

/* ---- in bbtrace's own process ---- */

static bool is_valid(const struct row *row, const struct table *t, size_t n)
{
	return row->place < n && row->name < t->len && t->strings[row->name] &&
	       row->type > VARIABLE_NONE && row->type < VARIABLE_TYPES;
}

void object__variables(const struct object *o, const struct operand_place *places, size_t n,
		       struct variable *out)
{
	struct asked asked = {places, n, arch__by_machine(o->machine)};
	struct str answer = {0};
	struct table t;
	struct row row;

	memset(out, 0, n * sizeof(*out));
	if (!n || !asked.arch || !debug__try(o, find_all, &asked, &answer, "names of variables"))
		return;
	if (!table__take(&t, &answer, sizeof(row))) {
		str__free(&answer);
		return;
	}
	debug__keep(o, answer.data);
	for (size_t i = 0; i < t.n; i++) {
		memcpy(&row, t.records + i * sizeof(row), sizeof(row));
		if (is_valid(&row, &t, n))
			out[row.place] = (struct variable){t.strings + row.name, row.type};
	}
}
