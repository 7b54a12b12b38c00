/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RISC-V, 64 bit: shared by the files of this architecture; only src/arch/riscv includes it.
 * Encodings: The RISC-V Instruction Set Manual, volume I (unprivileged), version 20240411, from
 * chapter 2 (RV32I) on.
 */
#ifndef BBTRACE_ARCH_RISCV_RISCV_H
#define BBTRACE_ARCH_RISCV_RISCV_H

#include "arch/arch.h"
#include "arch/match.h"

/* Integer registers by number: RISC-V ABIs Specification, integer calling convention. */
enum riscv_reg {
	RISCV_ZERO,
	RISCV_RA,
	RISCV_SP,
	RISCV_T0 = 5,
	RISCV_T1,
	RISCV_T2,
	RISCV_FP, /* s0 */
	RISCV_A0 = 10,
	RISCV_A1,
	RISCV_A7 = 17,
	RISCV_T3 = 28,
	RISCV_T6 = 31,
	RISCV_PC,
	RISCV_REGS
};
/* riscv.c: by number */
extern const char *const riscv__reg_names[RISCV_REGS];

/* Major opcodes: bits 6 to 0, table 70. */
enum riscv_opcode {
	OP_LOAD = 0x03,
	OP_LOAD_FP = 0x07,
	OP_CUSTOM_0 = 0x0b,
	OP_MISC_MEM = 0x0f,
	OP_IMM = 0x13,
	OP_AUIPC = 0x17,
	OP_IMM_32 = 0x1b,
	OP_STORE = 0x23,
	OP_STORE_FP = 0x27,
	OP_CUSTOM_1 = 0x2b,
	OP_AMO = 0x2f,
	OP_OP = 0x33,
	OP_LUI = 0x37,
	OP_OP_32 = 0x3b,
	OP_FMADD = 0x43,
	OP_FMSUB = 0x47,
	OP_FNMSUB = 0x4b,
	OP_FNMADD = 0x4f,
	OP_FP = 0x53,
	OP_V = 0x57,
	OP_CUSTOM_2 = 0x5b,
	OP_BRANCH = 0x63,
	OP_JALR = 0x67,
	OP_JAL = 0x6f,
	OP_SYSTEM = 0x73,
	OP_CUSTOM_3 = 0x7b,
};

/* insn.cond: the branch's funct3 (table 70) and the registers that it compares; bpf/arch/riscv.h
 * reads it, too. */
#define RISCV_COND(funct3, rs1, rs2) ((funct3) | (rs1) << 3 | (rs2) << 8)
#define RISCV_COND_FUNCT3(cond)	     ((cond)&7)
#define RISCV_COND_RS1(cond)	     ((cond) >> 3 & 31)
#define RISCV_COND_RS2(cond)	     ((cond) >> 8 & 31)
enum riscv_funct3 { FUNCT3_BEQ, FUNCT3_BNE, FUNCT3_BLT = 4, FUNCT3_BGE, FUNCT3_BLTU, FUNCT3_BGEU };

/* Caller-saved registers: ra, t0 to t6, a0 to a7. */
#define RISCV_CLOBBERED 0xf003fce2

/* Fields of a 32-bit instruction: section 2.2. */
static inline unsigned riscv__opcode(uint32_t word)
{
	return word & 0x7f;
}
static inline unsigned riscv__rd(uint32_t word)
{
	return word >> 7 & 31;
}
static inline unsigned riscv__rs1(uint32_t word)
{
	return word >> 15 & 31;
}
static inline unsigned riscv__rs2(uint32_t word)
{
	return word >> 20 & 31;
}
static inline unsigned riscv__funct3(uint32_t word)
{
	return word >> 12 & 7;
}
static inline unsigned riscv__funct7(uint32_t word)
{
	return word >> 25;
}
/* Immediates of formats I, S and U: section 2.3. */
static inline int32_t riscv__imm_i(uint32_t word)
{
	return (int32_t)word >> 20;
}
static inline int32_t riscv__imm_s(uint32_t word)
{
	return (int32_t)(word & 0xfe000000) >> 20 | (int32_t)riscv__rd(word);
}
static inline int32_t riscv__imm_u(uint32_t word)
{
	return (int32_t)(word & 0xfffff000);
}

/* ra and t0 may hold return addresses: section 2.5.1, table 3. */
static inline bool riscv__is_link(unsigned reg)
{
	return reg == RISCV_RA || reg == RISCV_T0;
}

/* compressed.c: returns the 32-bit instruction that a 16-bit one abbreviates; 0 if it is not an
 * instruction. */
uint32_t riscv__expand(uint16_t half);
/* riscv.c: sets the instruction at bytes, expanded if it has 16 bits. Returns its length; 0 if it
 * is not a known instruction. */
unsigned riscv__word(const uint8_t *bytes, size_t len, uint64_t addr, uint32_t *word);
/* registers.c: returns the integer register that an instruction writes; RISCV_ZERO if none. */
unsigned riscv__written(uint32_t word);
/* registers.c: fills in sp_effect and sp_value. */
void riscv__sp(uint32_t word, struct insn *out);
/* detail.c: struct arch's detail. */
void riscv__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
			 void *ctx); /* address.c */
bool riscv__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);
/* uprobe.c: fills in user_refusal, kernel_refusal and emulated. */
void riscv__probe(uint32_t word, struct insn *out);
uint64_t riscv__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn);
/* uprobe.c: fills in keeps_state, is_plain, loads and stores, and the operand of these. */
void riscv__effects(uint32_t word, struct insn *out);
/* condition.c: struct arch's. */
bool riscv__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2]);
bool riscv__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max);
bool riscv__is_unsigned(uint8_t kind, uint16_t cond);
bool riscv__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out);
/* usdt.c */
bool riscv__usdt_operand(const char **text, struct usdt_argument *out);
/* kernel.c */
extern const struct arch_kernel riscv_kernel;
/* riscv.c */
extern const struct arch arch_riscv64;

#endif
