// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: what an instruction does to the general registers. Only used to read jump tables and
 * IFUNC resolvers.
 */
#include "arch/aarch64/aarch64.h"
#include "arch/detail.h"

enum form {
	ADR,
	ADRP,
	ADD_IMM, /* add, sub */
	CMP_IMM, /* subs */
	AND_IMM,
	ORR_IMM,
	MOVN,
	MOVZ,
	SBFM,
	UBFM,
	ORR_REG,
	ADD_REG,
	ADD_EXT,
	CMP_REG, /* subs */
	CSEL,
	LITERAL,
	AT_IMM,	 /* loads and stores: a 12-bit offset in units of their size */
	AT_IMM9, /* a 9-bit offset in bytes, written back or not */
	AT_REG,
};

static const struct match rows[] = {
	{0x9f000000, 0x10000000, ADR},	   {0x9f000000, 0x90000000, ADRP},
	{0x3f800000, 0x11000000, ADD_IMM}, {0x7f800000, 0x71000000, CMP_IMM},
	{0x7f800000, 0x12000000, AND_IMM}, {0x7f8003e0, 0x320003e0, ORR_IMM}, /* of zero: mov */
	{0x7f800000, 0x12800000, MOVN},	   {0x7f800000, 0x52800000, MOVZ},
	{0x7f800000, 0x13000000, SBFM},	   {0x7f800000, 0x53000000, UBFM},
	{0x7fe0ffe0, 0x2a0003e0, ORR_REG}, /* of zero: mov */
	{0xffe00000, 0x8b000000, ADD_REG}, /* lsl */
	{0xffe00000, 0x8b200000, ADD_EXT}, {0x7fe0fc00, 0x6b000000, CMP_REG},
	{0xffe00c00, 0x9a800000, CSEL},	   {0x3f000000, 0x18000000, LITERAL},
	{0x3f000000, 0x39000000, AT_IMM},  {0x3f200000, 0x38000000, AT_IMM9},
	{0x3f200c00, 0x38200800, AT_REG},
};

static void set_const(struct insn_detail *out, uint64_t value)
{
	out->op = DETAIL_CONST;
	out->imm = out->bits == 32 ? (uint32_t)value : value;
}

static void adr(uint32_t word, uint64_t addr, struct insn_detail *out)
{
	int64_t offset =
		match__signed(match__field(word, 5, 19) << 2 | match__field(word, 29, 2), 21);

	out->bits = 64;
	set_const(out, word >> 31 ? (addr & ~0xfffull) + offset * 4096 : addr + offset);
}

static void add_imm(uint32_t word, struct insn_detail *out)
{
	int32_t imm = aarch64__imm12(word);
	unsigned rn = aarch64__rn(word);

	if (word >> 30 & 1)
		imm = -imm;
	if (!imm) {
		detail__set_copy(out, rn, out->bits, false);
	} else if (rn == out->dst) {
		out->op = DETAIL_ADD_CONST;
		out->imm = imm;
	} else {
		detail__set_address(out, rn, REG_NONE, 1, imm);
	}
}

/* subs as a comparison: only if it doesn't overwrite the register that it compares. */
static void compare(uint32_t word, struct insn_detail *out)
{
	bool by_number = word >> 28 & 1;
	unsigned rn = aarch64__rn(word);

	if (rn == aarch64__rd(word) || (!by_number && aarch64__rm(word) == A64_ZERO) ||
	    (!by_number && rn == A64_ZERO))
		return;
	out->op = by_number ? DETAIL_CMP_CONST : DETAIL_CMP;
	out->dst = REG_NONE;
	out->src = rn;
	out->imm = by_number ? aarch64__imm12(word) : 0;
	out->with = by_number ? REG_NONE : aarch64__rm(word);
}

/* DecodeBitMasks() of DDI 0487, J1: S + 1 ones, rotated right by R, repeated to fill the register.
 */
static bool bitmask(uint32_t word, uint64_t *out)
{
	unsigned n = word >> 22 & 1, r = match__field(word, 16, 6), s = match__field(word, 10, 6);
	unsigned size = n ? 64 : 32;
	uint64_t element;

	while (!n && size > 1 && (s & size))
		size /= 2;
	if (size < 2 || (s & (size - 1)) == size - 1)
		return false;
	r &= size - 1;
	element = (2ull << (s & (size - 1))) - 1;
	if (r)
		element = element >> r | element << (size - r);
	if (size < 64)
		element &= (1ull << size) - 1;
	for (; size < 64; size *= 2)
		element |= element << size;
	*out = element;
	return true;
}

