// SPDX-License-Identifier: BSD-2-Clause
/*
 * Letting go: all threads that share memory are stopped and taken to the original, which is as
 * before then. Copies and logs are unmapped, unless a thread may still be in them.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include "source/inline/tracer.h"

void thread__detach(struct thread *t, int sig)
{
	struct tracer *s = t->tracer;
	pid_t tid = t->tid;

	thread__send_put_off(t);
	thread__resume(t, PTRACE_DETACH, sig);
	thread__remove(t);
	tracer__forget_stops(s, tid);
}

/* ---- out of the copies ---- */

/* A fault of its own on the way has its signal passed on. */
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

static bool is_in_copies(struct thread *t)
{
	return space__detour_at(t->process->space, thread__get(t, TRACEE_PC));
}

void thread__to_original(struct thread *t)
{
	signals__leave_patch(t);
	if (is_in_copies(t))
		step_out(t);
	thread__store_regs(t);
}

/* ---- what is mapped ---- */

/* The thread that is made to do it; NULL: none can be. */
static struct thread *choose(const struct tracer *s, const struct space *space)
{
	struct thread *t, *found = NULL;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && !t->fault && !thread__load_regs(t) &&
		    (!found || !thread__is_in_call(t)))
			found = t;
	return found;
}

/* Why it has to stay; NULL: it need not. */
static const char *find_use(const struct tracer *s, const struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i))) {
		if (t->process->space != space)
			continue;
		if (is_in_copies(t))
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

	thread__restart_call(t);
	done = unmap(t, space->watch.page, LOG_PAGE);
	vec__each (l, &space->loaded)
		done &= l->refused || unmap(t, l->base, l->size);
	vec__each (a, &space->areas)
		done &= unmap(t, (*a)->base, (*a)->size);
	return done;
}

static void clean_up(struct tracer *s, struct space *space)
{
	struct thread *t = choose(s, space);
	const char *why;
	char text[160];

	if (!t || (!space->loaded.len && !space->areas.len))
		return;
	why = find_use(s, space);
	if (!why && !unmap_all(t) && !kill(t->tid, 0))
		why = "it may not unmap them";
	if (!why)
		return;
	snprintf(text, sizeof(text), "the copies and logs of process %d stay in its memory: %s",
		 t->process->pid, why);
	if (!t->process->quiet)
		tracer__say_text(s, SAY_NOTE, t->process, 0, text);
}

/* ---- the whole ---- */

static void say_let_go(struct tracer *s, const struct process *p)
{
	struct say say = {.type = SAY_LET_GO,
			  .pid = (uint32_t)p->pid,
			  .tid = (uint32_t)p->pid,
			  .time = p->space->stopped ? now_ns(CLOCK_MONOTONIC) - p->space->stopped
						    : 0};

	if (!p->quiet)
		tracer__say(s, &say, -1);
}

/* At any moment the threads would go on rightly by themselves. */
static void let_go(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i;

	for (i = 0; (t = tracer__each_in(s, space, &i));) {
		loader__leave(t);
		thread__to_original(t);
	}
	space__restore(space, s);
	for (i = 0; (t = tracer__each_in(s, space, &i));)
		signals__restore_frames(t);
	/* not before nothing leads to the copies any more */
	for (i = 0; (t = tracer__each_in(s, space, &i));)
		if (t->area && !thread__lost_slot(t) && !is_in_copies(t)) {
			thread__set(t, TRACEE_LOG, 0);
			thread__store_regs(t);
		}
	clean_up(s, space);
	for (i = 0; (t = tracer__each_in(s, space, &i)); i = 0) {
		if (t->process->nthreads == 1)
			say_let_go(s, t->process);
		thread__detach(t, t->fault);
	}
}

void space__try_let_go(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && t->state != THREAD_HELD)
			return;
	space->refs++;
	let_go(s, space);
	space__drop(s, space);
}

void space__was_left(struct tracer *s, struct space *space)
{
	if (space && space->lets_go && space->refs > 1)
		space__try_let_go(s, space);
	space__drop(s, space);
}

void space__stop(struct tracer *s, struct space *space)
{
	struct thread *t;
	size_t i = 0;

	if (space && !space->lets_go)
		return;
	if (space && !space->stopped)
		space->stopped = now_ns(CLOCK_MONOTONIC);
	while ((t = tracer__each(s, &i)))
		if (t->process->space == space &&
		    (t->state == THREAD_RUNNING || t->state == THREAD_LISTENING))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

void space__let_go(struct tracer *s, struct space *space)
{
	if (space)
		space->lets_go = true;
	space__stop(s, space);
	if (space)
		space__try_let_go(s, space);
}

void tracer__let_go(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	if (s->quitting)
		return;
	s->quitting = true;
	space__stop(s, NULL);
	while ((t = tracer__each(s, &i)))
		if (t->process->space && !t->process->space->lets_go) {
			space__let_go(s, t->process->space);
			i = 0;
		}
}

void thread__let_go_alone(struct thread *t)
{
	t->state = THREAD_HELD;
	t->process->space->lets_go = true;
	space__try_let_go(t->tracer, t->process->space);
}
