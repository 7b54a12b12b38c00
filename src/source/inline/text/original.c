// SPDX-License-Identifier: BSD-2-Clause
/* Takes a stopped thread out of copies and springboards. */
#include <sys/ptrace.h>
#include "text.h"

/* If it faults on the way, the signal of that is passed on. */
static void step_out(struct thread *t)
{
	uint64_t copy;
	siginfo_t si;

	thread__hurry(t);
	if (thread__step_out(t, NULL, &copy) != OUT_FAULT)
		return;
	if (!ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		t->fault = si.si_signo;
	signals__leave_at_once(t);
}

bool thread__is_in_copies(struct thread *t)
{
	return space__detour_at(t->process->space, thread__get(t, TRACEE_PC));
}

void thread__to_original(struct thread *t)
{
	signals__leave_patch(t);
	if (thread__is_in_copies(t))
		step_out(t);
	thread__store_regs(t);
}
