// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: conditional branches compare two registers themselves: whether they are taken, what that
 * proves, and which bounds follow. ISA manual, section 2.5.2.
 */
#include "arch/riscv/riscv.h"

bool riscv__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2])
{
	uint64_t a = reads[0], b = reads[1];

	switch (RISCV_COND_FUNCT3(cond)) {
	case FUNCT3_BEQ:
		return a == b;
	case FUNCT3_BNE:
		return a != b;
	case FUNCT3_BLT:
		return (int64_t)a < (int64_t)b;
	case FUNCT3_BGE:
		return (int64_t)a >= (int64_t)b;
	case FUNCT3_BLTU:
		return a < b;
	default:
		return a >= b;
	}
}

/* Signed conditions give no bound on an unsigned value. */
bool riscv__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max)
{
	unsigned funct3 = RISCV_COND_FUNCT3(cond);
	bool less = funct3 == FUNCT3_BLTU, equal = funct3 == FUNCT3_BEQ;

	*max = n;
	if (funct3 == FUNCT3_BEQ || funct3 == FUNCT3_BNE)
		return is_taken == equal;
	if (funct3 != FUNCT3_BLTU && funct3 != FUNCT3_BGEU)
		return false;
	if (swapped)
		return is_taken != less;
	*max = n - 1;
	return is_taken == less && n > 0;
}

bool riscv__is_unsigned(uint8_t kind, uint16_t cond)
{
	return kind == BRANCH_JCC && RISCV_COND_FUNCT3(cond) >= FUNCT3_BLTU;
}

static const char *operand(unsigned reg)
{
	return reg == RISCV_ZERO ? "0" : riscv__reg_names[reg];
}

/* The zero register is written as a number, after the other one. */
bool riscv__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out)
{
	static const char *const ops[] = {
		[FUNCT3_BEQ] = "==", [FUNCT3_BLT] = "<", [FUNCT3_BLTU] = "<"};
	static const char *const opposites[] = {
		[FUNCT3_BEQ] = "!=", [FUNCT3_BLT] = ">=", [FUNCT3_BLTU] = ">="};
	static const char *const swapped[] = {
		[FUNCT3_BEQ] = "==", [FUNCT3_BLT] = ">", [FUNCT3_BLTU] = ">"};
	static const char *const swapped_opposites[] = {
		[FUNCT3_BEQ] = "!=", [FUNCT3_BLT] = "<=", [FUNCT3_BLTU] = "<="};
	unsigned funct3 = RISCV_COND_FUNCT3(cond), a = RISCV_COND_RS1(cond),
		 b = RISCV_COND_RS2(cond);
	bool holds = taken != (funct3 & 1), swap = a == RISCV_ZERO && b != RISCV_ZERO;

	if (kind != BRANCH_JCC || funct3 >> 1 == 1 || a == b)
		return false;
	str__printf(out, "%s %s %s%s", operand(swap ? b : a),
		    (holds  ? swap ? swapped : ops
		     : swap ? swapped_opposites
			    : opposites)[funct3 & 6],
		    operand(swap ? a : b), riscv__is_unsigned(kind, cond) ? " (unsigned)" : "");
	return true;
}
