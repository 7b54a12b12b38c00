// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: what an instruction that is no branch does to sp and x29.
 */
#include "arch/aarch64/aarch64.h"

enum form {
	ADD, /* 12-bit immediate, 64-bit registers */
	SUB,
	PAIR,	 /* 7-bit offset in units of the register's size */
	ONE,	 /* 9-bit offset in bytes */
	ADD_REG, /* sp += a 64-bit register */
	SUB_REG,
};

/* The forms that add to sp or copy it. Of loads and stores only those that write back. */
static const struct match rows[] = {
	{0xff800000, 0x91000000, ADD},	/* add */
	{0xff800000, 0xd1000000, SUB},	/* sub */
	{0x3a800000, 0x28800000, PAIR}, /* ldp, stp, of vectors as well */
	{0x3b200400, 0x38000400, ONE},	/* ldr, str */
	{0xffe0ffff, 0x8b2063ff, ADD_REG}, {0xffe0ffff, 0xcb2063ff, SUB_REG},
};

static void set(struct insn *out, enum sp_effect effect, int64_t value)
{
	out->sp_effect = effect;
	out->sp_value = value;
}

static void add(uint32_t word, int64_t value, struct insn *out)
{
	unsigned rd = aarch64__rd(word), rn = aarch64__rn(word);

	if (rd == A64_SP && rn == A64_SP)
		set(out, SP_ADD, value);
	else if (rd == A64_SP && rn == A64_FP)
		set(out, SP_FROM_FP, value);
	else if (rd == A64_FP && rn == A64_SP)
		set(out, SP_FP_FROM_SP, value);
	else
		set(out, rd == A64_SP ? SP_LOST : SP_FP_LOST, 0);
}

/* The base that is written back is sp; the loaded register may be x29. */
static void write_back(int64_t value, uint32_t written, struct insn *out)
{
	set(out, written >> A64_FP & 1 ? SP_FP_LOST : SP_ADD, value);
}

/* The offset of a pair's load or store, in bytes. */
static int64_t pair_offset(uint32_t word)
{
	unsigned opc = word >> 30, vector = word >> 26 & 1;
	int64_t size = vector ? 4 << opc : opc & 2 ? 8 : 4;

	/* stgp: units of 16 bytes */
	if (!vector && opc == 1 && !(word >> 22 & 1))
		size = 16;
	return match__signed(match__field(word, 15, 7), 7) * size;
}

void aarch64__sp(uint32_t word, struct insn *out)
{
	uint32_t written = aarch64__writes(word).registers;
	const struct match *m;

	if (!(written & (1u << A64_SP | 1u << A64_FP)))
		return;
	m = match__find(rows, ARRAY_SIZE(rows), word);
	if (m && m->form == ADD)
		add(word, aarch64__imm12(word), out);
	else if (m && m->form == SUB)
		add(word, -(int64_t)aarch64__imm12(word), out);
	else if (m && written >> A64_SP & 1 && m->form == PAIR)
		write_back(pair_offset(word), written, out);
	else if (m && written >> A64_SP & 1 && m->form == ONE)
		write_back(match__signed(match__field(word, 12, 9), 9), written, out);
	else if (m && written >> A64_SP & 1)
		set(out, m->form == ADD_REG ? SP_ADD_REG : SP_SUB_REG, aarch64__rm(word));
	else
		set(out, written >> A64_SP & 1 ? SP_LOST : SP_FP_LOST, 0);
}
