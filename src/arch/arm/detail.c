// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM: what an instruction does to the registers, as far as reading jump tables needs it.
 */
#include "arch/arm/arm.h"
#include "arch/detail.h"

enum form {
	/* A32; T32 of 32 bits where it is the same but for the fields */
	ADD_IMM,
	SUB_IMM,
	MOV_IMM,
	MVN_IMM,
	AND_IMM,
	CMP_IMM,
	MOVW,
	ADDW,
	SUBW,
	ADD_REG,
	CMP_REG,
	MOV_REG,
	AT_IMM,
	AT_REG,
	AT_HALF,     /* A32: ldrh and the like, an offset */
	AT_HALF_REG, /* a register */
	AT_8,	     /* T32: 8 bits of offset */
	/* T16 */
	T_SHIFT,
	T_ADD3,
	T_ADD_REG,
	T_MOV8,
	T_CMP8,
	T_ADD8,
	T_CMP,
	T_ADD_HIGH,
	T_CMP_HIGH,
	T_MOV_HIGH,
	T_LITERAL,
	T_AT_REG,
	T_AT_IMM,
	T_AT_HALF,
	T_AT_SP,
	T_ADR,
	T_ADD_SP,
	T_SP,
	EXTEND,
	LITERALS, /* vldr, T32 ldrd: what they load isn't described */
};

static const struct match a32[] = {
	{0x0fe00000, 0x02800000, ADD_IMM},     {0x0fe00000, 0x02400000, SUB_IMM},
	{0x0fe00000, 0x03a00000, MOV_IMM},     {0x0fe00000, 0x03e00000, MVN_IMM},
	{0x0fe00000, 0x02000000, AND_IMM},     {0x0ff0f000, 0x03500000, CMP_IMM},
	{0x0ff00000, 0x03000000, MOVW},	       {0x0fe00010, 0x00800000, ADD_REG},
	{0x0ff0fff0, 0x01500000, CMP_REG},     {0x0fe00010, 0x01a00000, MOV_REG},
	{0x0e000000, 0x04000000, AT_IMM},      {0x0e000010, 0x06000000, AT_REG},
	{0x0e4000f0, 0x004000b0, AT_HALF},     {0x0e5000d0, 0x005000d0, AT_HALF},
	{0x0e4000f0, 0x000000b0, AT_HALF_REG}, {0x0e5000d0, 0x001000d0, AT_HALF_REG},
	{0x0f8f0070, 0x068f0070, EXTEND},      {0x0f3f0e00, 0x0d1f0a00, LITERALS},
};

static const struct match t16[] = {
	{0xf000, 0x0000, T_SHIFT},    {0xfc00, 0x1c00, T_ADD3},	    {0xfe00, 0x1800, T_ADD_REG},
	{0xf800, 0x2000, T_MOV8},     {0xf800, 0x2800, T_CMP8},	    {0xf000, 0x3000, T_ADD8},
	{0xffc0, 0x4280, T_CMP},      {0xff00, 0x4400, T_ADD_HIGH}, {0xff00, 0x4500, T_CMP_HIGH},
	{0xff00, 0x4600, T_MOV_HIGH}, {0xf800, 0x4800, T_LITERAL},  {0xf000, 0x5000, T_AT_REG},
	{0xe000, 0x6000, T_AT_IMM},   {0xf000, 0x8000, T_AT_HALF},  {0xf000, 0x9000, T_AT_SP},
	{0xf800, 0xa000, T_ADR},      {0xf800, 0xa800, T_ADD_SP},   {0xff00, 0xb000, T_SP},
	{0xff00, 0xb200, EXTEND},
};

