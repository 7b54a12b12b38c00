// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: appends single instructions to a part of the code. */
#include "assembler.h"

#define NO_INDEX 4 /* in SIB; as ModRM.rm: SIB follows */
#define NO_BASE	 5 /* in SIB, with mod 0: disp32 alone; as ModRM.rm: relative to rip */

static void put(struct code_part *p, uint8_t byte)
{
	code_part__put(p, &byte, 1);
}

static void put_rex(struct code_part *p, unsigned bits, uint8_t reg, uint8_t index, uint8_t base)
{
	uint8_t rex = (bits == 64) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;

	if (rex)
		put(p, 0x40 | rex);
}

static void put_opcode(struct code_part *p, unsigned opcode)
{
	if (opcode > 0xff)
		put(p, 0x0f);
	put(p, opcode);
}

static uint8_t modrm(uint8_t mod, uint8_t reg, uint8_t rm)
{
	return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

/* mod of an operand with a base: how many bytes the displacement has. rbp and r13 need one. */
static uint8_t mod_of(const struct operand *m)
{
	if (!m->disp && (m->base & 7) != X86_RBP)
		return 0;
	return m->disp == (int8_t)m->disp ? 1 : 2;
}

static void put_address(struct code_part *p, uint8_t reg, const struct operand *m)
{
	bool has_base = m->base != REG_NONE, has_index = m->index != REG_NONE;
	uint8_t mod = has_base ? mod_of(m) : 0;
	uint8_t scale = m->scale == 8 ? 3 : m->scale >> 1;

	if (has_base && !has_index && (m->base & 7) != X86_RSP) {
		put(p, modrm(mod, reg, m->base));
	} else {
		put(p, modrm(mod, reg, NO_INDEX));
		put(p, modrm(scale, has_index ? m->index : NO_INDEX, has_base ? m->base : NO_BASE));
	}
	if (mod == 1)
		put(p, m->disp);
	else if (mod == 2 || !has_base)
		code_part__put(p, &m->disp, sizeof(m->disp));
}

void asm__mem(struct code_part *p, unsigned opcode, unsigned bits, uint8_t reg,
	      const struct operand *m)
{
	if (m->seg)
		put(p, m->seg == SEG_FS ? 0x64 : 0x65);
	if (m->addr32)
		put(p, 0x67);
	put_rex(p, bits, reg, m->index == REG_NONE ? 0 : m->index,
		m->base == REG_NONE ? 0 : m->base);
	put_opcode(p, opcode);
	put_address(p, reg, m);
}

void asm__ring(struct code_part *p, unsigned opcode, uint8_t reg, size_t offset)
{
	struct operand m = asm__at(REG_NONE, (int32_t)offset);

	m.seg = SEG_GS;
	asm__mem(p, opcode, 64, reg, &m);
}

void asm__put32(struct code_part *p, uint32_t value)
{
	code_part__put(p, &value, sizeof(value));
}

void asm__original(struct code_part *p, unsigned opcode, unsigned bits, uint8_t reg, uint64_t to)
{
	put_rex(p, bits, reg, 0, 0);
	put_opcode(p, opcode);
	put(p, modrm(0, reg, NO_BASE));
	code_part__fix(p, false, to, 0);
}

void asm__move(struct code_part *p, unsigned bits, uint8_t to, uint8_t from)
{
	put_rex(p, bits, from, 0, to);
	put_opcode(p, ASM_STORE);
	put(p, modrm(3, from, to));
}

void asm__swap(struct code_part *p, uint8_t a, uint8_t b)
{
	put_rex(p, 64, a, 0, b);
	put_opcode(p, 0x87);
	put(p, modrm(3, a, b));
}

void asm__push(struct code_part *p, uint8_t reg)
{
	put_rex(p, 32, 0, 0, reg);
	put(p, 0x50 | (reg & 7));
}

void asm__pop(struct code_part *p, uint8_t reg)
{
	put_rex(p, 32, 0, 0, reg);
	put(p, 0x58 | (reg & 7));
}

void asm__zero(struct code_part *p, uint8_t reg)
{
	put_rex(p, 32, 0, 0, reg);
	put(p, 0xb8 | (reg & 7));
	asm__put(p, 0, 0, 0, 0);
}

void asm__constant(struct code_part *p, uint8_t reg, uint64_t value)
{
	put_rex(p, 64, 0, 0, reg);
	put(p, 0xb8 | (reg & 7));
	for (unsigned i = 0; i < 8; i++)
		put(p, value >> 8 * i);
}

void asm__jump(struct code_part *p, uint32_t label)
{
	put(p, 0xe9);
	code_part__fix(p, true, label, 0);
}

void asm__call(struct code_part *p, uint32_t label)
{
	put(p, 0xe8);
	code_part__fix(p, true, label, 0);
}

void asm__jump_if(struct code_part *p, uint8_t cc, uint32_t label)
{
	asm__put(p, 0x0f, 0x80 | cc);
	code_part__fix(p, true, label, 0);
}

/* SDM volume 2, NOP: the recommended multi-byte forms */
void asm__nops(uint8_t *out, size_t n)
{
	static const uint8_t nops[][9] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	while (n) {
		size_t size = min_of(n, ARRAY_SIZE(nops));

		memcpy(out, nops[size - 1], size);
		out += size;
		n -= size;
	}
}
