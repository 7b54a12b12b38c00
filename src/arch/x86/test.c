// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: the operands of the instruction that sets a conditional branch's flags, and the
 * flags by their values. Intel SDM volume 1, appendix A, and each instruction's "Flags Affected" in
 * volume 2.
 */
#include "x86.h"

enum { CF = 1, ZF = 1 << 6, SF = 1 << 7, OF = 1 << 11, PF = 1 << 2 };

/* ---- the operands ---- */

/* By enum x86_setter. result: the first operand is changed to it. */
static const struct {
	uint8_t how;
	bool result;
} tests[X86_SETTERS] = {
	[X86_SET_COMPARE] = {TEST_SUB, false},	[X86_SET_TEST] = {TEST_AND, false},
	[X86_SET_BIT] = {TEST_BIT, false},	[X86_SET_SUB] = {TEST_SUB, true},
	[X86_SET_ADD] = {TEST_ADD, true},	[X86_SET_LOGIC] = {TEST_LOGIC, true},
	[X86_SET_INC] = {TEST_INC, true},	[X86_SET_DEC] = {TEST_DEC, true},
	[X86_SET_RESULT] = {TEST_RESULT, true},
};

/* Only the result counts: what it was made of is not looked at. */
static bool is_by_result(uint8_t how)
{
	return how == TEST_LOGIC || how == TEST_INC || how == TEST_DEC || how == TEST_RESULT;
}

static bool set_register(ZydisRegister reg, struct test_operand *out)
{
	out->kind = OPERAND_REG;
	out->at.kind = OPERAND_REG;
	out->at.base = x86__gpr(reg);
	out->shift = x86__is_high_byte(reg) ? 8 : 0;
	return out->at.base < X86_GENERAL;
}

static bool set_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
		       struct test_operand *out)
{
	out->kind = OPERAND_MEM;
	if (x86__modrm(z, &out->at))
		out->at.size = o->size / 8;
	else
		return false;
	/* Its segment may have another base in the kernel, which reads it. */
	return out->at.seg == SEG_NONE && o->size <= 64;
}

static bool set_operand(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
			struct test_operand *out)
{
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return set_register(o->reg.value, out);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return set_memory(z, o, out);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		out->constant = o->imm.is_signed ? (uint64_t)o->imm.value.s : o->imm.value.u;
		return true;
	default:
		return false;
	}
}

static bool is_one_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* A string of bits in memory may be far from its operand's address. */
static bool is_understood(const struct test *t)
{
	if (t->bits != 8 && t->bits != 16 && t->bits != 32 && t->bits != 64)
		return false;
	return t->how != TEST_BIT || t->operand[0].kind == OPERAND_REG;
}

bool x86__test(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
	       struct test *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	unsigned n;

	*out = (struct test){0};
	if (!len || x86__raw(mode, bytes, len, &raw))
		return false;
	out->how = tests[raw.form.sets].how;
	out->result = tests[raw.form.sets].result;
	n = out->how ? x86__operands(&raw, ops) : 0;
	if (!n)
		return false;
	out->n = is_by_result(out->how) ? 1 : 2;
	out->bits = ops[0].size;
	out->kills = x86__written(ops, n);
	/* a memory operand that is locked may have changed already */
	if (raw.z.operand_count_visible < out->n || raw.z.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	for (unsigned i = 0; i < out->n; i++)
		if (!set_operand(&raw.z, &ops[i], &out->operand[i]))
			return false;
	for (unsigned i = 0; i < out->n; i++)
		out->operand[i].constant &= test__mask(out);
	if (out->how == TEST_AND && is_one_register(&ops[0], &ops[1])) {
		out->how = TEST_LOGIC;
		out->n = 1;
	}
	return is_understood(out);
}

/* ---- the flags ---- */

static uint64_t sign_of(const struct test *t, uint64_t v)
{
	return v >> (t->bits - 1) & 1;
}

static uint64_t result_flags(const struct test *t, uint64_t r)
{
	r &= test__mask(t);
	return (r ? 0 : ZF) | (sign_of(t, r) ? SF : 0) |
	       (__builtin_popcount(r & 0xff) % 2 ? 0 : PF);
}

static uint64_t difference_flags(const struct test *t, uint64_t a, uint64_t b)
{
	uint64_t r = (a - b) & test__mask(t);

	return result_flags(t, r) | (a < b ? CF : 0) | (sign_of(t, (a ^ b) & (a ^ r)) ? OF : 0);
}

static uint64_t sum_flags(const struct test *t, uint64_t a, uint64_t b)
{
	uint64_t r = (a + b) & test__mask(t);

	return result_flags(t, r) | (r < a ? CF : 0) | (sign_of(t, ~(a ^ b) & (a ^ r)) ? OF : 0);
}

uint64_t x86__test_flags(const struct test *t, const uint64_t value[2], uint64_t *unknown)
{
	uint64_t a = value[0], b = value[1], lowest = 1ull << (t->bits - 1);

	switch (t->how) {
	case TEST_SUB:
		return difference_flags(t, a, b);
	case TEST_ADD:
		return sum_flags(t, a, b);
	case TEST_AND:
		return result_flags(t, a & b);
	case TEST_LOGIC:
		return result_flags(t, a);
	case TEST_BIT: /* the others are undefined, ZF is unaffected */
		*unknown = ZF | SF | OF | PF;
		return a >> (b % t->bits) & 1 ? CF : 0;
	case TEST_INC:
		*unknown = CF;
		return result_flags(t, a) | (a == lowest ? OF : 0);
	case TEST_DEC:
		*unknown = CF;
		return result_flags(t, a) | (a == lowest - 1 ? OF : 0);
	default:
		*unknown = CF | OF;
		return result_flags(t, a);
	}
}