static const struct match t32[] = {
	{0xfbe08000, 0xf1000000, ADD_IMM},  {0xfbf08f00, 0xf1b00f00, CMP_IMM},
	{0xfbe08000, 0xf1a00000, SUB_IMM},  {0xfbef8000, 0xf04f0000, MOV_IMM},
	{0xfbef8000, 0xf06f0000, MVN_IMM},  {0xfbe08000, 0xf0000000, AND_IMM},
	{0xfbf08000, 0xf2400000, MOVW},	    {0xfbf08000, 0xf2000000, ADDW},
	{0xfbf08000, 0xf2a00000, SUBW},	    {0xffe08030, 0xeb000000, ADD_REG},
	{0xfff0fff0, 0xebb00f00, CMP_REG},  {0xffef8000, 0xea4f0000, MOV_REG},
	{0xfe800000, 0xf8800000, AT_IMM},   {0xfe1f0000, 0xf81f0000, AT_IMM},
	{0xfe800fc0, 0xf8000000, AT_REG},   {0xfe800800, 0xf8000800, AT_8},
	{0xff8ff0c0, 0xfa0ff080, EXTEND},   {0xff3f0e00, 0xed1f0a00, LITERALS},
	{0xff7f0000, 0xe95f0000, LITERALS},
};

static void set_const(struct insn_detail *out, uint32_t value)
{
	out->op = DETAIL_CONST;
	out->imm = value;
}

static void set_compare(struct insn_detail *out, uint8_t src, uint8_t with, int64_t imm)
{
	out->op = with == REG_NONE ? DETAIL_CMP_CONST : DETAIL_CMP;
	out->dst = REG_NONE;
	out->src = src;
	out->with = with;
	out->imm = imm;
}

/* dst = src + imm. subs sets the flags as comparing does. */
static void set_sum(const struct arm_word *w, struct insn_detail *out, unsigned src, int64_t imm)
{
	if (src == ARM_PC) {
		set_const(out, (arm__pc(w) & ~3u) + imm);
	} else if (!imm) {
		detail__set_copy(out, src, 32, false);
	} else if (src == out->dst) {
		out->op = DETAIL_ADD_CONST;
		out->imm = imm;
		out->subtracts = out->writes_flags && imm < 0;
	} else {
		detail__set_address(out, src, REG_NONE, 1, imm);
	}
}

/* dst = a + (b << shift) */
static void set_sum_of(const struct arm_word *w, struct insn_detail *out, unsigned a, unsigned b,
		       unsigned shift)
{
	if (shift > 3 || b == ARM_PC) {
		return;
	} else if (a == ARM_PC) {
		detail__set_address(out, REG_NONE, b, 1 << shift, arm__pc(w));
		if (!shift && b == out->dst) {
			out->op = DETAIL_ADD_CONST;
			out->imm = arm__pc(w);
		}
	} else if (a == out->dst && a != b && !shift) {
		out->op = DETAIL_ADD;
		out->src = b;
	} else {
		detail__set_address(out, a, b, 1 << shift, 0);
	}
}

static void set_shift(struct insn_detail *out, unsigned src, unsigned type, unsigned by)
{
	enum { LEFT, RIGHT };

	if (type == LEFT && !by) {
		detail__set_copy(out, src, 32, false);
	} else if (type == LEFT && by <= 3) {
		detail__set_address(out, REG_NONE, src, 1 << by, 0);
	} else if (type == RIGHT && by) {
		out->op = DETAIL_SHR_CONST;
		out->src = src;
		out->imm = by;
	}
}

/* A load or a store of rt. A literal's address is known. */
static void set_transfer(const struct arm_word *w, struct insn_detail *out, bool loads, unsigned rt,
			 struct operand mem)
{
	if (rt == ARM_PC)
		return;
	out->op = loads ? DETAIL_LOAD : DETAIL_STORE;
	out->bits = mem.size * 8;
	out->dst = loads ? rt : REG_NONE;
	out->src = loads ? REG_NONE : rt;
	mem.kind = OPERAND_MEM;
	if (!mem.scale)
		mem.scale = 1;
	if (mem.base == ARM_PC) {
		out->imm = (uint32_t)((arm__pc(w) & ~3u) + mem.disp);
		mem.base = REG_NONE;
		mem.disp = 0;
	}
	out->mem = mem;
}

