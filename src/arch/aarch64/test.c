// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: what a conditional branch tests, as values: the operands of cmp, or the register that it
 * reads itself. DDI 0487, C6.2, and AddWithCarry() in J1.
 */
#include "arch/aarch64/aarch64.h"

enum { N = 1u << 31, Z = 1 << 30, C = 1 << 29, V = 1 << 28 };

static bool set_register(unsigned reg, struct test_operand *out)
{
	*out = (struct test_operand){.kind = OPERAND_REG,
				     .at = {.kind = OPERAND_REG, .base = reg, .index = REG_NONE}};
	return reg < A64_ZERO;
}

/* cbz, cbnz, tbz, tbnz */
static bool test_branch(uint32_t word, const struct match *row, struct test *out)
{
	struct insn insn = {0};
	unsigned cond;

	if (!aarch64__branch(word, row, false, &insn) || insn.kind != BRANCH_JCC)
		return false;
	cond = insn.cond;
	if (!(cond & A64_NO_FLAGS) || cond & A64_OTHER)
		return false;
	out->how = TEST_READS;
	out->n = 1;
	out->bits =
		cond & A64_WIDE || (cond & A64_ONE && cond >> A64_COND_BIT_SHIFT > 31) ? 64 : 32;
	return set_register(cond >> A64_COND_REG_SHIFT & 31, &out->operand[0]);
}

bool aarch64__test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out)
{
	const struct match *row;
	struct insn_detail d;
	uint32_t word;

	*out = (struct test){0};
	if (!aarch64__word(bytes, len, addr, &word))
		return false;
	row = aarch64__branch_row(word);
	if (row)
		return test_branch(word, row, out);
	if (!aarch64__detail(bytes, len, addr, &d) ||
	    (d.op != DETAIL_CMP && d.op != DETAIL_CMP_CONST) || d.dst != REG_NONE || d.writes)
		return false;
	out->how = TEST_SUB;
	out->n = 2;
	out->bits = d.bits;
	out->operand[1].constant = d.imm & test__mask(out);
	return (d.bits == 32 || d.bits == 64) && set_register(d.src, &out->operand[0]) &&
	       (d.op == DETAIL_CMP_CONST || set_register(d.with, &out->operand[1]));
}

uint64_t aarch64__test_flags(const struct test *t, const uint64_t value[2], uint64_t *unknown)
{
	uint64_t a = value[0], b = value[1], r = (a - b) & test__mask(t);
	unsigned top = t->bits - 1;

	return (r >> top & 1 ? N : 0) | (r ? 0 : Z) | (a >= b ? C : 0) |
	       (((a ^ b) & (a ^ r)) >> top & 1 ? V : 0);
}
