// SPDX-License-Identifier: BSD-2-Clause
/* One stopped thread: its registers and memory, and how it is resumed. */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "target.h"

/* ---- registers ---- */

int thread__load_regs(struct thread *t)
{
	struct iovec block = {t->regs, sizeof(t->regs)};

	if (t->known)
		return 0;
	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &block)) {
		memset(t->regs, 0, sizeof(t->regs));
		return -errno;
	}
	if (block.iov_len != t->tracer->tracee->size)
		return -ENOEXEC;
	t->known = true;
	t->changed = false;
	return 0;
}

int thread__store_regs(struct thread *t)
{
	struct iovec block = {t->regs, t->tracer->tracee->size};

	if (!t->known || !t->changed)
		return 0;
	t->changed = false;
	return ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &block) ? -errno : 0;
}

uint64_t thread__get(struct thread *t, enum tracee_reg reg)
{
	return thread__load_regs(t) ? 0 : t->tracer->tracee->get(t->regs, reg);
}

void thread__set(struct thread *t, enum tracee_reg reg, uint64_t value)
{
	if (thread__load_regs(t) || t->tracer->tracee->get(t->regs, reg) == value)
		return;
	t->tracer->tracee->set(t->regs, reg, value);
	t->changed = true;
}

/* ---- running ---- */

/* The result decides the state. A thread that is gone, or runs although it should not, can't be
 * resumed: its next stop or end is reported. */
int thread__resume(struct thread *t, int request, int sig)
{
	int err;

	if (t->late.is)
		return -EBUSY;
	thread__store_regs(t);
	t->known = false;
	t->room = 0;
	t->state = THREAD_RUNNING;
	err = ptrace(request, t->tid, 0, (long)sig) ? -errno : 0;
	if (request != PTRACE_LISTEN)
		return err;
	if (!err)
		t->state = THREAD_LISTENING;
	else if (err !=
		 -ESRCH) /* its stop is another one: it stops with its process when it is resumed */
		err = ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) || ptrace(PTRACE_CONT, t->tid, 0, 0)
			      ? -errno
			      : 0;
	return err;
}

/*
 * How long a thread may wait in the kernel, for memory that another process provides for instance,
 * before others are served; the same if it, or others that share its memory, have done so before;
 * how long it may take at all, on a busy machine; how often that is checked.
 */
#define STOP_NS	      100000000ull
#define STOP_SHORT_NS 10000000ull
#define STOP_MOST_NS  5000000000ull
#define STOP_LOOK_NS  5000000
/* Mostly it stops within microseconds: to sleep until then would take longer. */
#define STOP_SPIN_NS 50000

static bool waits_in_kernel(const struct thread *t)
{
	return thread__state((uint32_t)t->tid) != 'R';
}

/* Waits for a stop of the thread, for this time if it waits in the kernel. Returns 0 if there is
 * none; -ESRCH if it is gone. */
static int await_stop(struct thread *t, uint64_t ns, int *status)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC), waited = 0;
	const struct timespec look = {.tv_nsec = STOP_LOOK_NS};
	sigset_t set;
	pid_t got;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (!(got = waitpid(t->tid, status, __WALL | WNOHANG))) {
		if (waited < STOP_SPIN_NS) {
			sched_yield();
			waited = now_ns(CLOCK_MONOTONIC) - began;
			continue;
		}
		if (waited > STOP_MOST_NS || (waited > ns && waits_in_kernel(t)))
			return 0;
		/* others' are found by tracer__next() */
		sigtimedwait(&set, NULL, &look);
		waited = now_ns(CLOCK_MONOTONIC) - began;
	}
	return got == t->tid ? 1 : -ESRCH;
}

static int take_status(struct thread *t, int status)
{
	/* of the program that another thread has executed: nothing is left of this one */
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC) {
		vec__push(&t->tracer->deferred, (struct stop){t->tid, status, 0});
		return 0;
	}
	t->state = THREAD_STOPPED;
	return status;
}

int thread__resume_wait(struct thread *t, int request, int sig)
{
	uint64_t ns = t->process->space && t->process->space->slow ? STOP_SHORT_NS : STOP_NS;
	int status = 0, got;

	if (thread__resume(t, request, sig))
		return 0;
	got = await_stop(t, ns, &status);
	if (got)
		return got > 0 ? take_status(t, status) : 0;
	if (t->process->space)
		t->process->space->slow = true;
	/* mostly the kernel gives up waiting then */
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	got = await_stop(t, STOP_SHORT_NS, &status);
	if (got < 0)
		return 0;
	if (got && !(status = take_status(t, status)))
		return 0;
	return got && status >> 8 != (SIGTRAP | PTRACE_EVENT_STOP << 8) ? status : STATUS_LATE;
}

/* ---- signals that have to wait ---- */

bool thread__mask(struct thread *t, uint64_t *out)
{
	return !ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(*out), out);
}

bool thread__set_mask(struct thread *t, uint64_t mask)
{
	return !ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask);
}

bool thread__has_shadow_stack(pid_t tid)
{
	autofree char *features = thread__status((uint32_t)tid, "x86_Thread_features");

	return features && strstr(features, "shstk");
}

/* ---- waiting ---- */

void thread__take_stop(struct thread *t)
{
	struct stop stop = {.tid = t->tid};

	/* it may have been killed meanwhile */
	if (waitpid(t->tid, &stop.status, __WALL | WNOHANG) == t->tid && !WIFSTOPPED(stop.status))
		vec__push(&t->tracer->deferred, stop);
}

static pid_t wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, __WALL | WNOHANG);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Returns a thread that has stopped and still has to be waited for, and by what it stopped; 0 if
 * there is none. */
static pid_t peek(int *sig)
{
	siginfo_t si = {0};
	int err;

	do
		err = waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
	while (err && errno == EINTR);
	*sig = si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED ? si.si_status : 0;
	return err ? 0 : si.si_pid;
}

/* A signal is taken from its thread only when that is resumed: if the supervisor is killed before,
 * the thread still has it. */
bool tracer__next(struct tracer *s, struct stop *out)
{
	int sig;

	*out = (struct stop){0};
	if (s->deferred.len) {
		*out = s->deferred.data[0];
		s->deferred.len--;
		memmove(s->deferred.data, s->deferred.data + 1,
			s->deferred.len * sizeof(*s->deferred.data));
		return true;
	}
	out->tid = peek(&sig);
	if (out->tid > 0 && sig > 0 && sig < 128 && tracer__thread(s, out->tid)) {
		out->status = sig << 8 | 0x7f;
		return true;
	}
	return out->tid > 0 && (out->tid = wait_for(out->tid, &out->status)) > 0;
}

/* ---- system calls that are executed again ---- */

bool thread__is_in_call(struct thread *t)
{
	uint8_t regs[TRACEE_REGS_MAX];

	if (thread__load_regs(t))
		return false;
	memcpy(regs, t->regs, sizeof(regs));
	return t->tracer->tracee->restart(regs);
}

void thread__restart_call(struct thread *t)
{
	if (!thread__load_regs(t) && t->tracer->tracee->restart(t->regs))
		t->changed = true;
	thread__store_regs(t);
}
