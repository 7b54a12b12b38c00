// SPDX-License-Identifier: BSD-2-Clause
/* The registers of a stopped thread. */
#include "arch/x86/x86.h"

#if defined(__x86_64__)
#include <sys/user.h>

static const uint8_t enter[] = {0x0f, 0x05};

static unsigned long long *find(void *regs, enum tracee_reg reg)
{
	struct user_regs_struct *r = regs;

	switch (reg) {
	case TRACEE_PC:
		return &r->rip;
	case TRACEE_SP:
		return &r->rsp;
	case TRACEE_LOG:
		return &r->gs_base;
	case TRACEE_CONTEXT:
	default:
		return &r->rdx;
	}
}

static uint64_t get(const void *regs, enum tracee_reg reg)
{
	return *find((void *)(uintptr_t)regs, reg);
}

static void set(void *regs, enum tracee_reg reg, uint64_t value)
{
	*find(regs, reg) = value;
}

static void call(void *regs, uint64_t addr, uint64_t number, const uint64_t args[6])
{
	struct user_regs_struct *r = regs;

	r->rip = addr;
	r->rax = number;
	r->orig_rax = -1; /* nothing is restarted */
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

const struct arch_tracee x86_tracee = {
	.size = sizeof(struct user_regs_struct),
	.get = get,
	.set = set,
	.enter = enter,
	.enter_len = sizeof(enter),
	.call = call,
	.returned = 8,
};
#endif
