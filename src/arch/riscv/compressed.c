// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: expands a 16-bit instruction to the 32-bit one that it abbreviates (ISA manual, chapter
 * 26, "C", the tables of section 26.8; chapter 27, Zcb). Reserved encodings are not expanded. Zcmp
 * and Zcmt are not supported: they reuse the encodings of c.fsdsp.
 */
#include "arch/riscv/riscv.h"

static uint32_t r_type(uint32_t base, unsigned rd, unsigned rs1, unsigned rs2)
{
	return base | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint32_t i_type(uint32_t base, unsigned rd, unsigned rs1, int32_t imm)
{
	return base | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

static uint32_t s_type(uint32_t base, unsigned rs1, unsigned rs2, uint32_t imm)
{
	return base | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}

static uint32_t b_type(uint32_t base, unsigned rs1, int32_t imm)
{
	uint32_t u = (uint32_t)imm;

	return base | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | rs1 << 15 | (u >> 5 & 63) << 25 |
	       (u >> 12 & 1) << 31;
}

static uint32_t j_type(uint32_t base, int32_t imm)
{
	uint32_t u = (uint32_t)imm;

	return base | (u >> 12 & 255) << 12 | (u >> 11 & 1) << 20 | (u >> 1 & 1023) << 21 |
	       (u >> 20 & 1) << 31;
}

/* The 32-bit instructions, without their operands. */
enum {
	LB = 0x00000003,
	LH = 0x00001003,
	LW = 0x00002003,
	LD = 0x00003003,
	LBU = 0x00004003,
	LHU = 0x00005003,
	FLD = 0x00003007,
	ADDI = 0x00000013,
	SLLI = 0x00001013,
	XORI = 0x00004013,
	SRLI = 0x00005013,
	SRAI = 0x40005013,
	ANDI = 0x00007013,
	SEXT_B = 0x60401013,
	SEXT_H = 0x60501013,
	ADDIW = 0x0000001b,
	SB = 0x00000023,
	SH = 0x00001023,
	SW = 0x00002023,
	SD = 0x00003023,
	FSD = 0x00003027,
	ADD = 0x00000033,
	SUB = 0x40000033,
	XOR = 0x00004033,
	OR = 0x00006033,
	AND = 0x00007033,
	MUL = 0x02000033,
	LUI = 0x00000037,
	ADDW = 0x0000003b,
	SUBW = 0x4000003b,
	ADD_UW = 0x0800003b,
	ZEXT_H = 0x0800403b,
	BEQ = 0x00000063,
	BNE = 0x00001063,
	JALR = 0x00000067,
	JAL = 0x0000006f,
	EBREAK = 0x00100073,
	NOP = ADDI,
};

/* Moves the count bits from bit low on to bit at of an immediate. */
static uint32_t bits(uint16_t half, unsigned low, unsigned count, unsigned at)
{
	return match__field(half, low, count) << at;
}

/* A 3-bit register field: x8 to x15. */
static unsigned short_reg(uint16_t half, unsigned low)
{
	return 8 + match__field(half, low, 3);
}

static int32_t imm6(uint16_t half)
{
	return match__signed(bits(half, 12, 1, 5) | bits(half, 2, 5, 0), 6);
}

static uint32_t shamt(uint16_t half)
{
	return bits(half, 12, 1, 5) | bits(half, 2, 5, 0);
}

/* Zcb: loads and stores of bytes and halfwords */
static uint32_t narrow(uint16_t half, unsigned data, unsigned base)
{
	uint32_t byte = bits(half, 6, 1, 0) | bits(half, 5, 1, 1), pair = bits(half, 5, 1, 1);

	switch (match__field(half, 10, 3)) {
	case 0:
		return i_type(LBU, data, base, byte);
	case 1:
		return i_type(half & 0x40 ? LH : LHU, data, base, pair);
	case 2:
		return s_type(SB, base, data, byte);
	case 3:
		return half & 0x40 ? 0 : s_type(SH, base, data, pair);
	default:
		return 0;
	}
}

static uint32_t quadrant0(uint16_t half)
{
	unsigned data = short_reg(half, 2), base = short_reg(half, 7);
	uint32_t doubles = bits(half, 10, 3, 3) | bits(half, 5, 2, 6);
	uint32_t words = bits(half, 10, 3, 3) | bits(half, 6, 1, 2) | bits(half, 5, 1, 6);
	uint32_t frame = bits(half, 11, 2, 4) | bits(half, 7, 4, 6) | bits(half, 6, 1, 2) |
			 bits(half, 5, 1, 3);

	switch (half >> 13) {
	case 0:
		return frame ? i_type(ADDI, data, RISCV_SP, frame) : 0;
	case 1:
		return i_type(FLD, data, base, doubles);
	case 2:
		return i_type(LW, data, base, words);
	case 3:
		return i_type(LD, data, base, doubles);
	case 4:
		return narrow(half, data, base);
	case 5:
		return s_type(FSD, base, data, doubles);
	case 6:
		return s_type(SW, base, data, words);
	default:
		return s_type(SD, base, data, doubles);
	}
}

/* c.addi16sp, c.lui; c.mop.N (Zcmop), which do nothing unless an extension defines them. */
static uint32_t upper(uint16_t half, unsigned rd)
{
	int32_t frame =
		match__signed(bits(half, 12, 1, 9) | bits(half, 6, 1, 4) | bits(half, 5, 1, 6) |
				      bits(half, 3, 2, 7) | bits(half, 2, 1, 5),
			      10);

	if (!imm6(half))
		return rd < 16 && rd & 1 ? NOP : 0;
	if (rd == RISCV_SP)
		return i_type(ADDI, RISCV_SP, RISCV_SP, frame);
	return LUI | rd << 7 | (uint32_t)imm6(half) << 12;
}

/* Zcb: operations on one register */
static uint32_t unary(uint16_t half, unsigned rd)
{
	switch (match__field(half, 2, 3)) {
	case 0:
		return i_type(ANDI, rd, rd, 255);
	case 1:
		return r_type(SEXT_B, rd, rd, 0);
	case 2:
		return r_type(ZEXT_H, rd, rd, 0);
	case 3:
		return r_type(SEXT_H, rd, rd, 0);
	case 4:
		return r_type(ADD_UW, rd, rd, RISCV_ZERO);
	case 5:
		return i_type(XORI, rd, rd, -1);
	default:
		return 0;
	}
}

static uint32_t arithmetic(uint16_t half)
{
	static const uint32_t of_registers[] = {SUB, XOR, OR, AND, SUBW, ADDW, MUL};
	unsigned rd = short_reg(half, 7), which = bits(half, 12, 1, 2) | bits(half, 5, 2, 0);

	switch (match__field(half, 10, 2)) {
	case 0:
		return i_type(SRLI, rd, rd, shamt(half));
	case 1:
		return i_type(SRAI, rd, rd, shamt(half));
	case 2:
		return i_type(ANDI, rd, rd, imm6(half));
	default:
		return which == 7 ? unary(half, rd)
				  : r_type(of_registers[which], rd, rd, short_reg(half, 2));
	}
}

static int32_t jump_offset(uint16_t half)
{
	return match__signed(bits(half, 12, 1, 11) | bits(half, 11, 1, 4) | bits(half, 9, 2, 8) |
				     bits(half, 8, 1, 10) | bits(half, 7, 1, 6) |
				     bits(half, 6, 1, 7) | bits(half, 3, 3, 1) |
				     bits(half, 2, 1, 5),
			     12);
}

static int32_t branch_offset(uint16_t half)
{
	return match__signed(bits(half, 12, 1, 8) | bits(half, 10, 2, 3) | bits(half, 5, 2, 6) |
				     bits(half, 3, 2, 1) | bits(half, 2, 1, 5),
			     9);
}

static uint32_t quadrant1(uint16_t half)
{
	unsigned rd = match__field(half, 7, 5);

	switch (half >> 13) {
	case 0:
		return i_type(ADDI, rd, rd, imm6(half));
	case 1:
		return rd ? i_type(ADDIW, rd, rd, imm6(half)) : 0;
	case 2:
		return i_type(ADDI, rd, RISCV_ZERO, imm6(half));
	case 3:
		return upper(half, rd);
	case 4:
		return arithmetic(half);
	case 5:
		return j_type(JAL, jump_offset(half));
	case 6:
		return b_type(BEQ, short_reg(half, 7), branch_offset(half));
	default:
		return b_type(BNE, short_reg(half, 7), branch_offset(half));
	}
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static uint32_t of_registers(uint16_t half, unsigned rd, unsigned rs2)
{
	bool second = half >> 12 & 1;

	if (rs2)
		return r_type(ADD, rd, second ? rd : RISCV_ZERO, rs2);
	if (!rd)
		return second ? EBREAK : 0;
	return i_type(JALR, second ? RISCV_RA : RISCV_ZERO, rd, 0);
}

static uint32_t quadrant2(uint16_t half)
{
	unsigned rd = match__field(half, 7, 5), rs2 = match__field(half, 2, 5);
	uint32_t load = bits(half, 12, 1, 5) | bits(half, 5, 2, 3) | bits(half, 2, 3, 6);
	uint32_t load_word = bits(half, 12, 1, 5) | bits(half, 4, 3, 2) | bits(half, 2, 2, 6);
	uint32_t store = bits(half, 10, 3, 3) | bits(half, 7, 3, 6);
	uint32_t store_word = bits(half, 9, 4, 2) | bits(half, 7, 2, 6);

	switch (half >> 13) {
	case 0:
		return i_type(SLLI, rd, rd, shamt(half));
	case 1:
		return i_type(FLD, rd, RISCV_SP, load);
	case 2:
		return rd ? i_type(LW, rd, RISCV_SP, load_word) : 0;
	case 3:
		return rd ? i_type(LD, rd, RISCV_SP, load) : 0;
	case 4:
		return of_registers(half, rd, rs2);
	case 5:
		return s_type(FSD, RISCV_SP, rs2, store);
	case 6:
		return s_type(SW, RISCV_SP, rs2, store_word);
	default:
		return s_type(SD, RISCV_SP, rs2, store);
	}
}

uint32_t riscv__expand(uint16_t half)
{
	switch (half & 3) {
	case 0:
		return quadrant0(half);
	case 1:
		return quadrant1(half);
	case 2:
		return quadrant2(half);
	default:
		return 0;
	}
}
