// SPDX-License-Identifier: BSD-2-Clause
/*
 * Syscall user dispatch (prctl(2), PR_SET_SYSCALL_USER_DISPATCH): a program answers system calls
 * itself, by SIGSYS. What its threads are made to call is to reach the kernel, and is not to reach
 * its handler.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include "target.h"

/* linux/ptrace.h and linux/prctl.h of Linux 6.4, and of 6.17 for the second mode. */
#define GET_DISPATCH 0x4211
#define SET_DISPATCH 0x4210
enum { DISPATCH_OFF, DISPATCH_ON, DISPATCH_INCLUSIVE };
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2 /* si_code */
#endif

static bool set(const struct thread *t, struct dispatch *d)
{
	return !ptrace(SET_DISPATCH, t->tid, sizeof(*d), d);
}

/* The kernel gives the range of the inclusive mode as the one that it leaves out, with mode ON
 * (kernel/entry/syscall_user_dispatch.c). */
static void find_mode(struct dispatch *d)
{
	if (!d->offset || !d->len || d->offset + d->len > d->offset)
		return;
	d->mode = DISPATCH_INCLUSIVE;
	d->offset += d->len;
	d->len = -d->len;
}

void thread__stop_dispatch(struct thread *t, struct dispatch *was)
{
	struct dispatch off = {.mode = DISPATCH_OFF};

	*was = off;
	if (ptrace(GET_DISPATCH, t->tid, sizeof(*was), was) || was->mode == DISPATCH_OFF)
		*was = off; /* or an older kernel */
	else if (set(t, &off))
		find_mode(was);
	else
		*was = off;
}

void thread__resume_dispatch(struct thread *t, struct dispatch *was)
{
	if (was->mode != DISPATCH_OFF)
		set(t, was);
}

bool siginfo__is_dispatch(const siginfo_t *si)
{
	return si->si_signo == SIGSYS && si->si_code == SYS_USER_DISPATCH;
}

bool thread__is_dispatched(const struct thread *t, int status)
{
	siginfo_t si;

	return status >> 8 == SIGSYS && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
	       siginfo__is_dispatch(&si);
}
