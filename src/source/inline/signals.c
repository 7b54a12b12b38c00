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

bool siginfo__is_step(const siginfo_t *si)
{
	return si->si_signo == SIGTRAP && si->si_code == TRAP_TRACE;
}

/* ---- frames of handlers ---- */

/* By longjmp(3): the stack pointer is above its frame, or no more on the alternate stack. */
static bool was_left(const struct signal_frame *f, uint64_t sp)
{
	if (f->alt_end)
		return sp < f->alt || sp >= f->alt_end;
	return sp > f->sp + 8;
}

/* The frames from n on. */
static void drop_frames(struct thread *t, size_t n)
{
	while (t->frames.len > n) {
		struct uncovering which = vec__last(&t->frames)->uncovering;

		t->frames.len--;
		uncover__end(t, &which);
	}
}

static void drop_left_frames(struct thread *t, uint64_t sp)
{
	while (t->frames.len && was_left(vec__last(&t->frames), sp))
		drop_frames(t, t->frames.len - 1);
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

/* A program that steps itself sees each instruction of its own once: not those that copies have for
 * it, nor the jumps to them and back. */
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

/* What its handler sees is the program's own code. */
static void deliver_fault(struct thread *t, const siginfo_t *si)
{
	uint64_t copy;

	if (thread__resume_log(t, si->si_signo) || (siginfo__is_step(si) && is_no_step(t))) {
		thread__done(t);
		return;
	}
	drop_left_frames(t, thread__get(t, TRACEE_SP));
	copy = signals__leave_at_once(t);
	if (fate_of(t, si->si_signo) == FATE_CAUGHT)
		uncover__begin(t, thread__get(t, TRACEE_PC), &t->uncovering);
	pass_on(t, si, copy);
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
	struct space *s = t->process->space;
	enum fate fate = fate_of(t, si->si_signo);

	signals__leave_patch(t);
	if (fate == FATE_NOTHING)
		thread__go_on(t, si->si_signo);
	else if (siginfo__is_fault(si))
		deliver_fault(t, si);
	else if (space__detour_at(s, thread__get(t, TRACEE_PC)))
		deliver_sent(t, si);
	else if (fate == FATE_CAUGHT)
		/* its handler may go on in a copied function */
		pass_on(t, si, 0);
	else
		thread__go_on(t, si->si_signo);
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
	if (t->tracer->away || !l || !copy_image__copy_at(l->image, pc - l->bias, &offset))
		return;
	copy = l->base + offset;
	if (space__write(t->process->space, sp + t->tracer->tracee->frame_pc, &copy, sizeof(copy)))
		vec__last(&t->frames)->rewritten = copy;
}

void signals__restore_frames(struct thread *t)
{
	const struct space *s = t->process->space;
	struct signal_frame *f;

	vec__each (f, &t->frames) {
		uint64_t at = f->sp + t->tracer->tracee->frame_pc, pc;

		if (f->rewritten && space__read(s, at, &pc, sizeof(pc)) && pc == f->rewritten)
			space__write(s, at, &f->original, sizeof(f->original));
		f->rewritten = 0;
	}
}

/* ---- out of the handler ---- */

static void back_to_copy(struct thread *t, const struct signal_frame *f)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__object_at(t->process->space, pc);
	uint32_t offset;

	if (t->tracer->away)
		return;
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

/* But if its original is uncovered, that is where it is executed. */
static void resume(struct thread *t, const struct signal_frame *f, size_t frames)
{
	uint64_t pc = thread__get(t, TRACEE_PC);

	/* before the frame is dropped, which may cover it */
	back_to_copy(t, f);
	drop_frames(t, frames);
	if (uncover__is_at(t->process->space, t->tracer, pc))
		thread__set(t, TRACEE_PC, pc);
}

static bool is_patched(const struct thread *t, const struct loaded *l, const struct copy_patch *p)
{
	uint8_t is[PATCH_MAX], put[PATCH_MAX];

	return space__read(t->process->space, p->vaddr + l->bias, is, p->len) &&
	       copy_image__patch(l->image, t->tracer->arch, p, l->bias, l->base, put) &&
	       !memcmp(is, put, p->len);
}

void signals__leave_patch(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	const struct loaded *l = space__object_at(t->process->space, pc);
	const struct copy_patch *p;
	uint32_t to;

	if (!l)
		return;
	vaddr = pc - l->bias;
	p = copy_image__patch_at(l->image, vaddr);
	if (!p || copy_image__is_live(l->image, vaddr) || !is_patched(t, l, p))
		return;
	to = copy_image__leads_to(l->image, p);
	thread__set(t, TRACEE_PC, to ? l->base + to : p->vaddr + l->bias);
	thread__store_regs(t);
}

void signals__leave_frames(struct thread *t)
{
	drop_frames(t, 0);
	uncover__end(t, &t->uncovering);
	t->uncovering = (struct uncovering){0};
}

/* Nothing has handled it after all; an instruction of the original may have been executed. */
static void undo(struct thread *t)
{
	struct signal_frame f = {.original = t->original, .copy = t->copy};
	uint64_t pc = thread__get(t, TRACEE_PC);

	if (t->copy)
		back_to_copy(t, &f);
	uncover__end(t, &t->uncovering);
	t->uncovering = (struct uncovering){0};
	if (uncover__is_at(t->process->space, t->tracer, pc))
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
					 .uncovering = t->uncovering};

		t->uncovering = (struct uncovering){0};
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

void signals__system_call(struct thread *t, bool entry)
{
	uint64_t returned = t->tracer->tracee->returned;
	const struct signal_frame *f = NULL;

	if (!t->frames.len)
		return;
	if (entry) {
		t->call_sp = thread__get(t, TRACEE_SP);
		if (t->call != SYS_rt_sigreturn)
			drop_left_frames(t, t->call_sp);
		return;
	}
	if (t->call != SYS_rt_sigreturn)
		return;
	for (size_t i = t->frames.len; i-- > 0 && !f;)
		if (t->frames.data[i].sp + returned == t->call_sp)
			f = &t->frames.data[i];
	/* those above it were left, too */
	resume(t, f, f ? (size_t)(f - t->frames.data) : t->frames.len);
}
