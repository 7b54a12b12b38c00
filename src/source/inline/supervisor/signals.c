// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signals. What a handler, a core file or a debugger sees is the program's own code: the thread is
 * taken out of the copies first. When the handler has returned to there, the thread is taken back.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tracer.h"

/* ---- what becomes of a signal ---- */

enum fate { FATE_CAUGHT, FATE_ENDS, FATE_DUMPS, FATE_NOTHING };

static uint64_t mask_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* signal(7) */
static enum fate default_fate(int sig)
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
		return FATE_NOTHING;
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGSYS:
		return FATE_DUMPS;
	default:
		return FATE_ENDS;
	}
}

/* Costs 12 us: most signals pass without it. */
static enum fate fate_of(const struct thread *t, int sig)
{
	uint64_t bit = 1ull << (sig - 1);
	autofree char *status = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", t->tid);
	if (file__read(path, 1u << 16, &status, NULL))
		return FATE_NOTHING;
	t->process->caught = mask_of(status, "\nSigCgt:");
	t->process->caught_at = now_ns(CLOCK_MONOTONIC);
	if (t->process->caught & bit)
		return FATE_CAUGHT;
	if (mask_of(status, "\nSigIgn:") & bit)
		return FATE_NOTHING;
	return default_fate(sig);
}

/*
 * Like this, for signals that arrive in quick succession: what was caught a moment ago is assumed
 * to be caught still. If a program begins to ignore the signal, a part of what it does is not
 * logged; if the signal is to end it, it does.
 */
#define SAME_NS 10000000
static enum fate recent_fate(const struct thread *t, int sig)
{
	const struct process *p = t->process;

	if (default_fate(sig) == FATE_ENDS && p->caught >> (sig - 1) & 1 &&
	    now_ns(CLOCK_MONOTONIC) - p->caught_at < SAME_NS)
		return FATE_CAUGHT;
	return fate_of(t, sig);
}

/* ---- passing a signal on ---- */

/* Passes the signal on, to stop again at the handler's first instruction. */
static void pass_on(struct thread *t, int sig, uint64_t copy)
{
	t->original = thread__get(t, TRACEE_PC);
	t->copy = copy;
	t->delivering = true;
	t->tracer->expects = true;
	thread__resume(t, PTRACE_SINGLESTEP, sig);
}

/* Where the original can be executed: passes it on, to stop only when the handler returns or makes
 * a system call; without a copy not even then. */
static void pass_on_quietly(struct thread *t, int sig, uint64_t copy)
{
	if (copy) {
		thread__await_return(t, copy);
		t->tracer->expects = true;
	}
	thread__go_on(t, sig);
}

/* A program that steps itself sees each of its own instructions once: not those that copies have
 * for it, nor the jumps to them and back. */
static bool is_no_step(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr = pc, was = t->stepped;
	const struct loaded *l = space__copies_at(t->process->space, pc), *o;
	uint32_t offset;

	if (l && !copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr))
		return true;
	t->stepped = pc;
	if (l) {
		o = space__object_at(t->process->space, was);
		return o == l && copy_image__copy_at(l->image, was - l->bias, &offset) &&
		       offset == pc - l->base;
	}
	o = space__copies_at(t->process->space, was);
	return o && copy_image__original(o->image, (uint32_t)(was - o->base), &vaddr) &&
	       vaddr + o->bias == pc;
}

/* A load of the log, or a step, that the program is not to see. */
static bool is_passed_over(struct thread *t, const siginfo_t *si)
{
	return thread__resume_log(t, si->si_signo) || (siginfo__is_step(si) && is_no_step(t));
}

/* For some signals it is the address of the instruction, which an injected call may have
 * executed. */
static void show_address(struct thread *t, siginfo_t *si)
{
	const struct loaded *l;

	if (si->si_signo != SIGFPE && si->si_signo != SIGILL && si->si_signo != SIGTRAP)
		return;
	vec__each (l, &t->process->space->loaded)
		if (l->base && (uintptr_t)si->si_addr - l->base < l->size)
			si->si_addr = (void *)(uintptr_t)thread__get(t, TRACEE_PC);
}

/* What its handler sees is the program's own code. */
static void deliver_fault(struct thread *t, siginfo_t *si)
{
	enum fate fate;
	uint64_t copy;

	if (is_passed_over(t, si)) {
		thread__done(t);
		return;
	}
	signals__drop_left_frames(t, thread__get(t, TRACEE_SP));
	fate = fate_of(t, si->si_signo);
	if (fate == FATE_DUMPS)
		thread__clear_others(t);
	copy = signals__leave_at_once(t);
	show_address(t, si);
	if (fate == FATE_CAUGHT)
		restore__begin(t, thread__get(t, TRACEE_PC), &t->restoring);
	ptrace(PTRACE_SETSIGINFO, t->tid, 0, si);
	pass_on(t, si->si_signo, copy);
}

void signals__deliver_fault(struct thread *t)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		thread__go_on(t, 0);
	else
		deliver_fault(t, &si);
}

/* One that was sent waits until the thread is where its handler may interrupt it. */
static void deliver_sent(struct thread *t, const siginfo_t *si)
{
	uint64_t copy;
	siginfo_t fault;

	switch (thread__step_out(t, si, &copy)) {
	case OUT_DONE:
		if (space__is_changed(t->process->space, thread__get(t, TRACEE_PC)))
			pass_on(t, si->si_signo, copy);
		else
			pass_on_quietly(t, si->si_signo, copy);
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
	case OUT_WAITS:
	case OUT_GONE:
		break;
	}
}

