// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM, T32 (Thumb-2): the instructions after which control may go elsewhere. DDI 0406, A6.
 */
#include "arch/arm/arm.h"

#define BRANCH(form, kind) ARM_##form, FLOW_BRANCH, BRANCH_##kind
#define UNSUPPORTED	   ARM_PLAIN, FLOW_UNSUPPORTED, BRANCH_NONE
#define STOP		   ARM_PLAIN, FLOW_STOP, BRANCH_NONE

/* 16 bits. The first row that matches counts. */
static const struct match halves[] = {
	{0xff00, 0xde00, STOP, "udf"},
	{0xff00, 0xdf00, ARM_PLAIN, FLOW_NEXT, BRANCH_NONE, "svc"},
	{0xf000, 0xd000, BRANCH(DIRECT, JCC), "b"},
	{0xf800, 0xe000, BRANCH(DIRECT, JMP), "b"},
	{0xfd00, 0xb100, BRANCH(ZERO, JCC), "cbz"},
	{0xfd00, 0xb900, BRANCH(ZERO, JCC), "cbnz"},
	{0xffff, 0x4770, BRANCH(REG, RET), "bx"},
	{0xffff, 0x4778, BRANCH(DIRECT, JMP), "bx"}, /* pc: to the A32 code after it */
	{0xff87, 0x4700, BRANCH(REG, IJMP), "bx"},
	{0xff87, 0x4780, BRANCH(REG, ICALL), "blx"},
	{0xff87, 0x4487, BRANCH(SUM, IJMP), "add"},
	{0xffff, 0x46f7, BRANCH(REG, RET), "mov"},
	{0xff87, 0x4687, BRANCH(REG, IJMP), "mov"},
	{0xff00, 0xbd00, BRANCH(LIST, RET), "pop"},
	{0xff00, 0xbe00, STOP, "bkpt"},
	{0xffc0, 0xba80, STOP, "hlt"},
};

/* 32 bits. */
static const struct match rows[] = {
	{0xfff0f000, 0xf7f0a000, STOP, "udf"},
	{0xffffff00, 0xf3de8f00, UNSUPPORTED, "subs"},
	{0xfff0ffff, 0xf3c08f00, BRANCH(OTHER, IJMP), "bxj"},
	{0xfb80d000, 0xf3808000, ARM_PLAIN, FLOW_NEXT, BRANCH_NONE, NULL}, /* not conditions */
	{0xf800d000, 0xf0008000, BRANCH(DIRECT, JCC), "b"},
	{0xf800d000, 0xf0009000, BRANCH(DIRECT, JMP), "b"},
	{0xf800d000, 0xf000d000, BRANCH(DIRECT, CALL), "bl"},
	{0xf800d001, 0xf000c000, BRANCH(DIRECT, CALL), "blx"},
	{0xfff0fff0, 0xe8d0f000, BRANCH(ENTRIES, IJMP), "tbb"},
	{0xfff0fff0, 0xe8d0f010, BRANCH(ENTRIES, IJMP), "tbh"},
	{0xffd0ffff, 0xe810c000, UNSUPPORTED, "rfe"},
	{0xffd0ffff, 0xe990c000, UNSUPPORTED, "rfe"},
	{0xffff8000, 0xe8bd8000, BRANCH(LIST, RET), "pop"},
	{0xffdf8000, 0xe89d8000, BRANCH(LIST, RET), "ldm"},
	{0xffd08000, 0xe8908000, BRANCH(LIST, IJMP), "ldm"},
	{0xffd08000, 0xe9108000, BRANCH(LIST, IJMP), "ldmdb"},
	{0xff7ff000, 0xf85ff000, BRANCH(AT_IMM, IJMP), "ldr"}, /* a literal */
	{0xfffffd00, 0xf85df900, BRANCH(AT_IMM, RET), "pop"},  /* ldr pc, [sp], #n */
	{0xfff0f000, 0xf8d0f000, BRANCH(AT_IMM, IJMP), "ldr"},
	{0xfff0f800, 0xf850f800, BRANCH(AT_IMM, IJMP), "ldr"},
	{0xfff0ffc0, 0xf850f000, BRANCH(AT_REG, IJMP), "ldr"},
};

const struct match *t32__branch_row(const struct arm_word *w)
{
	const struct match *m = w->len == 2 ? match__find(halves, ARRAY_SIZE(halves), w->word)
					    : match__find(rows, ARRAY_SIZE(rows), w->word);

	return m && m->flow != FLOW_NEXT ? m : NULL;
}

static int64_t offset16(uint32_t word)
{
	if (word >> 12 == 0xd)
		return match__signed(word & 0xff, 8) * 2;
	if (word >> 12 == 0xb)
		return (word >> 9 & 1) << 6 | match__field(word, 3, 5) << 1;
	return match__signed(word & 0x7ff, 11) * 2;
}

static int64_t offset32(uint32_t word)
{
	uint32_t s = word >> 26 & 1, j1 = word >> 13 & 1, j2 = word >> 11 & 1;
	uint32_t low = (word & 0x7ff) << 1;

	if ((word & 0xd000) == 0x8000) /* conditional */
		return match__signed(
			s << 20 | j2 << 19 | j1 << 18 | match__field(word, 16, 6) << 12 | low, 21);
	return match__signed(s << 24 | (j1 == s) << 23 | (j2 == s) << 22 |
				     match__field(word, 16, 10) << 12 | low,
			     25);
}

uint32_t t32__target(const struct arm_word *w)
{
	if (w->len == 2 && w->word == 0x4778)
		return arm__pc(w) & ~3u;
	if (w->len == 2)
		return w->addr + 4 + offset16(w->word);
	if ((w->word & 0xd001) == 0xc000) /* blx: to A32 code */
		return (arm__pc(w) & ~3u) + offset32(w->word);
	return w->addr + 4 + offset32(w->word);
}
