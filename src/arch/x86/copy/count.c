// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: the code that adds 1 to one of the thread's counters, src/arch/log.h. */
#include "assembler.h"

static struct operand counter_at(uint32_t counter)
{
	struct operand m = asm__at(REG_NONE, LOG_COUNTERS_AT + counter * sizeof(uint64_t));

	m.seg = SEG_GS;
	return m;
}

/* Returns a register that may be changed, other than the stack pointer; X86_RSP if there is
 * none. */
static uint8_t dead_register(uint32_t dead)
{
	dead &= (1u << X86_GENERAL) - 1;
	dead &= ~(1u << X86_RSP);
	return dead ? __builtin_ctz(dead) : X86_RSP;
}

/* Keeps the flags. */
static void add_by(struct code_part *p, uint8_t reg, const struct operand *counter)
{
	struct operand one = asm__at(reg, 1);

	asm__mem(p, ASM_LOAD, 64, reg, counter);
	asm__mem(p, ASM_LEA, 64, reg, &one);
	asm__mem(p, ASM_STORE, 64, reg, counter);
}

void x86__count(struct code_buffer *c, uint32_t counter, uint32_t dead, bool flags_dead)
{
	int32_t zone = c->small_stack ? X86_SMALL_ZONE : X86_RED_ZONE;
	struct operand down = asm__at(X86_RSP, -zone), up = asm__at(X86_RSP, zone);
	struct operand m = counter_at(counter);
	struct code_part *p = &c->hot;
	uint8_t reg = dead_register(dead);

	if (flags_dead) {
		asm__mem(p, ASM_INC, 64, 0, &m);
	} else if (reg != X86_RSP) {
		add_by(p, reg, &m);
	} else {
		asm__mem(p, ASM_LEA, 64, X86_RSP, &down);
		asm__push(p, X86_RAX);
		add_by(p, X86_RAX, &m);
		asm__pop(p, X86_RAX);
		asm__mem(p, ASM_LEA, 64, X86_RSP, &up);
	}
}