/* In a copy, or on the way to one. */
static void deliver_in_copy(struct thread *t, const siginfo_t *si)
{
	switch (recent_fate(t, si->si_signo)) {
	case FATE_DUMPS:
		thread__clear_others(t);
		deliver_sent(t, si);
		break;
	case FATE_CAUGHT:
		deliver_sent(t, si);
		break;
	default:
		thread__go_on(t, si->si_signo);
		break;
	}
}

/*
 * What the thread returns to is in the original. Where that is not as in its file, or would not be
 * if the springboards were there, the handler's return has to be seen; everywhere else the kernel
 * does all.
 */
static void deliver_outside(struct thread *t, const siginfo_t *si)
{
	struct space *s = t->process->space;
	bool is_changed = space__is_changed(s, thread__get(t, TRACEE_PC));
	enum fate fate = FATE_NOTHING;

	if (is_changed || default_fate(si->si_signo) == FATE_DUMPS)
		fate = fate_of(t, si->si_signo);
	if (fate == FATE_DUMPS)
		thread__clear_others(t);
	if (is_changed && fate == FATE_CAUGHT)
		pass_on(t, si->si_signo, 0);
	else
		thread__go_on(t, si->si_signo);
}

static void deliver(struct thread *t, siginfo_t *si)
{
	signals__leave_patch(t);
	if (siginfo__is_fault(si))
		deliver_fault(t, si);
	else if (space__detour_at(t->process->space, thread__get(t, TRACEE_PC)))
		deliver_in_copy(t, si);
	else
		deliver_outside(t, si);
}

/* Returns true for most signals: nothing of their information is needed. */
static bool passes(struct thread *t, int sig)
{
	const struct space *s = t->process->space;
	const struct loaded *l;
	uint64_t pc;

	if (t->held.len || default_fate(sig) == FATE_DUMPS)
		return false;
	pc = thread__get(t, TRACEE_PC);
	return t->known && !(s->watch.page && pc - s->watch.page < BEACON_MAX) &&
	       !space__detour_at(s, pc) && !space__is_changed(s, pc) && !thread__find_patch(t, &l);
}

void signals__stopped(struct thread *t, int status)
{
	const struct space *s = t->process->space;
	int sig = WSTOPSIG(status);
	siginfo_t si;

	if (timers__wait(t, sig))
		return;
	if (s && !s->other && passes(t, sig)) {
		thread__go_on(t, sig);
		return;
	}
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return;
	thread__take_held(t, &si);
	if ((loader__stopped(t) && siginfo__is_dispatch(&si)) || copied__mend(t, &si))
		thread__done(t); /* that was a system call of the beacon, or a copied jump */
	else if (!s || s->other || !s->loaded.len)
		thread__go_on(t, sig);
	else
		deliver(t, &si);
}

/* ---- out of the handler ---- */

/* If its original is restored, it continues there instead. */
static void resume(struct thread *t, const struct signal_frame *f)
{
	uint64_t pc = thread__get(t, TRACEE_PC);

	/* before the frame is dropped, which may cover it */
	thread__back_to_copy(t, f);
	if (f) {
		size_t n = f - t->frames.data;

		/* the frames above it were left, too */
		signals__leave_frames_from(t, n + 1);
		signals__drop_frame(t, n);
	}
	if (restore__is_at(t->process->space, t->tracer, pc))
		thread__set(t, TRACEE_PC, pc);
}

/* Nothing has handled it after all; an instruction of the original may have been executed. */
static void undo(struct thread *t)
{
	struct signal_frame f = {.original = t->original, .copy = t->copy};
	uint64_t pc = thread__get(t, TRACEE_PC);

	if (t->copy)
		thread__back_to_copy(t, &f);
	restore__end(t, &t->restoring);
	t->restoring = (struct restoring){0};
	if (restore__is_at(t->process->space, t->tracer, pc))
		thread__set(t, TRACEE_PC, pc);
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
		struct signal_frame f = {.sp = thread__get(t, TRACEE_SP),
					 .original = t->original,
					 .copy = t->copy,
					 .restoring = t->restoring};

		t->restoring = (struct restoring){0};
		signals__push_frame(t, f, thread__get(t, TRACEE_CONTEXT));
	} else if (si.si_code == SI_KERNEL || si.si_code <= 0) {
		undo(t);
		return false;
	} else {
		undo(t);
	}
	thread__done(t);
	return true;
}

void signals__system_call(struct thread *t, bool entry)
{
	uint64_t returned = t->tracer->tracee->returned;
	const struct signal_frame *f = NULL;

	if (!t->frames.len && !t->awaited.len)
		return;
	if (entry) {
		t->call_sp = thread__get(t, TRACEE_SP);
		if (t->awaited.len)
			thread__see_awaited(t);
		if (t->call != SYS_rt_sigreturn)
			signals__drop_left_frames(t, t->call_sp);
		return;
	}
	if (t->call != SYS_rt_sigreturn)
		return;
	for (size_t i = t->frames.len; i-- > 0 && !f;)
		if (t->frames.data[i].sp + returned == t->call_sp)
			f = &t->frames.data[i];
	resume(t, f);
}
