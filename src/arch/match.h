/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: recognises instruction words by mask and value, for architectures with fixed-width
 * encodings. Only src/arch includes it.
 */
#ifndef BBTRACE_ARCH_MATCH_H
#define BBTRACE_ARCH_MATCH_H

#include "arch/arch.h"

/* Instruction words whose bits under mask equal value. */
struct match {
	uint32_t mask, value;
	uint8_t form;	      /* encoding of the operands: an enum of the architecture */
	uint8_t flow, kind;   /* enum flow, enum branch_kind */
	const char *mnemonic; /* as in struct insn */
};

/* Returns the first of n rows that matches word; NULL if none does. */
const struct match *match__find(const struct match *rows, size_t n, uint32_t word);

/* The field of word with count bits from bit low on, 0 < count < 32. */
static inline uint32_t match__field(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

/* The low count bits of value, 0 < count <= 64, as a signed number. */
static inline int64_t match__signed(uint64_t value, unsigned count)
{
	return (int64_t)(value << (64 - count)) >> (64 - count);
}

#endif
