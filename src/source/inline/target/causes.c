// SPDX-License-Identifier: BSD-2-Clause
/* Why a thread has stopped by a signal: a fault, a step, or a BPF program of the supervisor. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "target.h"

/* Returns true if the instruction at the pc caused it, rather than a sender. */
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

/* ---- sent by the BPF programs of the supervisor ---- */

bool siginfo__is_for_gs(const siginfo_t *si, bool uses)
{
	return si->si_code == SI_KERNEL &&
	       (si->si_signo == SIGSTOP || (uses && si->si_signo == SIGURG));
}

bool thread__has_own_gs(struct thread *t)
{
	uint64_t base;

	if (t->area)
		return thread__lost_slot(t);
	/* one that is new has the log of the thread that made it */
	base = thread__load_regs(t) ? 0 : thread__get(t, TRACEE_LOG);
	return base && !log_areas__hold(base);
}

bool thread__stopped_for_gs(const struct thread *t, int status, bool uses)
{
	int sig = WSTOPSIG(status);
	siginfo_t si;

	return !(status >> 16) && (sig == SIGSTOP || sig == SIGURG) &&
	       !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && siginfo__is_for_gs(&si, uses);
}

bool thread__stopped_for_text(const struct thread *t, int status)
{
	int sig = WSTOPSIG(status);
	siginfo_t si;

	return !(status >> 16) && (sig == SIGURG || sig == SIGSTOP) &&
	       !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && si.si_code == SI_KERNEL &&
	       text__took_call(t->tracer, t->tid, sig);
}
