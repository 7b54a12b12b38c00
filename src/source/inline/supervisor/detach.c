// SPDX-License-Identifier: BSD-2-Clause
/*
 * Detaching: all threads that share memory are stopped and taken to the original, which is as
 * before then. Copies and logs are unmapped, unless a thread may still be in them.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tracer.h"

/* ---- pending signals that are not the program's ---- */

/* Returns a pending signal that a BPF program of the supervisor has sent, to stop the thread, and
 * that the thread has not taken yet; 0 if there is none. */
static int next_own_signal(struct thread *t)
{
	struct __ptrace_peeksiginfo_args from = {.nr = 1};
	siginfo_t si;

	for (; ptrace(PTRACE_PEEKSIGINFO, t->tid, &from, &si) == 1; from.off++)
		if (siginfo__is_for_gs(&si, t->own_gs) ||
		    (si.si_code == SI_KERNEL && text__took_call(t->tracer, t->tid, si.si_signo)))
			return si.si_signo;
	return 0;
}

int thread__take_own_signals(struct thread *t, int sig)
{
	int own;

	while ((own = next_own_signal(t))) {
		do {
			int status = thread__resume_wait(t, PTRACE_CONT, sig);

			if (!status)
				return -ESRCH;
			if (status == STATUS_LATE)
				return t->state == THREAD_STOPPED ? 0 : -EAGAIN;
			sig = status >> 16 ? 0 : WSTOPSIG(status);
		} while (sig != own);
		sig = 0;
	}
	return sig;
}

void thread__detach(struct thread *t, int sig)
{
	struct tracer *s = t->tracer;
	pid_t tid = t->tid;

	if (t->late.is) /* when it stops */
		return;
	thread__send_put_off(t);
	timers__send(t);
	text__see_put_off(t);
	sig = thread__take_own_signals(t, sig);
	/* It waits in the kernel, and is detached when it stops. */
	if (sig == -EAGAIN)
		return;
	if (sig >= 0)
		thread__resume(t, PTRACE_DETACH, sig);
	thread__remove(t);
	tracer__forget_stops(s, tid);
}

/* ---- what is mapped ---- */

/* Returns the thread that is made to do it; NULL if none can be. */
static struct thread *choose(const struct tracer *s, const struct space *space)
{
	struct thread *t, *found = NULL;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && t->state == THREAD_HELD && !t->fault &&
		    !thread__load_regs(t) && (!found || !thread__is_in_call(t)))
			found = t;
	return found;
}

/* Returns why it has to stay; NULL if it need not. */
static const char *find_use(const struct tracer *s, const struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i))) {
		if (t->process->space != space)
			continue;
		if (t->state != THREAD_HELD)
			return "a thread waits in the kernel, and can't be stopped";
		if (thread__is_in_copies(t))
			return "a thread is still in them";
		if (space->stopped && process__has_strays(s, t->process))
			return "a thread has no tracer (CLONE_UNTRACED)";
	}
	return NULL;
}

static bool unmap(struct thread *t, uint64_t addr, uint64_t size)
{
	return !addr || !thread__call(t, SYS_munmap, addr, size, 0, 0, 0, 0);
}

static bool unmap_all(struct thread *t)
{
	struct space *space = t->process->space;
	struct area *const *a;
	const struct loaded *l;
	bool done;

	done = unmap(t, space->watch.page, LOG_PAGE);
	vec__each (l, &space->loaded)
		done &= l->refused || unmap(t, l->base, l->size);
	vec__each (a, &space->areas)
		done &= unmap(t, (*a)->base, (*a)->size);
	vec__each (a, &space->inherited)
		done &= unmap(t, (*a)->base, (*a)->size);
	return done;
}

static void clean_up(struct tracer *s, struct space *space)
{
	struct thread *t = choose(s, space);
	const char *why;
	char text[160];

	if (!t || (!space->loaded.len && !space->areas.len && !space->inherited.len))
		return;
	why = find_use(s, space);
	if (!why && !unmap_all(t) && !kill(t->tid, 0))
		why = "it may not unmap them";
	t->state = t->late.is ? THREAD_RUNNING : THREAD_HELD; /* it was made to */
	if (!why)
		return;
	snprintf(text, sizeof(text), "the copies and logs of process %d stay in its memory: %s",
		 t->process->pid, why);
	if (!t->process->quiet)
		tracer__notify_text(s, NOTICE_NOTE, t->process, 0, text);
}

/* ---- the whole ---- */

static void notify_detached(struct tracer *s, const struct process *p)
{
	struct notice notice = {
		.type = NOTICE_DETACHED,
		.pid = (uint32_t)p->pid,
		.tid = (uint32_t)p->pid,
		.time = p->space->stopped ? now_ns(CLOCK_MONOTONIC) - p->space->stopped : 0};

	if (!p->quiet)
		tracer__notify(s, &notice, -1);
}

