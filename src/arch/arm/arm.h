/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 32-bit ARM: shared by the files of this architecture; only src/arch/arm includes it. Encodings:
 * Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406), chapters A5 (A32) and
 * A6 (T32, Thumb-2).
 */
#ifndef BBTRACE_ARCH_ARM_ARM_H
#define BBTRACE_ARCH_ARM_ARM_H

#include "arch/match.h"

enum arm_reg { ARM_R0, ARM_R7 = 7, ARM_R11 = 11, ARM_IP, ARM_SP, ARM_LR, ARM_PC, ARM_FLAGS };

/* AAPCS32, 6.1.1: r0 to r3, ip; and the link register, which a call writes. */
#define ARM_CALLER_SAVED (0xfu | 1u << ARM_IP | 1u << ARM_LR)

/* Condition codes, A8.3. */
enum { ARM_EQ, ARM_CS = 2, ARM_CC, ARM_HI = 8, ARM_LS, ARM_AL = 14 };
#define ARM_NO_FLAGS 0x10 /* insn.cond of a branch that doesn't read the flags */

/* An instruction as its bytes and its code address say. */
struct arm_word {
	uint64_t addr; /* even */
	uint32_t word; /* T32 of 32 bits: the first halfword is the upper one */
	uint8_t len;
	bool thumb;
	uint8_t cond; /* its condition, in T32 that of its IT block */
	uint8_t it;   /* ITSTATE (A2.5.2) at it; 0: not in an IT block */
};
/* A code address (arch.h): its upper half has the state of the IT block. */
#define ARM_THUMB    1
#define ARM_IT_SHIFT 32
/* Returns false if there are too few bytes, if it is data, or if the address isn't aligned. */
bool arm__word(const uint8_t *bytes, size_t len, uint64_t addr, struct arm_word *out);
/* What the program counter reads as. */
static inline uint32_t arm__pc(const struct arm_word *w)
{
	return w->addr + (w->thumb ? 4 : 8);
}

/* a32.c, t32.c: returns the row of an instruction after which control may transfer elsewhere; NULL
 * if control reaches the next one. */
const struct match *a32__branch_row(uint32_t word);
const struct match *t32__branch_row(const struct arm_word *w);
/* The encoding of the target: a row's form. */
enum arm_form {
	ARM_PLAIN,   /* no operand */
	ARM_DIRECT,  /* to out->target, which a32__target() or t32__target() sets */
	ARM_ZERO,    /* as ARM_DIRECT, if a register is zero or isn't */
	ARM_REG,     /* in a register: bits 0 to 3, T16: bits 3 to 6 */
	ARM_SUM,     /* pc or a register, plus another one, shifted */
	ARM_OTHER,   /* computed in another way */
	ARM_AT_IMM,  /* in memory at a register plus an offset */
	ARM_AT_REG,  /* in memory at a register plus another one, shifted */
	ARM_LIST,    /* loaded with other registers: ldm, pop */
	ARM_ENTRIES, /* tbb, tbh */
};
uint32_t a32__target(const struct arm_word *w);
uint32_t t32__target(const struct arm_word *w);
/* branch.c: fills in flow, kind, target and operand. False: not an instruction. */
bool arm__branch(const struct arm_word *w, const struct match *row, bool kernel, struct insn *out);
/* Returns false if it is left to a disassembler. */
bool arm__format_branch(const struct arm_word *w, const struct insn *insn, char *out, size_t size);
/* "eq" ...; "" for ARM_AL. */
const char *arm__condition(unsigned cond);
/* struct arch's bound. */
bool arm__bound(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max);

/* writes.c: what an instruction that is no branch writes; it may be more than it
 * does write, never less. */
struct arm_writes {
	uint32_t registers; /* one bit each */
	bool flags, memory;
};
struct arm_writes a32__writes(uint32_t word);
struct arm_writes t32__writes(const struct arm_word *w);
static inline struct arm_writes arm__writes(const struct arm_word *w)
{
	return w->thumb ? t32__writes(w) : a32__writes(w->word);
}

/* detail.c: struct arch's detail; what it says of an instruction that is no branch. */
bool arm__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);
void arm__operation(const struct arm_word *w, struct insn_detail *out);
/* sp.c: fills in sp_effect and sp_value. */
void arm__sp(const struct arm_word *w, struct insn *out);

/* A modified immediate of A32 (A5.2.4) and of T32 (A6.3.2). */
static inline uint32_t a32__immediate(uint32_t word)
{
	unsigned by = match__field(word, 8, 4) * 2;
	uint32_t value = word & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

static inline uint32_t t32__immediate(uint32_t word)
{
	uint32_t imm = (word >> 26 & 1) << 11 | match__field(word, 12, 3) << 8 | (word & 0xff);
	uint32_t byte = imm & 0xff, value = 0x80 | (imm & 0x7f);
	static const uint32_t repeat[4] = {1, 0x00010001, 0x01000100, 0x01010101};

	if (imm >> 10 == 0)
		return byte * repeat[imm >> 8];
	return value >> (imm >> 7) | value << (32 - (imm >> 7));
}

#endif
