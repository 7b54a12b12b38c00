// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which instructions a uprobe's program does itself. Only those that are listed here, in
 * the forms that are listed: what they do follows from the registers and at most eight bytes of
 * memory, and they can't fault but by that memory or by where they lead to. A call is none, since
 * it stores.
 */
#include "x86.h"

static bool is_sp(uint8_t reg)
{
	return reg == X86_RSP;
}

/* Returns true if, apart from REX, it has no prefix other than this one, where that has no effect;
 * 0 for none. */
static bool has_only(const ZydisDecodedInstruction *z, uint8_t prefix)
{
	unsigned others = z->raw.prefix_count - (z->attributes & ZYDIS_ATTRIB_HAS_REX ? 1 : 0);

	return !others || (others == 1 && prefix && z->raw.prefixes[0].value == prefix);
}

static uint8_t modrm_reg(const ZydisDecodedInstruction *z)
{
	return z->raw.modrm.reg | z->raw.rex.R << 3;
}

static bool is_register(const ZydisDecodedInstruction *z)
{
	return z->raw.modrm.mod == 3;
}

/* For memory without a segment's base. Returns false if its address has 32 bits. */
static bool set_address(const ZydisDecodedInstruction *z, struct execution *e)
{
	struct operand o;

	x86__modrm(z, &o);
	e->base = o.base;
	e->index = o.index;
	e->scale = o.scale;
	e->imm = o.disp;
	return !o.addr32 && o.seg == SEG_NONE;
}

static bool set_copy(const ZydisDecodedInstruction *z, bool to_modrm, struct execution *e)
{
	uint8_t rm = z->raw.modrm.rm | z->raw.rex.B << 3, reg = modrm_reg(z);

	e->op = EXECUTE_COPY;
	e->dst = to_modrm ? rm : reg;
	e->base = to_modrm ? reg : rm;
	e->moves_sp = is_sp(e->dst);
	return is_register(z);
}

static bool set_constant(const ZydisDecodedInstruction *z, uint8_t dst, struct execution *e)
{
	uint64_t value = z->raw.imm[0].value.u;

	e->op = EXECUTE_SET;
	e->dst = dst;
	if (z->raw.imm[0].size == 32)
		value = e->bits == 64 ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
	e->imm = value;
	e->moves_sp = is_sp(dst);
	return true;
}

/* 89 and 8b, b8 … bf, c7. */
static bool set_move(const ZydisDecodedInstruction *z, struct execution *e)
{
	if (z->opcode == 0x89 || z->opcode == 0x8b)
		return set_copy(z, z->opcode == 0x89, e);
	if (z->opcode >> 3 == 0xb8 >> 3)
		return set_constant(z, (z->opcode & 7) | z->raw.rex.B << 3, e);
	return z->opcode == 0xc7 && is_register(z) &&
	       set_constant(z, z->raw.modrm.rm | z->raw.rex.B << 3, e);
}

static bool set_lea(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_LEA;
	e->dst = modrm_reg(z);
	e->moves_sp = is_sp(e->dst);
	return !is_register(z) && set_address(z, e);
}

/* 81 and 83: of the whole stack pointer. */
static bool set_sum(const ZydisDecodedInstruction *z, enum execution_op op, struct execution *e)
{
	if ((z->opcode != 0x81 && z->opcode != 0x83) || !is_register(z) || !z->raw.rex.W ||
	    !is_sp(z->raw.modrm.rm | z->raw.rex.B << 3))
		return false;
	e->op = op;
	e->imm = z->raw.imm[0].size == 8 ? (int8_t)z->raw.imm[0].value.u
					 : (int32_t)z->raw.imm[0].value.u;
	return e->moves_sp = true;
}

static bool set_add(const ZydisDecodedInstruction *z, struct execution *e)
{
	return set_sum(z, EXECUTE_ADD, e);
}

static bool set_sub(const ZydisDecodedInstruction *z, struct execution *e)
{
	return set_sum(z, EXECUTE_SUB, e);
}

/* 58 … 5f */
static bool set_pop(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_POP;
	e->bits = 64;
	e->dst = (z->opcode & 7) | z->raw.rex.B << 3;
	e->moves_sp = true;
	return z->opcode >> 3 == 0x58 >> 3;
}

static bool set_ret(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_RET;
	e->imm = z->opcode == 0xc2 ? z->raw.imm[0].value.u & 0xffff : 0;
	e->moves_sp = true;
	return z->opcode == 0xc3 || (z->opcode == 0xc2 && has_only(z, 0));
}

/* ff /4 */
static bool set_jump(const ZydisDecodedInstruction *z, struct execution *e)
{
	if (z->opcode != 0xff || z->raw.modrm.reg != 4)
		return false;
	e->op = is_register(z) ? EXECUTE_JMP : EXECUTE_JMP_MEM;
	if (!is_register(z))
		return set_address(z, e);
	e->base = z->raw.modrm.rm | z->raw.rex.B << 3;
	return true;
}

/* prefix: that which is without effect */
static const struct {
	bool (*set)(const ZydisDecodedInstruction *z, struct execution *e);
	uint8_t prefix;
} executions[X86_OPS] = {
	[X86_MOVE] = {set_move},
	[X86_LEA] = {set_lea},
	[X86_ADD] = {set_add},
	[X86_SUB] = {set_sub},
	[X86_POP] = {set_pop},
	[X86_RET] = {set_ret, 0xf3},   /* repz, for old branch predictors */
	[X86_JUMP] = {set_jump, 0xf2}, /* bnd: no kernel enables MPX any more */
};

bool x86__execution(const uint8_t *bytes, size_t len, struct execution *out)
{
	struct x86_raw raw;
	const ZydisDecodedInstruction *z = &raw.z;

	if (x86__raw(X86_64, bytes, len, &raw) || z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	*out = (struct execution){.bits = z->raw.rex.W ? 64 : 32,
				  .dst = REG_NONE,
				  .base = REG_NONE,
				  .index = REG_NONE,
				  .scale = 1,
				  .len = z->length};
	if (len >= X86_ENDBR_SIZE && !memcmp(bytes, x86_endbr64, X86_ENDBR_SIZE))
		return true;
	return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && executions[raw.form.op].set &&
	       has_only(z, executions[raw.form.op].prefix) && executions[raw.form.op].set(z, out);
}
