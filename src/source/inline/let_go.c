// SPDX-License-Identifier: BSD-2-Clause
/*
 * Letting go: all threads that share memory are stopped and taken to the original, which is as
 * before then. The copies stay: a thread may still be in them, on its way out.
 */
#include <sys/ptrace.h>
#include "source/inline/tracer.h"

void thread__detach(struct thread *t, int sig)
{
	struct tracer *s = t->tracer;
	pid_t tid = t->tid;

	thread__send_put_off(t);
	thread__resume(t, PTRACE_DETACH, sig);
	thread__remove(t);
	tracer__forget_stops(s, tid);
}

/* A fault of its own on the way has its signal passed on in place of the one that was sent. */
static void step_out(struct thread *t, const siginfo_t *sent)
{
	uint64_t copy;
	siginfo_t si;

	thread__hurry(t);
	switch (thread__step_out(t, t->pending ? sent : NULL, &copy)) {
	case OUT_DONE:
		if (t->pending)
			ptrace(PTRACE_SETSIGINFO, t->tid, 0, sent);
		break;
	case OUT_LATER:
		t->pending = 0;
		break;
	case OUT_FAULT:
		if (!ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
			t->pending = si.si_signo;
		signals__leave_at_once(t);
		break;
	case OUT_GONE:
		break;
	}
}

/* With the signal that it has stopped by, if it has. */
static void take_out(struct thread *t)
{
	const struct space *s = t->process->space;
	siginfo_t si = {0};

	if (t->pending && ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return;
	if (t->pending && thread__resume_log(t, si.si_signo))
		t->pending = 0;
	if (t->pending && siginfo__is_fault(&si))
		signals__leave_at_once(t);
	else if (space__copies_at(s, thread__get(t, TRACEE_PC)))
		step_out(t, &si);
	thread__store_regs(t);
}

static void say_let_go(struct tracer *s, const struct process *p)
{
	if (!p->quiet)
		tracer__say_text(s, SAY_LET_GO, p, 0, "");
}

static void let_go(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space)
			take_out(t);
	space__restore(space, s);
	for (i = 0; (t = tracer__each(s, &i));)
		if (t->process->space == space)
			signals__restore_frames(t);
	for (i = 0; (t = tracer__each(s, &i));) {
		if (t->process->space != space)
			continue;
		if (t->process->nthreads == 1)
			say_let_go(s, t->process);
		/* not before nothing leads to the copies any more */
		if (t->area && !thread__lost_slot(t) &&
		    !space__copies_at(space, thread__get(t, TRACEE_PC)))
			thread__set(t, TRACEE_LOG, 0);
		thread__detach(t, t->pending);
		i = 0;
	}
}

void space__try_let_go(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && t->state != THREAD_HELD)
			return;
	space->refs++;
	let_go(s, space);
	space__drop(s, space);
}

void space__stop(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	if (space && !space->lets_go)
		return;
	while ((t = tracer__each(s, &i)))
		if (t->process->space == space &&
		    (t->state == THREAD_RUNNING || t->state == THREAD_LISTENING))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

void space__let_go(struct tracer *s, struct space *space)
{
	if (space)
		space->lets_go = true;
	space__stop(s, space);
	if (space)
		space__try_let_go(s, space);
}

void tracer__let_go(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	if (s->quitting)
		return;
	s->quitting = true;
	space__stop(s, NULL);
	while ((t = tracer__each(s, &i)))
		if (t->process->space && !t->process->space->lets_go) {
			space__let_go(s, t->process->space);
			i = 0;
		}
}

void thread__let_go_alone(struct thread *t)
{
	t->state = THREAD_HELD;
	t->pending = 0;
	space__let_go(t->tracer, t->process->space);
}
