/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: shared by the files of this architecture; only src/arch/aarch64 includes it. Encodings:
 * Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "A64 instruction set encoding".
 */
#ifndef BBTRACE_ARCH_AARCH64_AARCH64_H
#define BBTRACE_ARCH_AARCH64_AARCH64_H

#include "arch/match.h"

enum aarch64_reg { A64_X0, A64_X16 = 16, A64_FP = 29, A64_LR, A64_SP, A64_PC, A64_FLAGS };
/* Register number 31 is the zero register in most fields, the stack pointer in some. */
#define A64_ZERO 31

/* AAPCS64, 6.1.1: x0 to x18; and the link register, which a call writes. */
#define A64_CALLER_SAVED (0x7ffffu | 1u << A64_LR)

/*
 * insn.cond. 0 to 15: the condition on the flags, DDI 0487, C1.2.4. Else the bits of this, the
 * register's number from bit 5 on and the tested bit's from bit 10 on. bpf/arch/arm64.h has its
 * own.
 */
enum aarch64_condition {
	A64_NONZERO = 0x01, /* cbnz, tbnz */
	A64_ONE = 0x02,	    /* one bit; else all of them */
	A64_WIDE = 0x04,    /* of 64; else of 32 */
	A64_OTHER = 0x08,   /* FEAT_CMPBR: identified only by reads and the mnemonic */
	A64_NO_FLAGS = 0x10,
};
#define A64_COND_REG_SHIFT 5
#define A64_COND_BIT_SHIFT 10

#define A64_BRK	   0xd4200000
#define A64_NOP	   0xd503201f
#define A64_BTI	   0xd503241f /* bits 6 and 7 select which branches may land here */
#define A64_IS_BTI 0xffffff3f

/* The instruction at addr. False: too few bytes, or addr isn't aligned. */
static inline bool aarch64__word(const uint8_t *bytes, size_t len, uint64_t addr, uint32_t *word)
{
	if (len < sizeof(*word) || addr % sizeof(*word))
		return false;
	memcpy(word, bytes, sizeof(*word));
	return true;
}

/* Register fields, at the same place in most encodings. */
static inline unsigned aarch64__rd(uint32_t word)
{
	return word & 31;
}

static inline unsigned aarch64__rn(uint32_t word)
{
	return word >> 5 & 31;
}

static inline unsigned aarch64__rm(uint32_t word)
{
	return word >> 16 & 31;
}

/* The immediate of an addition or subtraction, shift applied. */
static inline uint32_t aarch64__imm12(uint32_t word)
{
	return match__field(word, 10, 12) << (word >> 22 & 1 ? 12 : 0);
}

/* branch.c: returns the row of an instruction after which control may transfer elsewhere; NULL if
 * control reaches the next one. */
const struct match *aarch64__branch_row(uint32_t word);
/* Fills in flow, kind, target and operand. False: not an instruction. */
bool aarch64__branch(uint32_t word, const struct match *row, bool kernel, struct insn *out);
void aarch64__format_branch(uint32_t word, const struct match *row, uint64_t addr, char *out,
			    size_t size);
/* Returns true if it checks a signature (FEAT_PAuth). */
bool aarch64__is_signed(const struct match *row);
/* Returns true if a kernel that doesn't know the instruction executes it at another address, from
 * which it leads to a wrong target: bc.cond, FEAT_CMPBR. */
bool aarch64__is_misexecuted(uint32_t word);
/* struct arch's taken and bound. */
bool aarch64__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2]);
bool aarch64__bound(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max);

/* writes.c: what an instruction that is no branch writes. */
struct aarch64_writes {
	uint32_t registers; /* one bit each, A64_SP among them */
	bool flags, memory;
};
struct aarch64_writes aarch64__writes(uint32_t word);

/* flags.c: struct arch's flags_effect. */
enum flags_effect aarch64__flags_effect(const uint8_t *bytes, size_t len, uint8_t kind,
					uint16_t cond);

/* condition.c: struct arch's proves and is_unsigned. */
bool aarch64__is_unsigned(uint8_t kind, uint16_t cond);
bool aarch64__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out);

/* test.c: struct arch's test and test_flags. */
bool aarch64__test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out);
uint64_t aarch64__test_flags(const struct test *t, const uint64_t value[2], uint64_t *unknown);

/* uprobe.c: fills in user_refusal, emulated and varies; row: of a branch, or NULL. And struct
 * arch's uprobe_form. */
void aarch64__uprobe(uint32_t word, const struct match *row, struct insn *out);
uint64_t aarch64__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn);

/* usdt.c: struct arch's usdt_operand. */
bool aarch64__usdt_operand(const char **text, struct usdt_argument *out);

extern const struct arch_kernel aarch64_kernel;

/* sp.c: fills in sp_effect and sp_value. */
void aarch64__sp(uint32_t word, struct insn *out);
/* detail.c: struct arch's detail. */
void aarch64__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
			   void *ctx); /* address.c */
bool aarch64__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);

#endif
