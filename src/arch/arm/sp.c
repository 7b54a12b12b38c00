// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM: what an instruction that is no branch does to sp and to the frame pointer, which is r11 in
 * A32 code and r7 in T32 code.
 */
#include "arch/arm/arm.h"

/* Loads and stores that write sp back. */
enum form {
	BLOCK,	  /* ldm, stm: bits 0 to 15 are registers */
	VECTORS,  /* vldm, vstm: bits 0 to 7 count words */
	ONE,	  /* A32: 12 bits of offset */
	EIGHT,	  /* T32: 8 bits of offset */
	PAIR,	  /* T32, ldrd, strd: 8 bits in words */
	HALFWORD, /* A32, ldrd and the like: 8 bits in two fields */
};

static const struct match a32[] = {
	{0x0e2f0000, 0x082d0000, BLOCK},    {0x0e2f0e00, 0x0c2d0a00, VECTORS},
	{0x0f2f0000, 0x052d0000, ONE},	    {0x0f0f0000, 0x040d0000, ONE},
	{0x0f6f0090, 0x016d0090, HALFWORD}, {0x0f4f0090, 0x004d0090, HALFWORD},
};

static const struct match t32[] = {
	{0xfe6f0000, 0xe82d0000, BLOCK},
	{0xfe2f0e00, 0xec2d0a00, VECTORS},
	{0xff8f0900, 0xf80d0900, EIGHT},
	{0xfe6f0000, 0xe86d0000, PAIR},
};

static void set(struct insn *out, enum sp_effect effect, int64_t value)
{
	out->sp_effect = effect;
	out->sp_value = value;
}

/* Returns the bytes that are added to sp; 0 if not known. */
static int64_t written_back(uint32_t word, uint8_t form, bool thumb)
{
	bool up = thumb && form == EIGHT ? word >> 9 & 1 : word >> 23 & 1;
	int64_t bytes = 0;

	switch (form) {
	case BLOCK:
		bytes = 4 * __builtin_popcount(word & 0xffff);
		break;
	case VECTORS:
		bytes = 4 * (word & 0xff);
		break;
	case ONE:
		bytes = word & 0xfff;
		break;
	case EIGHT:
		bytes = word & 0xff;
		break;
	case PAIR:
		bytes = (word & 0xff) * 4;
		break;
	case HALFWORD:
		bytes = match__field(word, 8, 4) << 4 | (word & 15);
		break;
	}
	return up ? bytes : -bytes;
}

static int64_t pushed(const struct arm_word *w)
{
	uint32_t word = w->word;
	const struct match *m;

	if (w->len == 2 && (word & 0xf600) == 0xb400)
		return (word >> 11 & 1 ? 4 : -4) * __builtin_popcount(word & 0x1ff);
	if (w->len == 2)
		return 0;
	m = w->thumb ? match__find(t32, ARRAY_SIZE(t32), word)
		     : match__find(a32, ARRAY_SIZE(a32), word);
	return m ? written_back(word, m->form, w->thumb) : 0;
}

/* An addition to sp or the frame pointer, or a copy of one. */
static void add(const struct insn_detail *d, unsigned fp, struct insn *out)
{
	uint8_t from = d->op == DETAIL_COPY	   ? d->src
		       : d->op == DETAIL_ADD_CONST ? d->dst
						   : d->mem.base;
	int64_t value = d->op == DETAIL_COPY ? 0 : d->op == DETAIL_ADD_CONST ? d->imm : d->mem.disp;

	if (d->dst == ARM_SP && from == ARM_SP)
		set(out, SP_ADD, value);
	else if (d->dst == ARM_SP && from == fp)
		set(out, SP_FROM_FP, value);
	else if (d->dst == fp && from == ARM_SP)
		set(out, SP_FP_FROM_SP, value);
	else
		set(out, d->dst == ARM_SP ? SP_LOST : SP_FP_LOST, 0);
}

void arm__sp(const struct arm_word *w, struct insn *out)
{
	unsigned fp = w->thumb ? ARM_R7 : ARM_R11;
	uint32_t written = arm__writes(w).registers;
	struct insn_detail d = {.bits = 32};
	int64_t bytes = pushed(w);

	if (!(written & (1u << ARM_SP | 1u << fp)))
		return;
	if (w->cond == ARM_AL && bytes && written >> ARM_SP & 1) {
		set(out, written >> fp & 1 ? SP_FP_LOST : SP_ADD, bytes);
		return;
	}
	if (w->cond == ARM_AL)
		arm__operation(w, &d);
	if (d.op == DETAIL_ADD_CONST || (d.op == DETAIL_COPY && d.bits == 32) ||
	    (d.op == DETAIL_LEA && d.mem.base != REG_NONE && d.mem.index == REG_NONE))
		add(&d, fp, out);
	else if (d.op == DETAIL_ADD && d.dst == ARM_SP)
		set(out, SP_ADD_REG, d.src);
	else
		set(out, written >> ARM_SP & 1 ? SP_LOST : SP_FP_LOST, 0);
}
