// SPDX-License-Identifier: BSD-2-Clause
/* The registers of a stopped thread. */
#include <errno.h>
#include "assembler.h"

#if defined(__x86_64__)
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

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
	case TRACEE_THREAD:
		return &r->fs_base;
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

/* ---- injected calls ---- */

static void send(void *regs, uint64_t addr)
{
	struct user_regs_struct *r = regs;

	r->rip = addr;
	r->orig_rax = -1;
}

static bool return_from(void *regs, const struct injected *e, const struct tracee_memory *m)
{
	struct user_regs_struct *r = regs;
	uint64_t words[1 + X86_INJECTED_KEPT];

	if (!m->read(m->of, r->rsp, words, sizeof(words)))
		return false;
	r->eflags = words[0];
	for (size_t i = 0; i < X86_INJECTED_KEPT; i++)
		*x86__general(r, x86_injected_kept[i]) = words[1 + i];
	r->rsp += sizeof(words) + (e->small_stack ? X86_SMALL_ZONE : X86_RED_ZONE);
	send(r, e->then);
	return true;
}

static bool leave_beacon(void *regs, uint64_t offset, const struct tracee_memory *m)
{
	struct user_regs_struct *r = regs;
	uint64_t words[X86_BEACON_KEPT + 1];
	unsigned n = x86__beacon_words(offset);

	if (!m->read(m->of, r->rsp, words, (n + 1) * sizeof(*words)))
		return false;
	for (unsigned i = 0; i < n; i++)
		*x86__general(r, x86_beacon_kept[i]) = words[n - 1 - i];
	r->rsp += (n + 1) * sizeof(*words);
	send(r, words[n]);
	return true;
}

static bool address_of(const struct user_regs_struct *r, const struct operand *o, uint64_t *out)
{
	struct user_regs_struct *regs = (struct user_regs_struct *)(uintptr_t)r;
	uint64_t addr = (int64_t)o->disp;

	if (o->base == REG_IP)
		addr += r->rip;
	else if (o->base != REG_NONE)
		addr += *x86__general(regs, o->base);
	if (o->index != REG_NONE)
		addr += *x86__general(regs, o->index) * o->scale;
	if (o->addr32)
		addr = (uint32_t)addr;
	addr += o->seg == SEG_FS ? r->fs_base : o->seg == SEG_GS ? r->gs_base : 0;
	*out = addr;
	return !o->extend;
}

/* The pc is after the instruction. */
static bool go_indirectly(struct user_regs_struct *r, const struct operand *o,
			  const struct tracee_memory *m)
{
	uint64_t addr, to = 0;

	if (o->kind == OPERAND_REG) {
		to = *x86__general(r, o->base);
	} else if (!address_of(r, o, &addr) ||
		   !m->read(m->of, addr, &to, o->size ? o->size : sizeof(to))) {
		return false;
	}
	r->rip = to;
	return true;
}

static bool go_conditionally(struct user_regs_struct *r, const struct insn *insn)
{
	const uint64_t reads[] = {r->eflags, r->rcx};
	bool taken = x86__taken(insn->kind, insn->cond, reads);

	if (insn->kind == BRANCH_LOOP && (X86_LOOPNE | (insn->cond & 3)) != X86_JRCXZ)
		r->rcx = insn->cond & X86_LOOP_ADDR32 ? (uint32_t)(r->rcx - 1) : r->rcx - 1;
	if (taken)
		r->rip = insn->target;
	return true;
}

static bool do_branch(struct user_regs_struct *r, const struct insn *insn,
		      const struct tracee_memory *m)
{
	switch (insn->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		return go_conditionally(r, insn);
	case BRANCH_CALL:
		r->rsp -= sizeof(r->rip);
		if (!m->write(m->of, r->rsp, &r->rip, sizeof(r->rip)))
			return false;
		r->rip = insn->target;
		return true;
	case BRANCH_JMP:
		r->rip = insn->target;
		return true;
	case BRANCH_IJMP:
		return go_indirectly(r, &insn->operand, m);
	case BRANCH_RET:
		if (!m->read(m->of, r->rsp, &r->rip, sizeof(r->rip)))
			return false;
		r->rsp += sizeof(r->rip) + insn->operand.disp;
		return true;
	default:
		return false;
	}
}