static void logical_imm(uint32_t word, enum detail_op op, struct insn_detail *out)
{
	uint64_t mask;

	if (!bitmask(word, &mask))
		return;
	set_const(out, mask);
	out->op = op;
	out->src = aarch64__rn(word);
}

static void mov_wide(uint32_t word, bool inverted, struct insn_detail *out)
{
	uint64_t value = (uint64_t)match__field(word, 5, 16) << 16 * match__field(word, 21, 2);

	set_const(out, inverted ? ~value : value);
}

/* ubfm, sbfm: an extension of the low 8, 16 or 32 bits, a shift, or else a mask that bounds the
 * result. */
static void bitfield(uint32_t word, bool sign, struct insn_detail *out)
{
	unsigned r = match__field(word, 16, 6), s = match__field(word, 10, 6);
	unsigned rn = aarch64__rn(word);

	if (r >= out->bits || s >= out->bits)
		return; /* not allocated */
	if (rn == A64_ZERO) {
		set_const(out, 0);
	} else if (!r && (s == 7 || s == 15 || s == 31)) {
		detail__set_copy(out, rn, s + 1, sign);
	} else if (!sign && s == out->bits - 1u) {
		out->op = DETAIL_SHR_CONST;
		out->src = rn;
		out->imm = r;
	} else if (!sign && s + 1 == r && out->bits == 64 && s >= 60) {
		detail__set_address(out, REG_NONE, rn, 1 << (64 - r), 0);
	} else if (!sign && s + 1 == r) {
		out->op = DETAIL_SHL_CONST;
		out->src = rn;
		out->imm = out->bits - r;
	} else if (!sign) {
		out->op = DETAIL_AND_CONST;
		out->src = rn;
		out->imm = s >= r ? (2ull << (s - r)) - 1 : ((2ull << s) - 1) << (out->bits - r);
	}
}

static void mov(uint32_t word, struct insn_detail *out)
{
	if (aarch64__rm(word) == A64_ZERO)
		set_const(out, 0);
	else
		detail__set_copy(out, aarch64__rm(word), out->bits, false);
}

static void add_reg(uint32_t word, struct insn_detail *out)
{
	unsigned shift = match__field(word, 10, 6);

	if (aarch64__rn(word) != A64_ZERO && aarch64__rm(word) != A64_ZERO && shift <= 3)
		detail__set_address(out, aarch64__rn(word), aarch64__rm(word), 1 << shift, 0);
}

/* struct operand's extend for an index: uxtb, uxth, uxtw, uxtx and their signed forms. */
static uint8_t extension(uint32_t word)
{
	unsigned option = match__field(word, 13, 3);

	if ((option & 3) == 3)
		return 0;
	return 8 << (option & 3) | (option & 4 ? EXTEND_SIGNED : 0);
}

static void add_ext(uint32_t word, struct insn_detail *out)
{
	unsigned shift = match__field(word, 10, 3);

	if (aarch64__rm(word) == A64_ZERO || shift > 3)
		return;
	detail__set_extended(out, aarch64__rn(word), aarch64__rm(word), 1 << shift,
			     extension(word));
}

static void csel(uint32_t word, struct insn_detail *out)
{
	if (aarch64__rn(word) == A64_ZERO || aarch64__rm(word) == A64_ZERO)
		return;
	out->op = DETAIL_CMOV;
	out->src = aarch64__rn(word);
	out->with = aarch64__rm(word);
}

static bool is_prefetch(uint32_t word)
{
	return match__field(word, 22, 2) == 2 && word >> 30 == 3;
}

/* Fills in a load or store of a general register, without offset. False: prefetch, or the zero
 * register. */
