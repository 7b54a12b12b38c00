// SPDX-License-Identifier: BSD-2-Clause
/* What a thread has stopped for. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "tracer.h"

/* Has a thread of the space a child that shares its memory until it executes a program? It can't
 * stop meanwhile. */
static bool waits_for_child(const struct tracer *s, const struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && t->in_vfork)
			return true;
	return false;
}

bool thread__stops_soon(const struct thread *t)
{
	const struct space *space = t->process->space;

	return space &&
	       (t->tracer->pausing || space->untimes ||
		(space->lets_go && (space->insists || !waits_for_child(t->tracer, space))));
}

static void hold(struct thread *t)
{
	t->state = THREAD_HELD;
	thread__take_stop(t);
	if (t->process->space->lets_go)
		space__try_let_go(t->tracer, t->process->space);
}

void thread__done(struct thread *t)
{
	if (t->late.is)
		return;
	if (t->process->space && t->process->space->restored)
		thread__follow(t, 0);
	else if (!t->process->space && t->tracer->quitting)
		thread__detach(t, 0);
	else if (thread__stops_soon(t))
		hold(t);
	else
		thread__go_on(t, 0);
}

/* The same within a system call. It isn't held here: it could not be made to do anything. */
static void done_within(struct thread *t)
{
	if (!t->process->space && t->tracer->quitting)
		thread__detach(t, 0);
	else
		thread__go_on(t, 0);
}

static void ended(struct tracer *s, struct thread *t, pid_t tid)
{
	struct space *space;

	tracer__forget_stops(s, tid);
	if (!t)
		return;
	space = t->process->space;
	if (space)
		space->refs++;
	signals__leave_frames(t);
	thread__remove(t);
	space__was_left(s, space);
}

void tracer__early(struct tracer *s, const struct stop *stop)
{
	struct stop e = *stop;

	e.parent = process__parent(stop->tid);
	vec__push(&s->early, e);
}

static void system_call(struct thread *t)
{
	struct __ptrace_syscall_info info = {0};
	bool entry;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) <= 0)
		return;
	entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (!entry && t->in_exec) {
		loader__begin(t);
		t->in_exec = false;
	} else {
		if (entry)
			t->call = (int64_t)info.entry.nr;
		loader__system_call(t, entry, info.entry.nr, (const uint64_t *)info.entry.args);
		signals__system_call(t, entry);
	}
	if (entry) {
		done_within(t);
		return;
	}
	t->call = -1;
	thread__done(t);
}

/* Its process was stopped: so it is to stop again when it goes on. */
static void hold_with_process(struct thread *t)
{
	t->regroups = true;
	thread__done(t);
}

/* It has stopped as it was asked to. */
static void done_asked(struct thread *t)
{
	if (!text__leave(t))
		thread__done(t);
}

static void event(struct thread *t, int event, int sig, bool is_new)
{
	unsigned long message = 0;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &message))
			thread__made_child(t, event, (pid_t)message);
		done_within(t);
		break;
	case PTRACE_EVENT_EXEC:
		thread__executed(t);
		break;
	case PTRACE_EVENT_VFORK_DONE:
		t->in_vfork = false;
		if (t->process->space)
			space__stop(t->tracer, t->process->space);
		done_within(t);
		break;
	case PTRACE_EVENT_STOP:
		loader__stopped(t);
		if (is_new)
			thread__start(t);
		else if (sig == SIGTRAP || (t->process->space && t->process->space->lets_go))
			done_asked(t);
		else if (t->tracer->changes || (t->process->space && t->process->space->untimes))
			hold_with_process(t);
		else
			thread__resume(t, PTRACE_LISTEN, 0);
		break;
	default:
		thread__done(t);
		break;
	}
}

/* The program of a thread whose process is known by that thread alone. */
static struct thread *find_executed(struct tracer *s, const struct stop *stop)
{
	unsigned long former = 0;
	struct thread *t;

	if (stop->status >> 16 != PTRACE_EVENT_EXEC ||
	    ptrace(PTRACE_GETEVENTMSG, stop->tid, 0, &former))
		return NULL;
	t = tracer__thread(s, (pid_t)former);
	return t ? tracer__add_thread(s, stop->tid, t->process) : NULL;
}

void thread__refuse(struct thread *t, const char *why)
{
	if (!t->process->quiet)
		tracer__say_text(t->tracer, SAY_LET_GO, t->process, 0, why);
	t->process->quiet = true;
	space__let_go(t->tracer, t->process->space);
}

void thread__refuse_gs(struct thread *t)
{
	thread__refuse(t, "it uses the gs segment itself, which --engine inline needs; use "
			  "--engine probe");
}

bool siginfo__is_for_gs(const siginfo_t *si, bool uses)
{
	return si->si_code == SI_KERNEL &&
	       (si->si_signo == SIGSTOP || (uses && si->si_signo == SIGURG));
}

bool thread__has_own_gs(struct thread *t)
{
	if (t->area || t->process->space)
		return thread__lost_slot(t);
	return !thread__load_regs(t) && thread__get(t, TRACEE_LOG);
}

bool thread__stopped_for_gs(const struct thread *t, int status, bool uses)
{
	int sig = WSTOPSIG(status);
	siginfo_t si;

	return !(status >> 16) && (sig == SIGSTOP || sig == SIGURG) &&
	       !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && siginfo__is_for_gs(&si, uses);
}

void tracer__stopped(struct tracer *s, const struct stop *stop)
{
	struct thread *t = tracer__thread(s, stop->tid);
	int sig = WSTOPSIG(stop->status);
	bool is_new, lost;

	if (!WIFSTOPPED(stop->status)) {
		ended(s, t, stop->tid);
		return;
	}
	if (!t && !(t = find_executed(s, stop))) {
		tracer__early(s, stop);
		return;
	}
	if (tracer__keeps(s, t, stop))
		return;
	is_new = t->state == THREAD_NEW;
	t->state = THREAD_STOPPED;
	if (t->late.is && thread__goes_on_late(t, stop->status))
		return;
	if (t->process->space && t->process->space->restored) {
		thread__follow(t, stop->status >> 16 || sig & 0x80 ? 0 : sig);
		return;
	}
	lost = stop->status >> 16 != PTRACE_EVENT_EXEC && t->process->space && thread__lost_slot(t);
	/* what it logs would go to wherever it has put that */
	if (lost && !t->process->space->lets_go)
		thread__refuse_gs(t);
	if (text__stopped(t, stop->status) || thread__stopped_for_gs(t, stop->status, lost)) {
		thread__done(t);
		return;
	}
	if (t->delivering && signals__delivered(t, stop->status))
		return;
	if (stop->status >> 16)
		event(t, stop->status >> 16, sig, is_new);
	else if (sig == (SIGTRAP | 0x80))
		system_call(t);
	else
		signals__stopped(t, stop->status);
}
