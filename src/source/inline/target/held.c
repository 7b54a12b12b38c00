// SPDX-License-Identifier: BSD-2-Clause
/* Signals that have to wait: those that come while a stopped thread executes something that the
 * supervisor needs. They are sent again afterwards, and then have their first information. */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "target.h"

void thread__send_anew(struct thread *t, int sig)
{
	siginfo_t si = {.si_signo = sig, .si_code = SENT_ANEW};

	syscall(SYS_rt_tgsigqueueinfo, t->process->pid, t->tid, sig, &si);
}

/* Others of the same number may have been queued before it: each says what the one before it was to
 * say. */
void thread__take_held(struct thread *t, siginfo_t *si)
{
	siginfo_t came = *si;

	for (size_t i = 0; i < t->held.len; i++) {
		if (t->held.data[i].si_signo != came.si_signo)
			continue;
		*si = t->held.data[i];
		ptrace(PTRACE_SETSIGINFO, t->tid, 0, si);
		t->held.len--;
		memmove(t->held.data + i, t->held.data + i + 1,
			(t->held.len - i) * sizeof(*t->held.data));
		/* signals that aren't queued came as one */
		if (came.si_signo >= SIGRTMIN && came.si_code != SENT_ANEW)
			vec__push(&t->held, came);
		return;
	}
}

/* All but faults are blocked meanwhile: none of these is queued, so a second one makes no
 * difference. */
static void put_off(struct thread *t, int sig)
{
	uint64_t bit = 1ull << (sig - 1);
	siginfo_t si;

	if (t->put_off & bit || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return;
	t->put_off |= bit;
	thread__take_held(t, &si);
	vec__push(&t->held, si);
}

void thread__put_off(struct thread *t, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_STOP)
		t->regroups |= sig != SIGTRAP;
	else if (thread__stopped_for_text(t, status))
		t->looks = true;
	else if (!(status >> 16) && sig <= SIGRTMAX &&
		 !thread__stopped_for_gs(t, status, thread__has_own_gs(t)))
		put_off(t, sig);
}

void thread__send_put_off(struct thread *t)
{
	for (int sig = 1; t->put_off && sig <= SIGRTMAX; sig++)
		if (t->put_off >> (sig - 1) & 1)
			thread__send_anew(t, sig);
	t->put_off = 0;
}