static bool branch(void *regs, const struct insn *insn, const struct tracee_memory *m)
{
	struct user_regs_struct r = *(const struct user_regs_struct *)regs;

	if (insn->flow != FLOW_BRANCH)
		return false;
	r.rip = insn->addr + insn->len;
	if (!do_branch(&r, insn, m))
		return false;
	*(struct user_regs_struct *)regs = r;
	return true;
}

/* include/linux/errno.h: results that user space never sees */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };
#define RESTART_SYSCALL 219
#define SYSCALL_SIZE	2

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
	r->rip -= SYSCALL_SIZE;
	r->orig_rax = -1;
	return true;
}

static bool interrupted(const void *regs)
{
	const struct user_regs_struct *r = regs;

	return (int64_t)r->orig_rax >= 0 && (int64_t)r->rax == -EINTR;
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

/* wrgsbase: f3 REX 0f ae d8+reg */
static bool sets_log(const uint8_t *code, size_t n)
{
	const uint8_t *at = code, *end = code + n;

	while ((at = memmem(at, end - at, "\x0f\xae", 2))) {
		size_t before = at - code;
		bool prefixed = before > 1 && (at[-1] & 0xf0) == 0x40;

		if (at + 2 < end && (at[2] & 0xf8) == 0xd8 && before &&
		    at[prefixed ? -2 : -1] == 0xf3)
			return true;
		at += 2;
	}
	return false;
}

/* The next mov $number,%reg: where the number is. */
static const uint8_t *next_load(const uint8_t *at, const uint8_t *end, const char number[4])
{
	const uint8_t *code = at;

	while ((at = memmem(at, end - at, number, 4))) {
		if (at > code && (at[-1] & 0xf8) == 0xb8)
			return at;
		at += 4;
	}
	return NULL;
}

/* ARCH_SET_GS: what it calls arch_prctl(2) with. Other programs have that number, too. */
static bool asks_to_set_log(const uint8_t *code, size_t n)
{
	return next_load(code, code + n, "\x01\x10\0\0");
}

/* The same near SYS_arch_prctl. */
#define NEAR (TRACEE_CALL_MAX / 2 - 8)
static bool calls_to_set_log(const uint8_t *code, size_t n)
{
	const uint8_t *at = code, *end = code + n;

	while ((at = next_load(at, end, "\x01\x10\0\0"))) {
		const uint8_t *from = at - code > NEAR ? at - NEAR : code;

		if (next_load(from, end - at > NEAR ? at + NEAR : end, "\x9e\0\0\0"))
			return true;
		at += 4;
	}
	return false;
}

static void give_time(void *regs, uint64_t ticks)
{
	struct user_regs_struct *r = regs;

	r->rax = (uint32_t)ticks;
	r->rdx = ticks >> 32;
	send(r, r->rip + X86_READ_TIME_SIZE);
}

const struct arch_tracee x86_tracee = {
	.size = sizeof(struct user_regs_struct),
	.get = get,
	.set = set,
	.injected = x86__injected,
	.send = send,
	.return_from = return_from,
	.branch = branch,
	.emulate = x86__emulate,
	.beacon = x86__beacon,
	.leave_beacon = leave_beacon,
	.audit = AUDIT_ARCH_X86_64,
	.restart = restart,
	.interrupted = interrupted,
	.sigreturn = sigreturn,
	.sigreturn_len = sizeof(sigreturn),
	.frame_size = sizeof(uint64_t) + CONTEXT_SIZE,
	.frame_pc = sizeof(uint64_t) + offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]),
	.frame = frame,
	.returned = 8,
	.give_time = give_time,
	.sets_log = sets_log,
	.asks_to_set_log = asks_to_set_log,
	.calls_to_set_log = calls_to_set_log,
};
#endif
