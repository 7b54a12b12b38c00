// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signals. What a handler, a core file or a debugger sees is the program's own code: the thread is
 * taken out of the copies first. When the handler has returned to there, the thread is taken back.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "source/inline/tracer.h"

/* ---- what becomes of a signal ---- */

enum fate { FATE_CAUGHT, FATE_ENDS, FATE_NOTHING };

static uint64_t mask_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* By default. */
static bool ends_the_process(int sig)
{
	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		return true;
	}
}

static enum fate fate_of(const struct thread *t, int sig)
{
	uint64_t bit = 1ull << (sig - 1);
	autofree char *status = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", t->tid);
	if (file__read(path, 1u << 16, &status, NULL))
		return FATE_NOTHING;
	if (mask_of(status, "\nSigCgt:") & bit)
		return FATE_CAUGHT;
	if (mask_of(status, "\nSigIgn:") & bit)
		return FATE_NOTHING;
	return ends_the_process(sig) ? FATE_ENDS : FATE_NOTHING;
}

/* Is it caused by the instruction at the pc, rather than sent? */
bool siginfo__is_fault(const siginfo_t *si)
{
	switch (si->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
	case SIGSYS:
		return si->si_code > 0;
	default:
		return false;
	}
}

/* ---- passing a signal on ---- */

/* To stop again at the handler's first instruction. */
static void pass_on(struct thread *t, const siginfo_t *si, uint64_t copy)
{
	ptrace(PTRACE_SETSIGINFO, t->tid, 0, si);
	t->original = thread__get(t, TRACEE_PC);
	t->copy = copy;
	t->delivering = true;
	thread__resume(t, PTRACE_SINGLESTEP, si->si_signo);
}

uint64_t signals__leave_at_once(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	const struct loaded *l = space__copies_at(t->process->space, pc);

	if (!l || (!copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr) &&
		   !copy_image__near(l->image, (uint32_t)(pc - l->base), &vaddr)))
		return 0;
	thread__set(t, TRACEE_PC, vaddr + l->bias);
	return pc;
}

static void deliver_fault(struct thread *t, const siginfo_t *si)
{
	if (thread__resume_log(t, si->si_signo)) {
		thread__done(t);
		return;
	}
	pass_on(t, si, signals__leave_at_once(t));
}

/* One that was sent waits until the thread is where its handler may interrupt it. */
static void deliver_sent(struct thread *t, const siginfo_t *si)
{
	uint64_t copy;
	siginfo_t fault;

	switch (thread__step_out(t, si, &copy)) {
	case OUT_DONE:
		pass_on(t, si, copy);
		break;
	case OUT_FAULT:
		if (!ptrace(PTRACE_GETSIGINFO, t->tid, 0, &fault))
			deliver_fault(t, &fault);
		break;
	case OUT_LATER:
		if (copy)
			thread__set(t, TRACEE_PC, copy);
		thread__done(t);
		break;
	case OUT_GONE:
		break;
	}
}

static void deliver(struct thread *t, const siginfo_t *si)
{
	bool copied = space__detour_at(t->process->space, thread__get(t, TRACEE_PC));
	bool fault = siginfo__is_fault(si);

	if ((!copied && !fault) || fate_of(t, si->si_signo) == FATE_NOTHING)
		thread__go_on(t, si->si_signo);
	else if (fault)
		deliver_fault(t, si);
	else
		deliver_sent(t, si);
}

void signals__stopped(struct thread *t, int status)
{
	const struct space *s = t->process->space;
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return;
	thread__take_held(t, &si);
	if (loader__hit(t, &si)) {
		thread__done(t);
	} else if (!s || s->other || !s->loaded.len) {
		thread__go_on(t, WSTOPSIG(status));
	} else {
		deliver(t, &si);
	}
}

/* ---- in the handler ---- */

/* The settings of the alternate stack are in the frame, whose context is there. */
static void push_frame(struct thread *t, struct signal_frame f, uint64_t context)
{
	uint64_t at = context + offsetof(ucontext_t, uc_stack);
	stack_t alt;

	if (space__read(t->process->space, at, &alt, sizeof(alt)) &&
	    f.sp - (uintptr_t)alt.ss_sp < alt.ss_size) {
		f.alt = (uintptr_t)alt.ss_sp;
		f.alt_end = f.alt + alt.ss_size;
	}
	vec__push(&t->frames, f);
}

