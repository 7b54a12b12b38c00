// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether the observed stops form a path. Under some hypervisors a single step is lost now and
 * then: the processor runs two instructions and traps once. Each stop must be a successor of the
 * instruction before: the next address, or the one that its flags, its counter, its operand or its
 * return address give. This is checked for each instruction, listed or not, from the program's own
 * state alone.
 */
#include <errno.h>
#include <sys/ptrace.h>

#include "step.h"

#define VSYSCALL	0xffffffffff600000ull
#define NR_RT_SIGRETURN 15
#define SIGRETURN_RIP	168 /* from the stack pointer: struct ucontext, uc_mcontext.rip */
/* 32-bit code: struct sigframe_ia32, behind what was popped of it; struct rt_sigframe_ia32 */
#define NR32_SIGRETURN	  119
#define NR32_RT_SIGRETURN 173
#define SIGRETURN_EIP	  56
#define RT_SIGRETURN_EIP  216

/* A word of the program's as it sees it. */
static uint64_t visible(const struct thread *t, uint64_t value)
{
	return t->process->narrow ? (uint32_t)value : value;
}

static struct expected in_memory(const struct thread *t, uint64_t at)
{
	struct expected e = {.at = at};

	errno = 0;
	e.target = visible(t, ptrace(PTRACE_PEEKDATA, t->tid, (void *)at, NULL));
	e.known = !errno;
	return e;
}

static uint64_t reg_value(const struct thread *t, uint8_t reg)
{
	const struct user_regs_struct *r = &t->regs;
	const unsigned long long values[] = {
		r->rax,
		r->rcx,
		r->rdx,
		r->rbx,
		r->rsp,
		r->rbp,
		r->rsi,
		r->rdi,
		r->r8,
		r->r9,
		r->r10,
		r->r11,
		r->r12,
		r->r13,
		r->r14,
		r->r15,
		r->rip + t->insn.len,
		r->fs_base,
		r->gs_base,
		0,
	};

	return values[reg];
}

static struct expected by_operand(const struct thread *t, const struct operand *o)
{
	if (!o->known)
		return (struct expected){0};
	if (!o->memory)
		return (struct expected){.known = true, .target = reg_value(t, o->base)};
	return in_memory(t, visible(t, reg_value(t, o->base) + reg_value(t, o->index) * o->scale +
					       reg_value(t, o->segment) + o->disp));
}

static void expect_sigreturn(struct thread *t)
{
	if (!t->process->narrow && t->regs.rax == NR_RT_SIGRETURN)
		t->expected = in_memory(t, t->regs.rsp + SIGRETURN_RIP);
	else if (t->process->narrow && t->regs.rax == NR32_SIGRETURN)
		t->expected = in_memory(t, t->regs.rsp + SIGRETURN_EIP);
	else if (t->process->narrow && t->regs.rax == NR32_RT_SIGRETURN)
		t->expected = in_memory(t, t->regs.rsp + RT_SIGRETURN_EIP);
}

void path__expect(struct thread *t)
{
	t->expected = (struct expected){0};
	if (t->insn.kind == K_RET)
		t->expected = in_memory(t, t->regs.rsp);
	else if (t->insn.kind == K_IJMP || t->insn.kind == K_ICALL)
		t->expected = by_operand(t, &t->insn.target);
	else if (t->insn.kind == K_SYSCALL)
		expect_sigreturn(t);
}

/* What it was read from may have been written by another thread since. */
static bool as_expected(const struct thread *t, uint64_t next)
{
	const struct expected *e = &t->expected;

	if (!e->known || next == e->target)
		return true;
	return e->at && in_memory(t, e->at).target == next;
}

/* A loop that leads to itself: the counter tells how often it ran. */
static bool counted_once(const struct thread *t, const struct user_regs_struct *now)
{
	uint64_t mask = t->insn.addr32 ? UINT32_MAX : UINT64_MAX;
	bool counts = t->insn.cond != 3; /* jrcxz */

	return ((t->regs.rcx - counts) & mask) == (now->rcx & mask);
}

/* Can this instruction, at pc, have led to next? */
static bool follows(const struct thread *t, const struct insn *insn, uint64_t pc,
		    const struct user_regs_struct *now)
{
	uint64_t next = now->rip, behind = visible(t, pc + insn->len);

	if ((pc & ~4095ull) == VSYSCALL) /* the kernel runs it, and the trap doesn't outlive that */
		return true;
	switch (insn->kind) {
	case K_JCC:
		return next == visible(t, behind + (insn__taken(insn, &t->regs) ? insn->disp : 0));
	case K_LOOP:
		return counted_once(t, now) &&
		       next == visible(t, behind + (insn__taken(insn, &t->regs) ? insn->disp : 0));
	case K_JMP:
	case K_CALL:
		return next == visible(t, behind + insn->disp);
	case K_IJMP:
	case K_ICALL:
	case K_RET:
		return as_expected(t, next);
	case K_SYSCALL: /* or it is to be called again */
		/* from sysenter the vdso's code goes on behind the int 0x80 that follows it */
		return t->expected.known
			       ? as_expected(t, next)
			       : next == behind || next == pc || (insn->fast && next == behind + 2);
	case K_REPEAT:
		return next == behind || next == pc;
	case K_FAR:
		return true;
	case K_UNKNOWN:
		return next > pc && next <= pc + 15;
	default:
		return next == behind;
	}
}

/* Two in one step; the registers in between weren't seen. */
static bool follows_movss(const struct thread *t, const struct user_regs_struct *now)
{
	uint64_t behind = t->regs.rip + t->insn.len;
	struct insn second;

	process__decode(t->process, behind, &second);
	return second.kind == K_IJMP || second.kind == K_ICALL || second.kind == K_RET ||
	       follows(t, &second, behind, now);
}

bool path__stepped(const struct thread *t, const struct user_regs_struct *now)
{
	if (t->insn.kind == K_MOVSS)
		return now->rip == t->regs.rip + t->insn.len || follows_movss(t, now);
	return follows(t, &t->insn, t->regs.rip, now);
}

/* Behind one that the kernel begins anew there may be any system call's end. */
static bool begins_anew(const struct thread *t)
{
	long result = t->process->narrow ? (int32_t)t->regs.rax : (long)t->regs.rax;

	return result <= -512 && result >= -516; /* ERESTARTSYS … ERESTART_RESTARTBLOCK */
}

bool path__still_there(const struct thread *t, const struct user_regs_struct *now)
{
	return now->rip == t->regs.rip || t->insn.kind == K_FAR || begins_anew(t);
}

bool path__interrupted(const struct thread *t, const struct user_regs_struct *now)
{
	bool behind = now->rip == t->regs.rip + t->insn.len ||
		      (t->insn.fast && now->rip == t->regs.rip + t->insn.len + 2);

	return now->rip == t->regs.rip || (t->insn.kind == K_SYSCALL && behind) ||
	       (t->insn.kind == K_MOVSS && behind) || t->insn.kind >= K_FAR || begins_anew(t);
}

bool path__called(const struct thread *t)
{
	return t->insn.kind == K_SYSCALL || begins_anew(t);
}
