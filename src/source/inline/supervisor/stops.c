// SPDX-License-Identifier: BSD-2-Clause
/* What a thread has stopped for. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "tracer.h"

/* The same within a system call. It isn't held here, since it could not be made to do anything. */
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

/* Its process was stopped, so it has to stop again when it is resumed. */
static void hold_with_process(struct thread *t)
{
	t->regroups = true;
	thread__done(t);
}

static bool leave_copies(struct thread *t)
{
	bool fault;

	if (!t->leaves)
		return false;
	t->leaves = false;
	thread__to_original(t);
	fault = t->fault;
	t->fault = 0;
	if (fault)
		signals__deliver_fault(t);
	return fault;
}

/* It has stopped on request. */
static void done_asked(struct thread *t)
{
	if (!leave_copies(t))
		thread__done(t);
}

/* The child may have stopped already. */
static void made_child(struct thread *t, int event, pid_t child)
{
	struct stop early;

	if (thread__made_child(t, event, child, &early))
		tracer__stopped(t->tracer, &early);
}

static void event(struct thread *t, int event, int sig, bool is_new)
{
	unsigned long message = 0;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &message))
			made_child(t, event, (pid_t)message);
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
		else if (sig == SIGTRAP || (t->process->space && t->process->space->detaches))
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

/* Returns false if it has given up what it was made to do, and its stop is its own. */
static bool is_still_late(struct thread *t, int status)
{
	enum late_end end = thread__end_late(t, status);

	if (end == LATE_DONE)
		thread__done(t);
	return end != LATE_UNDONE;
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
	if (t->late.is && is_still_late(t, stop->status))
		return;
	if (t->process->space && t->process->space->restored) {
		bool is_own = thread__stopped_for_text(t, stop->status) ||
			      thread__stopped_for_gs(t, stop->status, thread__lost_slot(t));

		thread__follow(t, is_own || stop->status >> 16 || sig & 0x80 ? 0 : sig);
		return;
	}
	lost = stop->status >> 16 != PTRACE_EVENT_EXEC && t->process->space && thread__lost_slot(t);
	/* what it logs would go to wherever it has put that */
	if (lost && !t->process->space->detaches)
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