void signals__found(struct thread *t, uint64_t sp, uint64_t pc)
{
	const struct loaded *l = space__object_at(t->process->space, pc);
	struct signal_frame f = {.sp = sp, .original = pc};
	uint64_t copy;
	uint32_t offset;

	push_frame(t, f, sp + t->tracer->tracee->returned);
	if (!l || !copy_image__copy_at(l->image, pc - l->bias, &offset))
		return;
	copy = l->base + offset;
	if (space__write(t->process->space, sp + t->tracer->tracee->frame_pc, &copy, sizeof(copy)))
		vec__last(&t->frames)->rewritten = copy;
}

void signals__restore_frames(struct thread *t)
{
	const struct space *s = t->process->space;
	const struct signal_frame *f;

	vec__each (f, &t->frames) {
		uint64_t at = f->sp + t->tracer->tracee->frame_pc, pc;

		if (f->rewritten && space__read(s, at, &pc, sizeof(pc)) && pc == f->rewritten)
			space__write(s, at, &f->original, sizeof(f->original));
	}
}

/* ---- out of the handler ---- */

static void back_to_copy(struct thread *t, const struct signal_frame *f)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__object_at(t->process->space, pc);
	uint32_t offset;

	if (f && f->copy && f->original == pc && space__copies_at(t->process->space, f->copy)) {
		thread__set(t, TRACEE_PC, f->copy);
		return;
	}
	if (l && !copy_image__is_live(l->image, pc - l->bias) &&
	    copy_image__copy_at(l->image, pc - l->bias, &offset))
		thread__set(t, TRACEE_PC, l->base + offset);
}

void signals__to_copy(struct thread *t)
{
	back_to_copy(t, NULL);
}

/* Nothing has handled it after all; an instruction of the original may have been executed. */
static void undo(struct thread *t)
{
	if (t->copy && thread__get(t, TRACEE_PC) == t->original)
		thread__set(t, TRACEE_PC, t->copy);
	else if (t->copy)
		back_to_copy(t, NULL);
}

bool signals__delivered(struct thread *t, int status)
{
	siginfo_t si;

	t->delivering = false;
	if (status >> 16 || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si)) {
		undo(t);
		return false;
	}
	/* of the kernel's ptrace_notify(): before the first instruction */
	if (si.si_code == SIGTRAP) {
		struct signal_frame f = {
			.sp = thread__get(t, TRACEE_SP), .original = t->original, .copy = t->copy};

		push_frame(t, f, thread__get(t, TRACEE_CONTEXT));
	} else if (si.si_code == SI_KERNEL || si.si_code <= 0) {
		undo(t);
		return false;
	} else {
		undo(t);
	}
	thread__done(t);
	return true;
}

/* By longjmp(3): the stack pointer is above its frame, or no more on the alternate stack. */
static bool was_left(const struct signal_frame *f, uint64_t sp)
{
	if (f->alt_end)
		return sp < f->alt || sp >= f->alt_end;
	return sp > f->sp + 8;
}

void signals__system_call(struct thread *t, bool entry)
{
	uint64_t returned = t->tracer->tracee->returned;
	const struct signal_frame *f = NULL;

	if (!t->frames.len)
		return;
	if (entry) {
		t->call_sp = thread__get(t, TRACEE_SP);
		while (t->call != SYS_rt_sigreturn && t->frames.len &&
		       was_left(vec__last(&t->frames), t->call_sp))
			t->frames.len--;
		return;
	}
	if (t->call != SYS_rt_sigreturn)
		return;
	for (size_t i = t->frames.len; i-- > 0 && !f;)
		if (t->frames.data[i].sp + returned == t->call_sp)
			f = &t->frames.data[i];
	back_to_copy(t, f);
	/* those above it were left, too */
	t->frames.len = f ? (size_t)(f - t->frames.data) : t->frames.len;
}
