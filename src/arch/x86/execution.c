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

/* REX apart it has no prefix but, where that is without effect, this one; 0: none. */
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

/* Of memory without a segment's base. False: its address has 32 bits. */
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

static bool set_move(const ZydisDecodedInstruction *z, bool to_modrm, struct execution *e)
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

static bool set_lea(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_LEA;
	e->dst = modrm_reg(z);
	e->moves_sp = is_sp(e->dst);
	return !is_register(z) && set_address(z, e);
}

/* 81 and 83, groups of eight: add and sub of the whole stack pointer. */
static bool set_sum(const ZydisDecodedInstruction *z, struct execution *e)
{
	uint8_t which = z->raw.modrm.reg;

	if (!is_register(z) || !z->raw.rex.W || !is_sp(z->raw.modrm.rm | z->raw.rex.B << 3) ||
	    (which != 0 && which != 5))
		return false;
	e->op = which ? EXECUTE_SUB : EXECUTE_ADD;
	e->imm = z->raw.imm[0].size == 8 ? (int8_t)z->raw.imm[0].value.u
					 : (int32_t)z->raw.imm[0].value.u;
	return e->moves_sp = true;
}

static bool set_pop(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_POP;
	e->bits = 64;
	e->dst = (z->opcode & 7) | z->raw.rex.B << 3;
	return e->moves_sp = true;
}

static bool set_ret(const ZydisDecodedInstruction *z, struct execution *e)
{
	e->op = EXECUTE_RET;
	e->imm = z->opcode == 0xc2 ? z->raw.imm[0].value.u & 0xffff : 0;
	return e->moves_sp = true;
}

static bool set_jump(const ZydisDecodedInstruction *z, struct execution *e)
{
	if (z->raw.modrm.reg != 4)
		return false;
	e->op = is_register(z) ? EXECUTE_JMP : EXECUTE_JMP_MEM;
	if (!is_register(z))
		return set_address(z, e);
	e->base = z->raw.modrm.rm | z->raw.rex.B << 3;
	return true;
}

static bool set_plain(const ZydisDecodedInstruction *z, struct execution *e)
{
	switch (z->opcode) {
	case 0x58 ... 0x5f:
		return has_only(z, 0) && set_pop(z, e);
	case 0x81:
	case 0x83:
		return has_only(z, 0) && set_sum(z, e);
	case 0x89:
	case 0x8b:
		return has_only(z, 0) && set_move(z, z->opcode == 0x89, e);
	case 0x8d:
		return has_only(z, 0) && set_lea(z, e);
	case 0xb8 ... 0xbf:
		return has_only(z, 0) && set_constant(z, (z->opcode & 7) | z->raw.rex.B << 3, e);
	case 0xc7:
		return has_only(z, 0) && is_register(z) && !z->raw.modrm.reg &&
		       set_constant(z, z->raw.modrm.rm | z->raw.rex.B << 3, e);
	case 0xc2:
		return has_only(z, 0) && set_ret(z, e);
	case 0xc3: /* repz, for old branch predictors */
		return has_only(z, 0xf3) && set_ret(z, e);
	case 0xff: /* bnd: no kernel enables MPX any more */
		return has_only(z, 0xf2) && set_jump(z, e);
	default:
		return false;
	}
}

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
	return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && set_plain(z, out);
}
