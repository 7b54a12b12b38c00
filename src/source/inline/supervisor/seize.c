// SPDX-License-Identifier: BSD-2-Clause
/* Threads of processes that run already are seized, and stopped. */
#include <errno.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tracer.h"

/* How long the others are held for a thread that does not stop: the machine may be busy, but one
 * that waits in the kernel by then, where no signal wakes it, may do so for ever. */
#define STOP_NS 5000000000ull
#define WAIT_NS 1000000000ull

/* Its main thread may have ended before the others. */
static bool has_ended(uint32_t tid)
{
	char state = thread__state(tid);

	return state == 'X' || state == 'Z';
}

int process__seize(struct tracer *s, struct process *p, uint32_t tid, struct start_answer *a)
{
	struct thread *t;
	uint64_t other;

	if (tracer__thread(s, (pid_t)tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, 0, TRACER_OPTIONS)) {
		int err = errno;

		if (err == ESRCH || has_ended(tid))
			return 0;
		other = thread__status_number(tid, "TracerPid");
		if (other == (uint64_t)getpid()) /* a new thread, which its parent reports */
			return 0;
		if (other)
			return start_answer__refuse(
				a, EPERM, "cannot trace process %d: process %llu does already",
				p->pid, (unsigned long long)other);
		return start_answer__refuse(a, err, "cannot trace process %d: %s", p->pid,
					    strerror(err));
	}
	t = tracer__add_thread(s, (pid_t)tid, p);
	t->state = THREAD_RUNNING;
	t->ran = true;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return 1;
}

void process__interrupt(const struct tracer *s, const struct process *p)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process == p && t->state == THREAD_RUNNING)
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

static struct thread *first_running(const struct tracer *s, const struct process *p)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->state == THREAD_RUNNING && (!p || t->process == p))
			return t;
	return NULL;
}

/* A child that was made meanwhile has to stop, too. */
static void take_child(struct thread *t, int event)
{
	unsigned long child = 0;
	struct stop early;
	struct thread *c;

	if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &child))
		return;
	if (thread__made_child(t, event, (pid_t)child, &early))
		tracer__stopped(t->tracer, &early);
	c = tracer__thread(t->tracer, (pid_t)child);
	if (c && c->state == THREAD_RUNNING)
		ptrace(PTRACE_INTERRUPT, c->tid, 0, 0);
}

/* The kernel forgets by any stop that another one was asked for (kernel/signal.c, ptrace_stop()).
 */
static void go_on(struct thread *t, int sig, bool asked)
{
	if (asked)
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	ptrace(PTRACE_CONT, t->tid, 0, (long)sig);
}

/*
 * Keeps a stop if the thread stops on request, has ended, or executes another program: it is
 * handled when all is in place. Any other thread is resumed up to there, since nothing is changed
 * yet. p is the process whose threads are asked to stop; NULL for all.
 */
static void collect_one(struct tracer *s, const struct stop *stop, bool asked,
			const struct process *p)
{
	struct thread *t = tracer__thread(s, stop->tid);
	int event = stop->status >> 16;
	enum late_end end;
	bool is_for_gs;

	if (!t && WIFSTOPPED(stop->status) && event != PTRACE_EVENT_EXEC) {
		tracer__early(s, stop);
		return;
	}
	if (t && t->late.is && WIFSTOPPED(stop->status)) {
		t->state = THREAD_STOPPED;
		end = thread__end_late(t, stop->status);
		if (end == LATE_DONE)
			thread__done(t);
		if (end != LATE_UNDONE) {
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
			return;
		}
	}
	if (!t || !WIFSTOPPED(stop->status) || event == PTRACE_EVENT_EXEC ||
	    event == PTRACE_EVENT_STOP) {
		vec__push(&s->deferred, *stop);
		if (t) {
			t->state = WIFSTOPPED(stop->status) ? THREAD_STOPPED : THREAD_NEW;
			t->interrupted = event == PTRACE_EVENT_STOP;
		}
		return;
	}
	if (event == PTRACE_EVENT_VFORK_DONE)
		t->in_vfork = false;
	else if (event)
		take_child(t, event);
	is_for_gs = thread__stopped_for_gs(t, stop->status, thread__has_own_gs(t));
	t->known = false;
	go_on(t, event || is_for_gs ? 0 : WSTOPSIG(stop->status), asked && (!p || t->process == p));
}

static void collect(struct tracer *s, bool asked, const struct process *p)
{
	struct stop stop = {0};

	while ((stop.tid = waitpid(-1, &stop.status, __WALL | WNOHANG)) > 0)
		collect_one(s, &stop, asked, p);
}

void tracer__collect(struct tracer *s)
{
	collect(s, false, NULL);
}

int tracer__await_stops(struct tracer *s, const struct process *p, struct start_answer *a)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	struct pollfd fd = {.fd = s->signals, .events = POLLIN};
	struct thread *t;

	for (collect(s, true, p); (t = first_running(s, p)); collect(s, true, p)) {
		uint64_t waited = now_ns(CLOCK_MONOTONIC) - begin;

		if (waited > STOP_NS || (waited > WAIT_NS && thread__state(t->tid) == 'D'))
			return start_answer__refuse(
				a, EBUSY,
				"cannot stop process %d: its thread %d waits in the kernel, "
				"as for a child by vfork",
				t->process->pid, t->tid);
		poll(&fd, 1, 1);
	}
	return 0;
}
