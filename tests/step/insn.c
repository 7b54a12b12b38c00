// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which x86-64 and i386 instructions are control transfers: prefixes, opcode, and for relative
 * branches the length. No other decoding is needed, since the stepper knows where each instruction
 * starts. Intel SDM volume 2, appendix A. Zydis is used to check that no control transfer was
 * missed.
 */
#include <string.h>
#include <Zydis/Zydis.h>

#include "step.h"

const char *const kind_names[] = {
	[K_JCC] = "jcc",   [K_LOOP] = "loop",	[K_JMP] = "jmp", [K_CALL] = "call",
	[K_IJMP] = "ijmp", [K_ICALL] = "icall", [K_RET] = "ret",
};

/* One-byte opcodes: mask and match, the width of the displacement or immediate behind it, and /reg
 * where it decides. */
static const struct opcode {
	uint8_t mask, match, imm, kind;
	int8_t reg; /* -1: any */
} opcodes[] = {
	{0xf0, 0x70, 1, K_JCC, -1},	{0xfc, 0xe0, 1, K_LOOP, -1},  {0xff, 0xe8, 4, K_CALL, -1},
	{0xff, 0xe9, 4, K_JMP, -1},	{0xff, 0xeb, 1, K_JMP, -1},   {0xff, 0xc3, 0, K_RET, -1},
	{0xff, 0xc2, 2, K_RET, -1},	{0xff, 0xff, 0, K_ICALL, 2},  {0xff, 0xff, 0, K_IJMP, 4},
	{0xff, 0xcd, 1, K_SYSCALL, -1}, {0xff, 0x9c, 0, K_PUSHF, -1}, {0xff, 0x8e, 0, K_MOVSS, 2},
};

/* Opcodes behind 0f. */
static const struct opcode opcodes_0f[] = {
	{0xf0, 0x80, 4, K_JCC, -1},
	{0xff, 0x05, 0, K_SYSCALL, -1},
	{0xff, 0x34, 0, K_SYSCALL, -1},
};

static bool is_prefix(uint8_t byte)
{
	return byte && memchr("\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0", byte, 11);
}

static const struct opcode *find(const struct opcode *row, size_t n, const uint8_t *b, size_t left)
{
	for (; n--; row++)
		if ((b[0] & row->mask) == row->match &&
		    (row->reg < 0 || (left > 1 && (b[1] >> 3 & 7) == row->reg)))
			return row;
	return NULL;
}

static int32_t displacement(const uint8_t *b, unsigned width)
{
	int32_t disp;

	if (width == 1)
		return (int8_t)*b;
	memcpy(&disp, b, sizeof(disp));
	return disp;
}

void insn__decode(const uint8_t *b, size_t n, bool narrow, struct insn *o)
{
	const struct opcode *row;
	size_t i = 0;

	*o = (struct insn){.addr32 = narrow};
	for (; i < n && is_prefix(b[i]); i++)
		o->addr32 |= b[i] == 0x67;
	if (i < n && !narrow && (b[i] & 0xf0) == 0x40)
		i++;
	if (i >= n)
		return;
	if (b[i] == 0x0f && ++i < n)
		row = find(opcodes_0f, sizeof(opcodes_0f) / sizeof(*opcodes_0f), b + i, n - i);
	else
		row = find(opcodes, sizeof(opcodes) / sizeof(*opcodes), b + i, n - i);
	if (!row)
		return;
	if (i + 1 + row->imm > n)
		return;
	o->kind = row->kind;
	o->fast = narrow && row->kind == K_SYSCALL && !row->imm;
	o->cond = b[i] & (row->kind == K_LOOP ? 3 : 15);
	o->len = i + 1 + row->imm + (row->kind == K_MOVSS);
	if (row->kind >= K_JCC && row->kind <= K_CALL)
		o->disp = displacement(b + i + 1, row->imm);
}

/* ---- Zydis ---- */

static uint8_t reg_of(ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_NONE)
		return AT_NONE;
	return reg == ZYDIS_REGISTER_RIP ? AT_RIP : ZydisRegisterGetId(reg);
}

static struct operand operand_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	ZydisRegister segment = op->mem.segment;

	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return (struct operand){.known = true, .base = reg_of(op->reg.value)};
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    z->address_width != (z->machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? 64 : 32))
		return (struct operand){0};
	return (struct operand){
		.known = true,
		.memory = true,
		.base = reg_of(op->mem.base),
		.index = reg_of(op->mem.index),
		.segment = segment == ZYDIS_REGISTER_FS	  ? AT_FS
			   : segment == ZYDIS_REGISTER_GS ? AT_GS
							  : AT_NONE,
		.scale = op->mem.scale,
		.disp = op->mem.disp.value,
	};
}

static bool leads_anywhere(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SGDT: /* these the kernel emulates, and doesn't trap behind them */
	case ZYDIS_MNEMONIC_SIDT:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_CPUID: /* a hypervisor does this one, and some don't trap behind it */
		return true;
	default:
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

static bool is_repeated(const ZydisDecodedInstruction *z)
{
	return z->attributes &
	       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

void insn__measure(const uint8_t *b, size_t n, bool narrow, struct insn *o)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;

	if (narrow)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	else
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b, n, &z, ops))) {
		if (o->kind == K_OTHER)
			o->kind = K_UNKNOWN;
		return;
	}
	if (o->kind == K_OTHER && leads_anywhere(&z))
		o->kind = K_FAR;
	else if (o->kind == K_OTHER && is_repeated(&z))
		o->kind = K_REPEAT;
	else if (o->kind == K_IJMP || o->kind == K_ICALL)
		o->target = operand_of(&z, ops);
	if (o->kind < K_JCC || o->kind > K_CALL)
		o->len = z.length;
}

/* ---- conditions ---- */

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };

static bool condition(unsigned cond, uint64_t f)
{
	bool less = !(f & SF) != !(f & OF);

	switch (cond & ~1u) {
	case 0:
		return f & OF;
	case 2:
		return f & CF;
	case 4:
		return f & ZF;
	case 6:
		return f & (CF | ZF);
	case 8:
		return f & SF;
	case 10:
		return f & PF;
	case 12:
		return less;
	}
	return less || f & ZF;
}

bool insn__taken(const struct insn *insn, const struct user_regs_struct *regs)
{
	uint64_t mask = insn->addr32 ? UINT32_MAX : UINT64_MAX;
	uint64_t left = (regs->rcx - 1) & mask;
	bool zero = regs->eflags & ZF;

	if (insn->kind == K_JCC)
		return condition(insn->cond, regs->eflags) != (insn->cond & 1);
	switch (insn->cond) {
	case 0:
		return left && !zero;
	case 1:
		return left && zero;
	case 2:
		return left;
	}
	return !(regs->rcx & mask);
}
