// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where debug information has a parameter when its function is entered. A location in the
 * function's own frame is that of a copy, which the function has yet to make: calls pass it by the
 * convention. A location in the caller's frame, or in registers, is where it is.
 */
#include <dwarf.h>
#include "arch/arch.h"
#include "dies.h"
#include "param_place.h"

/* A location, or one of its pieces. */
enum spot_kind {
	SPOT_NOTHING, /* it is optimised out */
	SPOT_OTHER,   /* what isn't recorded, or not understood */
	SPOT_REGISTER,
	SPOT_ADDRESS,	/* in memory, at the address in a register */
	SPOT_OWN,	/* in the function's own frame */
	SPOT_OWN_DEREF, /* its address is there */
	SPOT_STACK,	/* offset bytes above the stack pointer */
};
struct spot {
	enum spot_kind kind;
	uint8_t reg;
	uint8_t shift, bits; /* of REGISTER: its lowest bit, and how many are the value's */
	int64_t offset;
};

static uint8_t register_of(const struct entered *f, uint64_t dwarf)
{
	const struct arch_dwarf *d = &f->arch->dwarf;

	return dwarf < d->nregs ? d->regs[dwarf] : REG_NONE;
}

static bool is_reg(uint8_t atom)
{
	return atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
}

static bool is_breg(uint8_t atom)
{
	return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}

/* ---- in frames ---- */

/* The caller's frame begins at the CFA; what is below it is the function's own. */
static struct spot at_cfa(const struct entered *f, int64_t offset)
{
	return offset < 0 ? (struct spot){.kind = SPOT_OWN}
			  : (struct spot){.kind = SPOT_STACK,
					  .offset = offset + f->arch->dwarf.entry_offset};
}

/* A frame base in a register: on x86, the frame pointer's distance from the CFA is fixed. With the
 * stack pointer, what the prologue does is not known here. */
static struct spot in_frame(const struct entered *f, int64_t offset)
{
	const struct arch_dwarf *d = &f->arch->dwarf;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(f->function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, f->entry, &ops, &n, 1) != 1 || n != 1)
		return (struct spot){.kind = SPOT_OWN};
	if (ops->atom == DW_OP_call_frame_cfa)
		return at_cfa(f, offset);
	if (f->arch->call_pushes && is_reg(ops->atom) && ops->atom - DW_OP_reg0 == d->fp)
		return at_cfa(f, offset - (int64_t)d->cfa);
	return (struct spot){.kind = SPOT_OWN};
}

/* ---- expressions ---- */

static bool is_constant(const Dwarf_Op *op, uint64_t *out)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*out = op->atom - DW_OP_lit0;
		return true;
	}
	*out = op->number;
	return op->atom == DW_OP_const1u || op->atom == DW_OP_constu;
}

/* Sets how many bits a conversion leaves. */
static bool take_convert(const struct entered *f, const Dwarf_Op *op, unsigned *bits)
{
	Dwarf_Die type;
	uint64_t size;

	if (!op->number) /* to the size of an address */
		return true;
	if (!f->location || dwarf_getlocation_die(f->location, op, &type))
		return false;
	size = die__size(&type);
	if (!size)
		return false;
	*bits = min_of((uint64_t)*bits, 8 * size);
	return true;
}

/* Takes "constu 32, shr" and "constu 0xff, and". */
static bool take_operation(const Dwarf_Op *ops, struct spot *spot)
{
	uint64_t n;

	if (!is_constant(&ops[0], &n))
		return false;
	switch (ops[1].atom) {
	case DW_OP_shr:
	case DW_OP_shra:
		if (n >= spot->bits)
			return false;
		spot->shift += n;
		spot->bits -= n;
		return true;
	case DW_OP_and:
		if (!n || n & (n + 1)) /* other than the lowest bits */
			return false;
		spot->bits = min_of((unsigned)spot->bits, (unsigned)__builtin_popcountll(n));
		return true;
	}
	return false;
}

/* Some bits of a register: after "breg5 0", operations, "stack_value". */
static struct spot bits_of(const struct entered *f, uint8_t reg, const Dwarf_Op *ops, size_t n)
{
	struct spot spot = {.kind = SPOT_REGISTER, .reg = reg, .bits = 8 * f->arch->word};
	unsigned bits;
	size_t i = 0;

	while (i + 1 < n) {
		if (ops[i].atom == DW_OP_convert || ops[i].atom == DW_OP_GNU_convert) {
			bits = spot.bits;
			if (!take_convert(f, &ops[i], &bits))
				break;
			spot.bits = bits;
			i++;
		} else {
			if (i + 2 >= n || !take_operation(&ops[i], &spot))
				break;
			i += 2;
		}
	}
	return i + 1 == n && ops[i].atom == DW_OP_stack_value ? spot
							      : (struct spot){.kind = SPOT_OTHER};
}

static struct spot at_register(const struct entered *f, const Dwarf_Op *ops, size_t n)
{
	uint8_t reg = register_of(f, ops->atom - DW_OP_breg0);
	int64_t offset = (int64_t)ops->number;

	if (reg == REG_NONE)
		return (struct spot){.kind = SPOT_OTHER};
	if (n > 1)
		return offset ? (struct spot){.kind = SPOT_OTHER} : bits_of(f, reg, ops + 1, n - 1);
	if (reg == f->arch->sp_reg)
		return offset >= f->arch->dwarf.entry_offset
			       ? (struct spot){.kind = SPOT_STACK, .offset = offset}
			       : (struct spot){.kind = SPOT_OTHER};
	return offset ? (struct spot){.kind = SPOT_OTHER}
		      : (struct spot){.kind = SPOT_ADDRESS, .reg = reg};
}

