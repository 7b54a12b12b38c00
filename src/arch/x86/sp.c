// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: what an instruction that is no branch does to rsp and rbp. Known operations have a
 * function here; for others that may name either register the operands are decoded. At the end,
 * which instructions may make an address of code.
 */
#include <string.h>
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

/* Each of these: false, if the operands have to be decoded. */

/* 80 … 83: add, or, adc, sbb, and, sub, xor, cmp with an immediate */
static bool by_immediate(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	uint8_t rm = z->raw.modrm.rm | z->raw.rex.B << 3;
	int64_t imm = z->raw.imm[0].value.s;
	bool sums = raw->form.op == X86_ADD || raw->form.op == X86_SUB;

	if (z->opcode >> 2 != 0x80 >> 2)
		return false;
	if (z->raw.modrm.mod != 3 || raw->form.op == X86_CMP)
		return true;
	if (z->opcode & 1 && x86__is_whole(z) && sums && rm == X86_RSP)
		set(out, SP_ADD, raw->form.op == X86_ADD ? imm : -imm);
	else if (z->opcode & 1 || rm < 4 || rm >= 8 || z->attributes & ZYDIS_ATTRIB_HAS_REX)
		lost(out, rm); /* else ah, ch, dh, bh */
	return true;
}

static bool lea(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	uint8_t dst = z->raw.modrm.reg | z->raw.rex.R << 3;
	struct operand m;

	if (dst != X86_RSP && dst != X86_RBP)
		return true;
	if (x86__modrm(z, &m) && x86__is_whole(z) && !m.addr32 && m.index == REG_NONE)
		move(out, dst, m.base, m.disp);
	else
		lost(out, dst);
	return true;
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

/* 89 and 8b: of registers, and of one and memory. */
static bool mov(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	uint8_t reg = z->raw.modrm.reg | z->raw.rex.R << 3;
	uint8_t rm = z->raw.modrm.rm | z->raw.rex.B << 3;
	bool store = z->opcode == 0x89;

	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || (!store && z->opcode != 0x8b))
		return false;
	if (z->raw.modrm.mod == 3 && x86__is_whole(z))
		move(out, store ? rm : reg, store ? reg : rm, 0);
	else if (z->raw.modrm.mod == 3)
		lost(out, store ? rm : reg);
	else if (!store && reg == X86_RSP && is_foreign(z))
		set(out, SP_LOADED, 0);
	else if (!store)
		lost(out, reg);
	return true;
}

static int32_t pushed_size(const ZydisDecodedInstruction *z)
{
	return z->operand_width == 16 ? 2 : (int32_t)x86__width(z) / 8;
}

static bool push(const struct x86_raw *raw, struct insn *out)
{
	set(out, SP_ADD, -pushed_size(&raw->z));
	return true;
}

/* 58 … 5f, and 8f /0; else of a segment register, or of the flags. */
static bool pop(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	uint8_t b = z->raw.rex.B << 3, r = X86_RAX;

	if (raw->form.op == X86_POP && z->opcode >> 3 == 0x58 >> 3)
		r = (z->opcode & 7) | b;
	else if (z->opcode == 0x8f && z->raw.modrm.mod == 3)
		r = z->raw.modrm.rm | b;
	set(out, r == X86_RSP ? SP_LOST : r == X86_RBP ? SP_FP_LOST : SP_ADD, pushed_size(z));
	return true;
}

static bool push_all(const struct x86_raw *raw, struct insn *out)
{
	set(out, SP_ADD, -8 * pushed_size(&raw->z));
	return true;
}

static bool pop_all(const struct x86_raw *raw, struct insn *out)
{
	set(out, SP_FP_LOST, 8 * pushed_size(&raw->z));
	return true;
}

static bool enter(const struct x86_raw *raw, struct insn *out)
{
	set(out, SP_LOST, 0);
	return true;
}

static bool leave(const struct x86_raw *raw, struct insn *out)
{
	int32_t size = pushed_size(&raw->z);

	set(out, size > 2 ? SP_LEAVE : SP_LOST, size);
	return true;
}

static bool (*const effects[X86_OPS])(const struct x86_raw *, struct insn *) = {
	[X86_ADD] = by_immediate, [X86_ADC] = by_immediate, [X86_SUB] = by_immediate,
	[X86_SBB] = by_immediate, [X86_AND] = by_immediate, [X86_OR] = by_immediate,
	[X86_XOR] = by_immediate, [X86_CMP] = by_immediate, [X86_LEA] = lea,
	[X86_MOVE] = mov,	  [X86_PUSH] = push,	    [X86_PUSH_FLAGS] = push,
	[X86_POP] = pop,	  [X86_POP_FLAGS] = pop,    [X86_PUSH_ALL] = push_all,
	[X86_POP_ALL] = pop_all,  [X86_ENTER] = enter,	    [X86_LEAVE] = leave,
};

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
		return (op & 6) == 4 && (op >> 4 == 4 || op >> 3 == 0x90 >> 3 || op >> 4 == 0xb);
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
	bool (*effect)(const struct x86_raw *, struct insn *) = effects[raw->form.op];

	if ((!effect || !effect(raw, out)) && names_them(&raw->z))
		by_operands(raw, out);
}

/* ---- addresses of code, and copies of the stack pointer, by an instruction's bytes ---- */

enum {
	OP_MOV = 0x89,
	OP_PUSH = 0x68,
	OP_LEA = 0x8d,
	OP_MOV_REG = 0xb8, /* + register */
	OP_MOV_MEM = 0xc7,
	REX = 0x40,
	REX_R = 4,
	REX_W = 8,
};

static uint64_t last_word(const uint8_t *bytes, size_t len)
{
	int32_t word;

	memcpy(&word, bytes + len - sizeof(word), sizeof(word));
	return (uint64_t)(int64_t)word;
}

/* lea without registers: modrm with mod 0 and rm 5, which on x86-64 is relative to the next
 * instruction. */
static bool is_lea(const uint8_t *op)
{
	return *op == OP_LEA && (op[1] & 0xc7) == 5;
}

static bool has_constant(const uint8_t *op)
{
	return is_lea(op) || (*op & 0xf8) == OP_MOV_REG || *op == OP_MOV_MEM || *op == OP_PUSH;
}

bool x86__might_take(const uint8_t *bytes, size_t len)
{
	bool rex = (*bytes & 0xf0) == REX;
	const uint8_t *op = bytes + rex;

	if (len < 2u + rex)
		return false;
	/* mov of the stack pointer, not of r12 */
	return (*op == OP_MOV && (op[1] & 0x38) == 0x20 && !(rex && *bytes & REX_R)) ||
	       (len >= 5 && has_constant(op));
}

bool x86__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out)
{
	const uint8_t *op = bytes;
	bool wide;

	if (len < 5)
		return false;
	wide = (*op & 0xf8) == (REX | REX_W);
	op += (*op & 0xf0) == REX;
	if (is_lea(op)) {
		*out = addr + len + last_word(bytes, len);
		return true;
	}
	if ((*op & 0xf8) == OP_MOV_REG && wide && len == 10) {
		memcpy(out, bytes + len - sizeof(*out), sizeof(*out));
		return true;
	}
	*out = last_word(bytes, len);
	return (*op & 0xf8) == OP_MOV_REG || *op == OP_MOV_MEM || *op == OP_PUSH;
}

bool i386__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out)
{
	(void)addr;
	if (len < 5 || !has_constant(bytes))
		return false;
	*out = (uint32_t)last_word(bytes, len);
	return true;
}
