// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that was made to execute something may wait for memory that another process provides
 * (FUSE, userfaultfd), without a bound. Nobody waits for it: it runs, and what it was made to do is
 * completed at its next stop.
 */
#include <sys/ptrace.h>
#include "target.h"

void thread__is_late(struct thread *t, const struct injected *e, uint64_t at, uint64_t end)
{
	t->late.is = true;
	t->late.injected = *e;
	t->late.injected.bytes = NULL;
	t->late.at = at;
	t->late.end = end;
}

static bool read_memory(const void *space, uint64_t addr, void *out, size_t n)
{
	return space__read(space, addr, out, n);
}

/* Back to before what it was made to do. */
static void undo(struct thread *t)
{
	if (t->late.injected.calls) {
		thread__resume_dispatch(t, &t->late.dispatch);
		memcpy(t->regs, t->late.before, sizeof(t->regs));
		t->known = t->changed = true;
	} else {
		thread__set(t, TRACEE_PC, t->late.injected.from);
	}
	thread__set_mask(t, t->late.injected.mask);
	thread__store_regs(t);
}

static bool is_done(struct thread *t, int status)
{
	struct __ptrace_syscall_info info;

	if (status >> 8 != (SIGTRAP | 0x80) || thread__get(t, TRACEE_PC) != t->late.end)
		return false;
	return !t->late.injected.calls ||
	       (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) > 0 &&
		info.op == PTRACE_SYSCALL_INFO_EXIT);
}

static void finish(struct thread *t)
{
	const struct tracee_memory memory = {t->process->space, read_memory, NULL};

	if (t->late.injected.calls) {
		undo(t);
	} else if (!thread__load_regs(t) &&
		   t->tracer->tracee->return_from(t->regs, &t->late.injected, &memory)) {
		t->changed = true;
		thread__set_mask(t, t->late.injected.mask);
		thread__store_regs(t);
	}
}

/* A fault of its instruction, or it was asked to stop before that was executed. */
static bool is_undone(struct thread *t, int status)
{
	siginfo_t si;

	if (thread__get(t, TRACEE_PC) != t->late.at)
		return false;
	return status >> 16 == PTRACE_EVENT_STOP ||
	       (!(status >> 16) && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
		siginfo__is_fault(&si));
}

enum late_end thread__end_late(struct thread *t, int status)
{
	bool calls = t->late.injected.calls;

	t->late.is = false;
	if (is_done(t, status)) {
		finish(t);
		return LATE_DONE;
	}
	if (is_undone(t, status)) {
		undo(t);
		return LATE_UNDONE;
	}
	if (status >> 8 != (SIGTRAP | 0x80))
		thread__put_off(t, status);
	thread__resume(t, calls ? PTRACE_SYSCALL : PTRACE_SYSEMU, 0);
	t->late.is = true;
	return LATE_GOES_ON;
}