static struct spot spot_of(const struct entered *f, const Dwarf_Op *ops, size_t n)
{
	struct spot spot = {.kind = SPOT_OTHER};

	if (!n)
		return (struct spot){.kind = SPOT_NOTHING};
	if ((is_reg(ops->atom) || ops->atom == DW_OP_regx) && n == 1) {
		spot.reg =
			register_of(f, ops->atom == DW_OP_regx ? ops->number
							       : (uint64_t)ops->atom - DW_OP_reg0);
		spot.kind = spot.reg == REG_NONE ? SPOT_OTHER : SPOT_REGISTER;
		spot.bits = 8 * f->arch->word;
	} else if (is_breg(ops->atom)) {
		spot = at_register(f, ops, n);
	} else if (ops->atom == DW_OP_fbreg && n == 1) {
		spot = in_frame(f, (int64_t)ops->number);
	} else if (ops->atom == DW_OP_fbreg && n == 2 && ops[1].atom == DW_OP_deref) {
		spot = in_frame(f, (int64_t)ops->number);
		spot.kind = spot.kind == SPOT_OWN ? SPOT_OWN_DEREF : SPOT_OTHER;
	}
	return spot;
}

/* ---- places ---- */

static void take_register(const struct entered *f, const struct spot *s, uint64_t at, uint64_t size,
			  struct value_place *out)
{
	uint64_t word = f->arch->word, which = at / word;
	uint8_t *reg = which ? &out->second : &out->reg;

	if (which > 1 || at % word + size > word || s->shift != 8 * (at % word) ||
	    s->bits < 8 * size || (*reg != REG_NONE && *reg != s->reg))
		return;
	*reg = s->reg;
	out->from = FROM_REGISTER;
	out->missing &= ~(((1u << size) - 1) << at);
}

/* i386's first arguments count as registers, which are words of the stack. */
static struct value_place on_stack(const struct entered *f, int64_t offset, uint64_t size)
{
	const struct convention *c = &f->arch->conventions[CONVENTION_C];
	struct value_place at = {.from = FROM_STACK, .second = REG_NONE};
	uint64_t word = f->arch->word, index = (uint64_t)offset / word,
		 first = index - f->arch->call_pushes / word;

	if (offset % (int64_t)word || index > UINT8_MAX)
		return (struct value_place){.reg = REG_NONE, .second = REG_NONE};
	at.reg = index;
	if (word == 4 && first < c->nargs && size <= 2 * word) {
		at.from = FROM_REGISTER;
		at.reg = c->args[first];
		if (size > word && first + 1 < c->nargs)
			at.second = c->args[first + 1];
	}
	return at;
}

static void take_spot(const struct entered *f, const struct spot *s, uint64_t size, bool is_struct,
		      struct type_param *out)
{
	switch (s->kind) {
	case SPOT_NOTHING:
		out->where = WHERE_NOWHERE;
		break;
	case SPOT_REGISTER:
		take_register(f, s, 0, min_of(size, (uint64_t)f->arch->word), &out->place);
		break;
	case SPOT_STACK:
		out->place = on_stack(f, s->offset, size);
		break;
	case SPOT_ADDRESS:
		if (is_struct)
			out->place = (struct value_place){.from = FROM_REGISTER,
							  .reg = s->reg,
							  .second = REG_NONE,
							  .by_address = true};
		break;
	case SPOT_OWN:
		out->where = WHERE_CONVENTION;
		out->passed = 1 + PASSED_BY_VALUE;
		break;
	case SPOT_OWN_DEREF:
		out->where = WHERE_CONVENTION;
		out->passed = 1 + PASSED_BY_ADDRESS;
		break;
	case SPOT_OTHER:
		break;
	}
}

static bool is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* Returns whether there is any. */
static bool take_pieces(const struct entered *f, const Dwarf_Op *ops, size_t n,
			struct type_param *out)
{
	uint64_t at = 0;
	size_t first = 0;
	bool any = false;

	for (size_t i = 0; i < n && at < 16; i++) {
		struct spot s;

		if (!is_piece(&ops[i]))
			continue;
		s = spot_of(f, ops + first, i - first);
		if (ops[i].atom == DW_OP_bit_piece || ops[i].number > 16)
			return any;
		any |= s.kind != SPOT_NOTHING;
		if (s.kind == SPOT_REGISTER)
			take_register(f, &s, at, ops[i].number, &out->place);
		at += ops[i].number;
		first = i + 1;
	}
	return any;
}

static bool has_pieces(const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_piece(&ops[i]))
			return true;
	return false;
}

void param__locate(const struct entered *f, Dwarf_Die *die, struct type_param *out)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	Dwarf_Die type;
	uint64_t size = die__peeled_type(die, &type) ? die__size(&type) : 0;
	bool is_struct = size && (dwarf_tag(&type) == DW_TAG_structure_type ||
				  dwarf_tag(&type) == DW_TAG_class_type ||
				  dwarf_tag(&type) == DW_TAG_union_type);
	struct entered e = *f;
	struct spot s;
	size_t n;

	e.location = &attr;
	out->where = WHERE_PLACE;
	out->place = (struct value_place){.reg = REG_NONE, .second = REG_NONE};
	if (!dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, f->entry, &ops, &n, 1) <= 0) {
		out->where = WHERE_NOWHERE;
		return;
	}
	out->place.missing = size && size < 16 ? (1u << size) - 1 : UINT16_MAX;
	if (has_pieces(ops, n)) {
		if (!take_pieces(&e, ops, n, out))
			out->where = WHERE_NOWHERE;
	} else {
		s = spot_of(&e, ops, n);
		take_spot(f, &s, size, is_struct, out);
	}
	if (out->place.from == FROM_NOWHERE)
		out->place.missing = 0;
}
