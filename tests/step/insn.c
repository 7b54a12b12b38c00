// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which x86-64 instruction is a control transfer: prefixes, opcode, and for relative branches the
 * length. Nothing else needs decoding, as the stepper sees where each instruction starts. Intel SDM
 * volume 2, appendix A.
 */
#include <string.h>

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

void insn__decode(const uint8_t *b, size_t n, struct insn *o)
{
	const struct opcode *row;
	size_t i = 0;

	*o = (struct insn){0};
	for (; i < n && is_prefix(b[i]); i++)
		o->addr32 |= b[i] == 0x67;
	if (i < n && (b[i] & 0xf0) == 0x40)
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
	o->cond = b[i] & (row->kind == K_LOOP ? 3 : 15);
	o->len = i + 1 + row->imm + (row->kind == K_MOVSS);
	if (row->kind >= K_JCC && row->kind <= K_CALL)
		o->disp = displacement(b + i + 1, row->imm);
}

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
