/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test: what a conditional branch tests, as values: the operands of the instruction that set its
 * flags, or the registers that it compares itself. Part of the public header of src/arch.
 */
#ifndef BBTRACE_ARCH_TEST_H
#define BBTRACE_ARCH_TEST_H

/* How the flags follow from the operands A and B. */
enum test_how {
	TEST_NONE,   /* not known */
	TEST_SUB,    /* A - B; .result: that is A's place now */
	TEST_ADD,    /* A + B, likewise */
	TEST_AND,    /* A & B */
	TEST_BIT,    /* CF: bit B of A, counted modulo its size */
	TEST_LOGIC,  /* by A, the result, or what is tested: no carry, no overflow */
	TEST_INC,    /* by A, the result of adding 1, which leaves the carry */
	TEST_DEC,    /* of subtracting 1 */
	TEST_RESULT, /* by A, the result: zero and sign alone */
	TEST_READS,  /* there are none: A and B are the registers that the branch reads */
};

/* An operand's location when the branch is executed. */
struct test_operand {
	uint8_t kind;  /* enum operand_kind: REG, MEM; NONE: a constant, or there is none */
	uint8_t shift; /* REG: the lowest bit that counts */
	/* REG: base. MEM; base REG_IP: disp is from the address of the branch on */
	struct operand at;
	uint64_t constant; /* its low .bits bits */
};

struct test {
	uint64_t vaddr; /* of the instruction */
	uint8_t how;	/* enum test_how */
	uint8_t bits;	/* of each operand: 8, 16, 32, 64 */
	uint8_t n;	/* operands: 1 or 2 */
	bool result;	/* A was overwritten by the result */
	uint32_t kills; /* the registers that the instruction writes, one bit each */
	struct test_operand operand[2];
};

struct arch;
/* Returns the mask of its low bits. */
uint64_t test__mask(const struct test *t);
/*
 * Turns what is in the operands' places when the branch is executed into the operands' values
 * before the instruction (A alone for a result). Returns whether the branch is taken by them; -1 if
 * that doesn't follow.
 */
int test__decide(const struct test *t, const struct arch *arch, uint8_t kind, uint16_t cond,
		 uint64_t value[2]);

#endif
