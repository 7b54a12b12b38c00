// SPDX-License-Identifier: BSD-2-Clause
/* What a conditional branch tests, as values, and what follows from them. */
#include "arch/arch.h"

uint64_t test__mask(const struct test *t)
{
	return t->bits >= 64 ? UINT64_MAX : (1ull << t->bits) - 1;
}

/* The operands of an instruction that has stored its result in A's place. */
static void undo(const struct test *t, uint64_t value[2])
{
	if (t->result && t->how == TEST_SUB)
		value[0] += value[1];
	if (t->result && t->how == TEST_ADD)
		value[0] -= value[1];
	value[0] &= test__mask(t);
	value[1] &= test__mask(t);
}

/* Flags that don't follow from the operands are tried both ways. */
static int decide_by_flags(const struct test *t, const struct arch *arch, uint8_t kind,
			   uint16_t cond, const uint64_t value[2])
{
	uint64_t unknown = 0, flags = arch->test_flags(t, value, &unknown), some = unknown;
	uint64_t reads[2] = {flags, 0};
	bool first = arch->taken(kind, cond, reads);

	for (; some; some = (some - 1) & unknown) {
		reads[0] = flags | some;
		if (arch->taken(kind, cond, reads) != first)
			return -1;
	}
	return first;
}

int test__decide(const struct test *t, const struct arch *arch, uint8_t kind, uint16_t cond,
		 uint64_t value[2])
{
	undo(t, value);
	if (t->how == TEST_READS)
		return arch->taken(kind, cond, value);
	return arch->test_flags ? decide_by_flags(t, arch, kind, cond, value) : -1;
}
