// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: what an instruction that is no branch does to rsp and rbp. Known forms are
 * recognised by opcode; for others that may name either register the operands are decoded.
 */
#include "x86.h"

static void set(struct insn *out, enum sp_effect effect, int32_t value)
{
	out->sp_effect = effect;
	out->sp_value = value;
}

/* Register r has an unknown value. */
static void lost(struct insn *out, uint8_t r)
{
	if (r == X86_RSP)
		set(out, SP_LOST, 0);
	else if (r == X86_RBP)
		set(out, SP_FP_LOST, 0);
}

static void pop(struct insn *out, uint8_t r, int32_t size)
{
	set(out, r == X86_RSP ? SP_LOST : r == X86_RBP ? SP_FP_LOST : SP_ADD, size);
}

static void move(struct insn *out, uint8_t dst, uint8_t src, int32_t disp)
{
	if (dst == X86_RSP && src == X86_RSP)
		set(out, SP_ADD, disp);
	else if (dst == X86_RSP && src == X86_RBP)
		set(out, SP_FROM_FP, disp);
	else if (dst == X86_RBP && src == X86_RSP)
		set(out, SP_FP_FROM_SP, disp);
	else if (dst != src || disp)
		lost(out, dst);
}

/* 80 … 83: add, or, adc, sbb, and, sub, xor, cmp with an immediate */
static void group1(const ZydisDecodedInstruction *z, struct insn *out)
{
	uint8_t reg = z->raw.modrm.reg, rm = z->raw.modrm.rm | z->raw.rex.B << 3;
	bool wide = x86__is_whole(z) && z->opcode != 0x80 && z->opcode != 0x82;
	int64_t imm = z->raw.imm[0].value.s;

	if (z->raw.modrm.mod != 3 || reg == 7)
		return;
	if ((z->opcode == 0x80 || z->opcode == 0x82) && rm >= 4 && rm < 8 &&
	    !(z->attributes & ZYDIS_ATTRIB_HAS_REX))
		return; /* ah, ch, dh, bh */
	if (rm == X86_RSP && wide && (reg == 0 || reg == 5))
		set(out, SP_ADD, reg == 0 ? imm : -imm);
	else
		lost(out, rm);
}

static void lea(const ZydisDecodedInstruction *z, struct insn *out)
{
	uint8_t dst = z->raw.modrm.reg | z->raw.rex.R << 3;
	struct operand m;

	if (dst != X86_RSP && dst != X86_RBP)
		return;
	if (x86__modrm(z, &m) && x86__is_whole(z) && !m.addr32 && m.index == REG_NONE)
		move(out, dst, m.base, m.disp);
	else
		lost(out, dst);
}

/* ModRM then means other registers. */
static bool is16(const ZydisDecodedInstruction *z)
{
	return z->address_width == 16;
}

/* A memory operand of a register's size that neither rsp nor rbp addresses. */
static bool is_foreign(const ZydisDecodedInstruction *z)
{
	struct operand m;

	return x86__modrm(z, &m) && x86__is_whole(z) && !is16(z) && m.base != X86_RSP &&
	       m.base != X86_RBP;
}

static void mov(const ZydisDecodedInstruction *z, struct insn *out, bool store)
{
	uint8_t reg = z->raw.modrm.reg | z->raw.rex.R << 3;
	uint8_t rm = z->raw.modrm.rm | z->raw.rex.B << 3;

	if (z->raw.modrm.mod == 3 && x86__is_whole(z))
		move(out, store ? rm : reg, store ? reg : rm, 0);
	else if (z->raw.modrm.mod == 3)
		lost(out, store ? rm : reg);
	else if (!store && reg == X86_RSP && is_foreign(z))
		set(out, SP_LOADED, 0);
	else if (!store)
		lost(out, reg);
}

static int32_t pushed_size(const ZydisDecodedInstruction *z)
{
	return z->operand_width == 16 ? 2 : (int32_t)x86__width(z) / 8;
}