static void literals(const struct arm_word *w, struct insn_detail *out)
{
	int32_t offset = (w->word & 0xff) * 4;
	bool one = w->thumb && w->word >> 24 == 0xed ? !(w->word >> 8 & 1)
						     : !w->thumb && !(w->word >> 8 & 1);

	out->op = DETAIL_LOAD;
	out->dst = REG_NONE;
	out->bits = one ? 32 : 64;
	out->mem = (struct operand){.kind = OPERAND_MEM,
				    .base = REG_NONE,
				    .index = REG_NONE,
				    .scale = 1,
				    .size = out->bits / 8};
	out->imm = (arm__pc(w) & ~3u) + (w->word >> 23 & 1 ? offset : -offset);
}

/* ---- A32 ---- */

static int32_t signed_by(uint32_t word, int32_t value)
{
	return word >> 23 & 1 ? value : -value;
}

static void transfer_a32(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	static const uint8_t halves[4] = {0, 2, 1, 2}; /* bits 5 and 6: strh, ldrh; ldrsb; ldrsh */
	uint32_t word = w->word;
	bool half = form == AT_HALF || form == AT_HALF_REG, before = word >> 24 & 1;
	struct operand mem = {.base = match__field(word, 16, 4), .index = REG_NONE};

	mem.size = half ? halves[match__field(word, 5, 2)] : word >> 22 & 1 ? 1 : 4;
	out->sign = half && word >> 6 & 1;
	if (form == AT_IMM)
		mem.disp = signed_by(word, word & 0xfff);
	else if (form == AT_HALF)
		mem.disp = signed_by(word, match__field(word, 8, 4) << 4 | (word & 15));
	else
		mem.index = word & 15;
	if (form == AT_REG)
		mem.scale = 1 << min_of(match__field(word, 7, 5), 4u);
	/* It is written back after the access, which is without an offset. */
	if (!before) {
		mem.disp = 0;
		mem.index = REG_NONE;
	}
	if ((before && word >> 21 & 1) || !mem.size ||
	    (mem.index != REG_NONE &&
	     (!(word >> 23 & 1) || mem.scale > 8 || (form == AT_REG && match__field(word, 5, 2)))))
		return;
	set_transfer(w, out, word >> 20 & 1, match__field(word, 12, 4), mem);
}

static void set_op_a32(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	uint32_t word = w->word, imm = a32__immediate(word);
	unsigned rn = match__field(word, 16, 4), shift = match__field(word, 7, 5);
	unsigned bits = word >> 20 & 1 ? 16 : 8;

	switch (form) {
	case ADD_IMM:
		set_sum(w, out, rn, (int32_t)imm);
		break;
	case SUB_IMM:
		set_sum(w, out, rn, -(int64_t)imm);
		break;
	case MOV_IMM:
		set_const(out, imm);
		break;
	case MVN_IMM:
		set_const(out, ~imm);
		break;
	case AND_IMM:
		out->op = DETAIL_AND_CONST;
		out->imm = (int32_t)imm;
		break;
	case CMP_IMM:
		set_compare(out, rn, REG_NONE, (int32_t)imm);
		break;
	case MOVW:
		set_const(out, rn << 12 | (word & 0xfff));
		break;
	case ADD_REG:
		if (!match__field(word, 5, 2))
			set_sum_of(w, out, rn, word & 15, shift);
		break;
	case CMP_REG:
		set_compare(out, rn, word & 15, 0);
		break;
	case MOV_REG:
		if ((word & 15) != ARM_PC)
			set_shift(out, word & 15, match__field(word, 5, 2), shift);
		break;
	case LITERALS:
		literals(w, out);
		break;
	case EXTEND: /* sxtb, sxth, uxtb, uxth without a rotation */
		if (word >> 21 & 1 && !match__field(word, 10, 2))
			detail__set_copy(out, word & 15, bits, !(word >> 22 & 1));
		break;
	default:
		transfer_a32(w, form, out);
	}
}

/* ---- T32, 16 bits ---- */

