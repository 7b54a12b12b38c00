// SPDX-License-Identifier: BSD-2-Clause
/* The registers of a stopped thread. */
#include "arch/x86/x86.h"

#if defined(__x86_64__)
#include <stddef.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

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

/* include/linux/errno.h: results that user space never sees */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };
#define RESTART_SYSCALL 219

static bool restart(void *regs)
{
	struct user_regs_struct *r = regs;
	int64_t result = (int64_t)r->rax;

	if ((int64_t)r->orig_rax < 0)
		return false;
	if (result == -ERESTART_RESTARTBLOCK)
		r->rax = RESTART_SYSCALL;
	else if (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND)
		r->rax = r->orig_rax;
	else
		return false;
	r->rip -= sizeof(enter);
	r->orig_rax = -1;
	return true;
}

/* mov $15,%rax; syscall: of glibc, musl and Go */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

#define CONTEXT_SIZE offsetof(ucontext_t, uc_mcontext.fpregs)

/* struct rt_sigframe, arch/x86/include/asm/sigframe.h: where to return to, and the context. */
static bool frame(const void *bytes, uint64_t *pc, uint64_t *sp)
{
	enum { USER_CS = 0x33 };
	ucontext_t u;

	memcpy(&u, (const char *)bytes + sizeof(uint64_t), CONTEXT_SIZE);
	*pc = (uint64_t)u.uc_mcontext.gregs[REG_RIP];
	*sp = (uint64_t)u.uc_mcontext.gregs[REG_RSP];
	return (u.uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == USER_CS;
}

const struct arch_tracee x86_tracee = {
	.size = sizeof(struct user_regs_struct),
	.get = get,
	.set = set,
	.enter = enter,
	.enter_len = sizeof(enter),
	.call = call,
	.restart = restart,
	.sigreturn = sigreturn,
	.sigreturn_len = sizeof(sigreturn),
	.frame_size = sizeof(uint64_t) + CONTEXT_SIZE,
	.frame = frame,
	.returned = 8,
};
#endif