/* Opcodes that are others, or none, in 64-bit mode. */
static bool one_byte_of_32(const ZydisDecodedInstruction *z, struct insn *out)
{
	int32_t size = pushed_size(z);

	switch (z->opcode) {
	case 0x06: /* push of a segment register */
	case 0x0e:
	case 0x16:
	case 0x1e:
		set(out, SP_ADD, -size);
		return true;
	case 0x07: /* pop of one */
	case 0x17:
	case 0x1f:
		set(out, SP_ADD, size);
		return true;
	case 0x40 ... 0x4f: /* inc, dec */
		lost(out, z->opcode & 7);
		return true;
	case 0x60: /* pusha, popa */
		set(out, SP_ADD, -8 * size);
		return true;
	case 0x61:
		set(out, SP_FP_LOST, 8 * size);
		return true;
	default:
		return false;
	}
}

static bool one_byte(const ZydisDecodedInstruction *z, struct insn *out)
{
	int32_t size = pushed_size(z);
	uint8_t b = z->raw.rex.B << 3;

	switch (z->opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		set(out, SP_ADD, -size);
		return true;
	case 0x58 ... 0x5f:
		pop(out, (z->opcode & 7) | b, size);
		return true;
	case 0x9d:
		set(out, SP_ADD, size);
		return true;
	case 0x8f: /* pop r/m; XOP has another encoding in Zydis */
		pop(out, z->raw.modrm.mod == 3 ? z->raw.modrm.rm | b : X86_RAX, size);
		return true;
	case 0xff:
		if (z->raw.modrm.reg == 6)
			set(out, SP_ADD, -size);
		return z->raw.modrm.reg == 6;
	case 0x80 ... 0x83:
		group1(z, out);
		return true;
	case 0x89:
	case 0x8b:
		mov(z, out, z->opcode == 0x89);
		return true;
	case 0x8d:
		lea(z, out);
		return true;
	case 0xc8:
		set(out, SP_LOST, 0);
		return true;
	case 0xc9:
		set(out, size > 2 ? SP_LEAVE : SP_LOST, size);
		return true;
	default:
		return x86__is32(z) && one_byte_of_32(z, out);
	}
}

static bool two_bytes(const ZydisDecodedInstruction *z, struct insn *out)
{
	int32_t size = pushed_size(z);

	switch (z->opcode) {
	case 0xa0:
	case 0xa8:
		set(out, SP_ADD, -size);
		return true;
	case 0xa1:
	case 0xa9:
		set(out, SP_ADD, size);
		return true;
	default:
		return false;
	}
}

/* Whether an operand may be rsp or rbp. */
static bool names_them(const ZydisDecodedInstruction *z)
{
	uint8_t op = z->opcode;

	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return true;
	if (z->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return (z->raw.modrm.reg & 6) == 4 ||
		       (z->raw.modrm.mod == 3 && (z->raw.modrm.rm & 6) == 4);
	if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return ((op >= 0x90 && op <= 0x97) || (op >= 0xb0 && op <= 0xbf)) && (op & 6) == 4;
	return z->opcode_map == ZYDIS_OPCODE_MAP_0F ? op >= 0xc8 && op <= 0xcf && (op & 6) == 4
						    : true;
}

static void by_operands(const struct x86_raw *raw, struct insn *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	unsigned n = x86__operands(raw, ops);

	if (!n && raw->z.operand_count)
		set(out, SP_LOST, 0);
	for (unsigned i = 0; i < n; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && out->sp_effect != SP_LOST)
			lost(out, x86__gpr(ops[i].reg.value));
}

void x86__sp(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool done = false;

	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
		if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
			done = one_byte(z, out);
		else if (z->opcode_map == ZYDIS_OPCODE_MAP_0F)
			done = two_bytes(z, out);
	}
	if (!done && names_them(z))
		by_operands(raw, out);
}
