// SPDX-License-Identifier: BSD-2-Clause
/* Stops the other threads of an address space. Their stops are reported later, as any. */
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "target.h"

bool thread__has_stopped(pid_t tid)
{
	siginfo_t si = {0};

	return waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) ||
	       si.si_pid;
}

/* A main thread that has ended; or it waits in the kernel, and stops before it leaves that. */
static bool executes_nothing(pid_t tid)
{
	autofree char *stat = NULL;
	char path[64];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (file__read(path, 4096, &stat, NULL) || !(at = strrchr(stat, ')')))
		return true;
	return at[1] && strchr("DZX", at[2]);
}

#define PATIENT 100 /* looks, before it may be one of those */
#define LOOK_US 50
/* A running thread stops within this many looks, however busy the machine is. */
#define LOOKS (5000000 / LOOK_US)

static bool await_stop(pid_t tid, uint64_t until)
{
	for (unsigned i = 0; !thread__has_stopped(tid); i++) {
		if (until && now_ns(CLOCK_MONOTONIC) > until)
			return false;
		if (i >= PATIENT && executes_nothing(tid))
			return true;
		if (i >= LOOKS)
			return false;
		usleep(LOOK_US);
	}
	return true;
}

static bool is_deferred(const struct tracer *s, pid_t tid)
{
	const struct stop *stop;

	vec__each (stop, &s->deferred)
		if (stop->tid == tid)
			return true;
	vec__each (stop, &s->kept)
		if (stop->tid == tid)
			return true;
	return false;
}

static bool runs(const struct thread *t)
{
	return (t->state == THREAD_RUNNING || t->state == THREAD_LISTENING) &&
	       !is_deferred(t->tracer, t->tid);
}

bool space__stop_others(const struct tracer *s, const struct space *space,
			const struct thread *than, uint64_t until)
{
	struct thread *t;
	bool all = true;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		if (t != than && runs(t))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		if (t != than && runs(t) && !await_stop(t->tid, until))
			all = false;
	return all;
}

bool thread__stop_others(const struct thread *than, uint64_t until)
{
	return space__stop_others(than->tracer, than->process->space, than, until);
}