static bool transfer(uint32_t word, struct insn_detail *out)
{
	unsigned size = word >> 30, opc = match__field(word, 22, 2), rt = aarch64__rd(word);

	if (is_prefetch(word) || rt == A64_ZERO)
		return false;
	out->op = opc ? DETAIL_LOAD : DETAIL_STORE;
	out->bits = 8 << size;
	out->sign = opc >> 1;
	out->dst = opc ? rt : REG_NONE;
	out->src = opc ? REG_NONE : rt;
	out->mem = (struct operand){.kind = OPERAND_MEM,
				    .base = aarch64__rn(word),
				    .index = REG_NONE,
				    .scale = 1,
				    .size = 1 << size};
	return true;
}

static void at_imm9(uint32_t word, struct insn_detail *out)
{
	bool after = match__field(word, 10, 2) == 1;

	if (transfer(word, out) && !after)
		out->mem.disp = match__signed(match__field(word, 12, 9), 9);
}

static void at_reg(uint32_t word, struct insn_detail *out)
{
	bool scaled = word >> 12 & 1;

	if (!transfer(word, out))
		return;
	if (aarch64__rm(word) == A64_ZERO)
		return;
	out->mem.index = aarch64__rm(word);
	out->mem.scale = scaled ? 1 << (word >> 30) : 1;
	out->mem.extend = extension(word);
}

static void literal(uint32_t word, uint64_t addr, struct insn_detail *out)
{
	unsigned opc = word >> 30;

	if (opc == 3 || aarch64__rd(word) == A64_ZERO)
		return;
	out->op = DETAIL_LOAD;
	out->bits = opc == 1 ? 64 : 32;
	out->sign = opc == 2;
	out->mem = (struct operand){.kind = OPERAND_MEM,
				    .base = REG_NONE,
				    .index = REG_NONE,
				    .scale = 1,
				    .size = out->bits / 8};
	out->imm = addr + match__signed(match__field(word, 5, 19), 19) * 4;
}

static void set_op(uint32_t word, uint8_t form, uint64_t addr, struct insn_detail *out)
{
	switch (form) {
	case ADR:
	case ADRP:
		adr(word, addr, out);
		break;
	case ADD_IMM:
		add_imm(word, out);
		break;
	case CMP_IMM:
	case CMP_REG:
		compare(word, out);
		break;
	case AND_IMM:
		logical_imm(word, DETAIL_AND_CONST, out);
		break;
	case ORR_IMM:
		logical_imm(word, DETAIL_CONST, out);
		break;
	case MOVN:
	case MOVZ:
		mov_wide(word, form == MOVN, out);
		break;
	case SBFM:
	case UBFM:
		bitfield(word, form == SBFM, out);
		break;
	case ORR_REG:
		mov(word, out);
		break;
	case ADD_REG:
		add_reg(word, out);
		break;
	case ADD_EXT:
		add_ext(word, out);
		break;
	case CSEL:
		csel(word, out);
		break;
	case LITERAL:
		literal(word, addr, out);
		break;
	case AT_IMM:
		if (transfer(word, out))
			out->mem.disp = match__field(word, 10, 12) << (word >> 30);
		break;
	case AT_IMM9:
		at_imm9(word, out);
		break;
	default:
		at_reg(word, out);
	}
}

static void set_writes(uint32_t word, const struct match *branch, struct insn_detail *out)
{
	struct aarch64_writes writes;

	if (!branch) {
		writes = aarch64__writes(word);
		out->writes = writes.registers;
		out->writes_flags = writes.flags;
		out->writes_memory = writes.memory;
	} else if (branch->kind == BRANCH_CALL || branch->kind == BRANCH_ICALL) {
		out->writes = A64_CALLER_SAVED;
		out->writes_flags = out->writes_memory = true;
	}
}

bool aarch64__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	const struct match *row, *branch;
	uint32_t word;

	if (!aarch64__word(bytes, len, addr, &word))
		return false;
	*out = (struct insn_detail){.dst = REG_NONE, .src = REG_NONE};
	branch = aarch64__branch_row(word);
	set_writes(word, branch, out);
	row = branch ? NULL : match__find(rows, ARRAY_SIZE(rows), word);
	if (!row)
		return true;
	out->bits = word >> 31 ? 64 : 32;
	out->dst = aarch64__rd(word);
	set_op(word, row->form, addr, out);
	if (out->op == DETAIL_OTHER)
		out->dst = REG_NONE;
	return true;
}