static void transfer_t16(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	/* bits 9 to 11 */
	static const uint8_t sizes[8] = {4, 2, 1, 1, 4, 2, 1, 2};
	uint32_t word = w->word, imm5 = match__field(word, 6, 5);
	unsigned op = match__field(word, 9, 3);
	struct operand mem = {.base = match__field(word, 3, 3), .index = REG_NONE};
	bool loads = word >> 11 & 1;
	unsigned rt = word & 7;

	if (form == T_AT_REG) {
		mem.index = match__field(word, 6, 3);
		mem.size = sizes[op];
		loads = op >= 3;
		out->sign = op == 3 || op == 7;
	} else if (form == T_AT_HALF) {
		mem.size = 2;
		mem.disp = imm5 * 2;
	} else if (form == T_AT_IMM) {
		mem.size = word >> 12 & 1 ? 1 : 4;
		mem.disp = imm5 * mem.size;
	} else { /* of sp, or a literal */
		rt = match__field(word, 8, 3);
		loads |= form == T_LITERAL;
		mem.base = form == T_LITERAL ? ARM_PC : ARM_SP;
		mem.size = 4;
		mem.disp = (word & 0xff) * 4;
	}
	set_transfer(w, out, loads, rt, mem);
}

static void set_op_t16(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	uint32_t word = w->word, imm8 = word & 0xff;
	unsigned d0 = word & 7, d3 = match__field(word, 3, 3), d6 = match__field(word, 6, 3);
	unsigned d8 = match__field(word, 8, 3), high = d0 | (word >> 4 & 8);
	unsigned from = match__field(word, 3, 4);

	out->dst = form == T_MOV8 || form == T_ADD8 || form == T_ADR || form == T_ADD_SP ? d8 : d0;
	switch (form) {
	case T_SHIFT:
		set_shift(out, d3, word >> 11 & 1, match__field(word, 6, 5));
		break;
	case T_ADD3:
		set_sum(w, out, d3, word >> 9 & 1 ? -(int64_t)d6 : d6);
		break;
	case T_ADD_REG:
		set_sum_of(w, out, d3, d6, 0);
		break;
	case T_MOV8:
		set_const(out, imm8);
		break;
	case T_CMP8:
		set_compare(out, d8, REG_NONE, imm8);
		break;
	case T_ADD8:
		set_sum(w, out, d8, word >> 11 & 1 ? -(int64_t)imm8 : imm8);
		break;
	case T_CMP:
		set_compare(out, d0, d3, 0);
		break;
	case T_ADD_HIGH:
		out->dst = high;
		set_sum_of(w, out, from == ARM_PC ? from : high, from == ARM_PC ? high : from, 0);
		break;
	case T_CMP_HIGH:
		set_compare(out, high, from, 0);
		break;
	case T_MOV_HIGH:
		out->dst = high;
		if (from == ARM_PC)
			set_const(out, arm__pc(w));
		else
			detail__set_copy(out, from, 32, false);
		break;
	case T_ADR:
		set_sum(w, out, ARM_PC, imm8 * 4);
		break;
	case T_ADD_SP:
		set_sum(w, out, ARM_SP, imm8 * 4);
		break;
	case T_SP:
		out->dst = ARM_SP;
		set_sum(w, out, ARM_SP, (imm8 & 0x7f) * (word >> 7 & 1 ? -4ll : 4ll));
		break;
	case EXTEND: /* bits 6 and 7: sxth, sxtb, uxth, uxtb */
		detail__set_copy(out, d3, word >> 6 & 1 ? 8 : 16, !(word >> 7 & 1));
		break;
	default:
		transfer_t16(w, form, out);
	}
}

/* ---- T32, 32 bits ---- */

static void transfer_t32(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	uint32_t word = w->word;
	struct operand mem = {.base = match__field(word, 16, 4), .index = REG_NONE};
	bool before = word >> 10 & 1, back = word >> 8 & 1;

	mem.size = 1 << match__field(word, 21, 2);
	out->sign = word >> 24 & 1;
	if (mem.size > 4 || (out->sign && (mem.size == 4 || !(word >> 20 & 1))))
		return;
	if (form == AT_REG) {
		mem.index = word & 15;
		mem.scale = 1 << match__field(word, 4, 2);
	} else if (form == AT_8) {
		mem.disp = word >> 9 & 1 ? (int)(word & 0xff) : -(int)(word & 0xff);
		if (before && back)
			return;
		mem.disp = before ? mem.disp : 0;
	} else {
		mem.disp = mem.base == ARM_PC ? signed_by(word, word & 0xfff) : (int)(word & 0xfff);
	}
	set_transfer(w, out, word >> 20 & 1, match__field(word, 12, 4), mem);
}