/* The next thread of the space that is held. */
static struct thread *next_held(const struct tracer *s, const struct space *space, size_t *i)
{
	struct thread *t;

	while ((t = tracer__each_in(s, space, i)) && t->state != THREAD_HELD)
		;
	return t;
}

/* Nothing leads to the copies any more. One that is new has the log of the thread that made it. */
static void leave_log(struct thread *t)
{
	t->own_gs = thread__lost_slot(t);
	if (!log_areas__hold(thread__get(t, TRACEE_LOG)) || thread__is_in_copies(t))
		return;
	thread__set(t, TRACEE_LOG, 0);
	thread__store_regs(t);
}

static void detach_thread(struct tracer *s, struct thread *t, int sig)
{
	if (t->process->nthreads == 1)
		notify_detached(s, t->process);
	thread__detach(t, sig);
}

/* At any moment the threads would continue correctly by themselves. Those that aren't held wait in
 * the kernel, and stop before they leave it: they are detached then. */
static void detach_space(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i;

	for (i = 0; (t = next_held(s, space, &i));) {
		beacon__leave(t);
		thread__to_original(t);
		t->state = t->late.is ? THREAD_RUNNING : THREAD_HELD; /* it may have been stepped */
	}
	space__restore(space, s);
	for (i = 0; (t = tracer__each_in(s, space, &i));)
		signals__restore_frames(t);
	for (i = 0; (t = next_held(s, space, &i));)
		leave_log(t);
	clean_up(s, space);
	space->restored = true;
	for (i = 0; (t = next_held(s, space, &i)); i = 0)
		detach_thread(s, t, t->fault);
}

void thread__follow(struct thread *t, int sig)
{
	struct tracer *s = t->tracer;

	t->state = THREAD_HELD;
	beacon__leave(t);
	thread__to_original(t);
	if (t->late.is)
		return;
	signals__restore_frames(t);
	leave_log(t);
	detach_thread(s, t, t->fault ? t->fault : sig);
}

/* ---- when ---- */

/* How long a thread that doesn't stop is waited for: the others are held meanwhile. */
#define INSIST_NS 500000000ull

/* It can't execute anything before it has stopped: it was asked to. */
static bool waits(const struct thread *t)
{
	return t->state != THREAD_STOPPED && thread__state((uint32_t)t->tid) != 'R';
}

void space__try_detach(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	if (space->restored)
		return;
	while ((t = tracer__each_in(s, space, &i)))
		if (t->state != THREAD_HELD && !(space->insists && waits(t)))
			return;
	space->refs++;
	detach_space(s, space);
	space__drop(s, space);
}

static bool insist(struct tracer *s, struct space *space)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	space->waiting = space->waiting ? space->waiting : now;
	if (now - space->waiting < INSIST_NS)
		return true;
	if (!space->insists) {
		space->insists = true;
		space__stop(s, space);
		return true;
	}
	space__try_detach(s, space);
	return !space->restored;
}

bool tracer__insist(struct tracer *s)
{
	bool more = false;
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i))) {
		struct space *space = t->process->space;

		if (!space || !space->detaches || space->restored)
			continue;
		space->refs++;
		if (insist(s, space))
			more = true;
		/* threads are gone */
		else
			i = 0;
		space__drop(s, space);
	}
	return more;
}

void space__was_left(struct tracer *s, struct space *space)
{
	if (space && space->detaches && space->refs > 1)
		space__try_detach(s, space);
	space__drop(s, space);
}

void space__stop(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	if (space && !space->detaches)
		return;
	if (space && !space->stopped)
		space->stopped = now_ns(CLOCK_MONOTONIC);
	while ((t = tracer__each(s, &i)))
		if (t->process->space == space &&
		    (t->state == THREAD_RUNNING || t->state == THREAD_LISTENING))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

void space__detach(struct tracer *s, struct space *space)
{
	if (space)
		space->detaches = true;
	space__stop(s, space);
	if (space)
		space__try_detach(s, space);
}

void tracer__detach_all(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	if (s->quitting)
		return;
	s->quitting = true;
	space__stop(s, NULL);
	while ((t = tracer__each(s, &i)))
		if (t->process->space && !t->process->space->detaches) {
			space__detach(s, t->process->space);
			i = 0;
		}
}

void thread__detach_alone(struct thread *t)
{
	t->state = THREAD_HELD;
	t->process->space->detaches = true;
	space__try_detach(t->tracer, t->process->space);
}

/* ---- what can't be traced ---- */

void thread__refuse(struct thread *t, const char *why)
{
	if (!t->process->quiet)
		tracer__notify_text(t->tracer, NOTICE_DETACHED, t->process, 0, why);
	t->process->quiet = true;
	space__detach(t->tracer, t->process->space);
}

void thread__refuse_gs(struct thread *t)
{
	thread__refuse(t, "it uses the gs segment itself, which --engine inline needs; use "
			  "--engine probe");
}
