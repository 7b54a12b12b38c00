// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM, A32: the instructions after which control may go elsewhere. DDI 0406, A5.
 */
#include "arch/arm/arm.h"

#define BRANCH(form, kind) ARM_##form, FLOW_BRANCH, BRANCH_##kind
#define UNSUPPORTED	   ARM_PLAIN, FLOW_UNSUPPORTED, BRANCH_NONE
#define STOP		   ARM_PLAIN, FLOW_STOP, BRANCH_NONE

/* The condition is 15. */
static const struct match unconditional[] = {
	{0xfe000000, 0xfa000000, BRANCH(DIRECT, CALL), "blx"},
	{0xfe50ffff, 0xf8100a00, UNSUPPORTED, "rfe"},
};

/* Without the condition. The first row that matches counts. */
static const struct match rows[] = {
	{0x0f000000, 0x0a000000, BRANCH(DIRECT, JMP), "b"},
	{0x0f000000, 0x0b000000, BRANCH(DIRECT, CALL), "bl"},
	{0x0fffffff, 0x012fff1e, BRANCH(REG, RET), "bx"},
	{0x0ffffff0, 0x012fff10, BRANCH(REG, IJMP), "bx"},
	{0x0ffffff0, 0x012fff20, BRANCH(REG, IJMP), "bxj"},
	{0x0ffffff0, 0x012fff30, BRANCH(REG, ICALL), "blx"},
	{0x0fffffff, 0x01a0f00e, BRANCH(REG, RET), "mov"},
	{0x0ffffff0, 0x01a0f000, BRANCH(REG, IJMP), "mov"},
	{0xfff000f0, 0xe1200070, STOP, "bkpt"},
	{0xfff000f0, 0xe1000070, STOP, "hlt"},
	{0x0fffffff, 0x0160006e, UNSUPPORTED, "eret"},
	{0xfff000f0, 0xe7f000f0, STOP, "udf"},
	/* pop {pc}: ldr pc, [sp], #4 */
	{0x0f7ff000, 0x041df000, BRANCH(AT_IMM, RET), "pop"},
	{0x0e50f000, 0x0410f000, BRANCH(AT_IMM, IJMP), "ldr"},
	{0x0e50f010, 0x0610f000, BRANCH(AT_REG, IJMP), "ldr"},
	/* with ^ it returns from an exception */
	{0x0e508000, 0x08508000, UNSUPPORTED, "ldm"},
	{0x0fff8000, 0x08bd8000, BRANCH(LIST, RET), "pop"},
	{0x0f9f8000, 0x089d8000, BRANCH(LIST, RET), "ldm"},
	{0x0f9f8000, 0x091b8000, BRANCH(LIST, RET), "ldmdb"}, /* of r11, the frame pointer */
	{0x0e108000, 0x08108000, BRANCH(LIST, IJMP), "ldm"},
	/* data processing that writes pc; with s it returns from an exception; tst, teq, cmp and
	 * cmn write nothing */
	{0x0d90f000, 0x0110f000, ARM_PLAIN, FLOW_NEXT, BRANCH_NONE, "cmp"},
	{0x0e10f000, 0x0210f000, UNSUPPORTED, "movs"},
	{0x0e10f010, 0x0010f000, UNSUPPORTED, "movs"},
	{0x0e10f090, 0x0010f010, UNSUPPORTED, "movs"},
	{0x0ff0f010, 0x0080f000, BRANCH(SUM, IJMP), "add"},
	{0x0ff0f000, 0x0280f000, BRANCH(OTHER, IJMP), "add"},
	{0x0ff0f000, 0x0240f000, BRANCH(OTHER, IJMP), "sub"},
	{0x0ff0f010, 0x0040f000, BRANCH(OTHER, IJMP), "sub"},
	{0x0ff0f000, 0x03a0f000, BRANCH(OTHER, IJMP), "mov"},
	{0x0ff0f010, 0x01a0f000, BRANCH(OTHER, IJMP), "mov"},
	{0x0ff0f090, 0x01a0f010, BRANCH(OTHER, IJMP), "mov"},
	{0x0f10f000, 0x0200f000, BRANCH(OTHER, IJMP), "alu"},
	{0x0f90f000, 0x0380f000, BRANCH(OTHER, IJMP), "alu"},
	{0x0f10f010, 0x0000f000, BRANCH(OTHER, IJMP), "alu"},
	{0x0f90f010, 0x0180f000, BRANCH(OTHER, IJMP), "alu"},
	{0x0f90f090, 0x0180f010, BRANCH(OTHER, IJMP), "alu"},
};

const struct match *a32__branch_row(uint32_t word)
{
	const struct match *m =
		word >> 28 == 15 ? match__find(unconditional, ARRAY_SIZE(unconditional), word)
				 : match__find(rows, ARRAY_SIZE(rows), word);

	return m && m->flow != FLOW_NEXT ? m : NULL;
}

uint32_t a32__target(const struct arm_word *w)
{
	int64_t offset = match__signed(w->word & 0xffffff, 24) * 4;

	if (w->word >> 28 == 15)
		offset += (w->word >> 24 & 1) * 2;
	return w->addr + 8 + offset;
}