static void set_op_t32(const struct arm_word *w, uint8_t form, struct insn_detail *out)
{
	uint32_t word = w->word, imm = t32__immediate(word);
	unsigned rn = match__field(word, 16, 4), rm = word & 15;
	unsigned shift = match__field(word, 12, 3) << 2 | match__field(word, 6, 2);
	uint32_t imm12 = (word >> 26 & 1) << 11 | match__field(word, 12, 3) << 8 | (word & 0xff);

	out->dst = match__field(word, 8, 4);
	switch (form) {
	case ADD_IMM:
	case SUB_IMM:
		if (out->dst != ARM_PC)
			set_sum(w, out, rn,
				form == ADD_IMM ? (int64_t)(int32_t)imm : -(int64_t)imm);
		break;
	case ADDW:
	case SUBW:
		set_sum(w, out, rn, form == ADDW ? (int64_t)imm12 : -(int64_t)imm12);
		break;
	case MOV_IMM:
		set_const(out, imm);
		break;
	case MVN_IMM:
		set_const(out, ~imm);
		break;
	case MOVW:
		set_const(out, rn << 12 | imm12);
		break;
	case AND_IMM:
		if (out->dst == ARM_PC) /* tst */
			break;
		out->op = DETAIL_AND_CONST;
		out->imm = (int32_t)imm;
		break;
	case CMP_IMM:
		set_compare(out, rn, REG_NONE, (int32_t)imm);
		break;
	case CMP_REG:
		set_compare(out, rn, rm, 0);
		break;
	case ADD_REG:
		if (out->dst != ARM_PC)
			set_sum_of(w, out, rn, rm, shift);
		break;
	case MOV_REG:
		set_shift(out, rm, match__field(word, 4, 2), shift);
		break;
	case LITERALS:
		literals(w, out);
		break;
	case EXTEND: /* bits 20 to 22: sxth, uxth, -, -, sxtb, uxtb */
		if (!match__field(word, 4, 2) && !(word >> 21 & 1))
			detail__set_copy(out, rm, word >> 22 & 1 ? 8 : 16, !(word >> 20 & 1));
		break;
	default:
		transfer_t32(w, form, out);
	}
}

/* ---- both ---- */

void arm__operation(const struct arm_word *w, struct insn_detail *out)
{
	const struct match *row;

	out->dst = match__field(w->word, 12, 4);
	if (!w->thumb) {
		row = match__find(a32, ARRAY_SIZE(a32), w->word);
		if (row && w->word >> 28 == ARM_AL)
			set_op_a32(w, row->form, out);
	} else if (w->len == 2) {
		row = match__find(t16, ARRAY_SIZE(t16), w->word);
		if (row)
			set_op_t16(w, row->form, out);
	} else {
		row = match__find(t32, ARRAY_SIZE(t32), w->word);
		if (row)
			set_op_t32(w, row->form, out);
	}
	if (out->op == DETAIL_OTHER)
		out->dst = out->src = REG_NONE;
}

bool arm__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	const struct match *branch;
	struct arm_writes writes;
	struct arm_word w;

	if (!arm__word(bytes, len, addr, &w))
		return false;
	*out = (struct insn_detail){.dst = REG_NONE, .src = REG_NONE, .bits = 32};
	branch = w.thumb ? t32__branch_row(&w) : a32__branch_row(w.word);
	if (branch) {
		bool calls = branch->kind == BRANCH_CALL || branch->kind == BRANCH_ICALL;

		out->writes = calls ? ARM_CALLER_SAVED : 0;
		out->writes_flags = out->writes_memory = calls;
		return true;
	}
	writes = arm__writes(&w);
	out->writes = writes.registers;
	out->writes_flags = writes.flags;
	out->writes_memory = writes.memory;
	out->conditional = w.cond != ARM_AL;
	out->cond = w.cond;
	/* it may leave dst unchanged */
	if (!out->conditional)
		arm__operation(&w, out);
	return true;
}
