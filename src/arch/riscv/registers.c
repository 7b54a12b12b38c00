// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: which register an instruction writes, and what it does to sp and to s0, the frame
 * pointer.
 */
#include "arch/riscv/riscv.h"

/* Floating-point instructions that write an integer register: comparisons, fcvt.w and the like,
 * fmv.x, fclass. Section 22.8. */
static bool float_to_integer(uint32_t word)
{
	switch (riscv__funct7(word) >> 2) {
	case 0x14:
	case 0x18:
	case 0x1c:
		return true;
	default:
		return false;
	}
}

/* Vector instructions that write an integer register: vsetvl and the like; vmv.x.s, vcpop, vfirst
 * (VWXUNARY0 of OPMVV). V extension, sections 6 and 16.1. */
static bool vector_to_integer(uint32_t word)
{
	return riscv__funct3(word) == 7 || (riscv__funct3(word) == 2 && word >> 26 == 0x10);
}

unsigned riscv__written(uint32_t word)
{
	switch (riscv__opcode(word)) {
	case OP_STORE:
	case OP_STORE_FP:
	case OP_LOAD_FP:
	case OP_BRANCH:
	case OP_MISC_MEM:
	case OP_FMADD:
	case OP_FMSUB:
	case OP_FNMSUB:
	case OP_FNMADD:
		return RISCV_ZERO;
	case OP_FP:
		return float_to_integer(word) ? riscv__rd(word) : RISCV_ZERO;
	case OP_V:
		return vector_to_integer(word) ? riscv__rd(word) : RISCV_ZERO;
	default:
		return riscv__rd(word);
	}
}

static void set(struct insn *out, enum sp_effect effect, int32_t value)
{
	out->sp_effect = effect;
	out->sp_value = value;
}

/* rd = rs + imm */
static void move(struct insn *out, unsigned rd, unsigned rs, int32_t imm)
{
	if (rd == RISCV_SP && rs == RISCV_SP)
		set(out, SP_ADD, imm);
	else if (rd == RISCV_SP && rs == RISCV_FP)
		set(out, SP_FROM_FP, imm);
	else if (rd == RISCV_FP && rs == RISCV_SP)
		set(out, SP_FP_FROM_SP, imm);
	else if (rd == RISCV_SP)
		set(out, SP_LOST, 0);
	else if (rd == RISCV_FP && (rs != rd || imm))
		set(out, SP_FP_LOST, 0);
}

/* ld sp from memory that neither sp nor fp addresses */
static bool is_loaded(uint32_t word)
{
	return riscv__opcode(word) == OP_LOAD && riscv__rs1(word) != RISCV_SP &&
	       riscv__rs1(word) != RISCV_FP;
}

void riscv__sp(uint32_t word, struct insn *out)
{
	unsigned rd = riscv__written(word);

	/* millicode: __riscv_save_0 and the like set up their caller's frame */
	if (out->kind == BRANCH_CALL && rd == RISCV_T0)
		set(out, SP_LOST, 0);
	else if (out->flow == FLOW_BRANCH || (rd != RISCV_SP && rd != RISCV_FP))
		return;
	else if ((word & 0x707f) == OP_IMM)
		move(out, rd, riscv__rs1(word), riscv__imm_i(word));
	else if ((word & 0xfe0ff07f) == OP_OP) /* c.mv: add rd, zero, rs2 */
		move(out, rd, riscv__rs2(word), 0);
	else if (rd == RISCV_SP && is_loaded(word))
		set(out, SP_LOADED, 0);
	else
		set(out, rd == RISCV_SP ? SP_LOST : SP_FP_LOST, 0);
}
