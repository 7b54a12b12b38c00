// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that may not read the time stamp counter (PR_SET_TSC of prctl(2), seccomp's strict
 * mode), as copies do. If a copy faults for that reason, the supervisor reads it for the thread.
 * That is slow, and the fault would end the process if the supervisor was killed: so all threads
 * are stopped once, and the copies are changed to those whose records have the time 0.
 */
#include "tracer.h"

#define AGAIN_NS 1000000000ull /* from one that failed to the next try */

/* ---- all of them ---- */

/* One that is new has not left the system call that made it; nor has one that waits for its child
 * by vfork(2). */
static bool runs(const struct thread *t)
{
	return t->state != THREAD_HELD && !t->in_vfork &&
	       !(t->state == THREAD_NEW && !t->stray && !t->ran);
}

static bool is_stopped(const struct tracer *tracer, const struct space *s)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each_in(tracer, s, &i)))
		if (runs(t))
			return false;
	return true;
}

/* What it has read, and not stored yet, is stored as 0. */
static void go_back(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__copies_at(t->process->space, pc);
	uint32_t start;

	if (l && copy_image__time(l->image, (uint32_t)(pc - l->base), &start))
		thread__set(t, TRACEE_PC, l->base + start);
	thread__store_regs(t);
}

static void change(const struct tracer *tracer, struct space *s)
{
	const struct loaded *l;
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each_in(tracer, s, &i)))
		if (t->state == THREAD_HELD)
			go_back(t);
	s->untimed = true;
	vec__each (l, &s->loaded) {
		autofree uint8_t *code = l->refused ? NULL : loaded__code(l, tracer->arch, true);

		if (code)
			space__write(s, l->base, code, l->image->code.len);
	}
}

static void notify_untimed(struct tracer *tracer, const struct space *s)
{
	const struct process *p;
	struct thread *t;
	char text[160];
	size_t i = 0;

	if (!(t = tracer__each_in(tracer, s, &i)))
		return;
	p = t->process;
	snprintf(text, sizeof(text),
		 "process %d may not read the time stamp counter (prctl, seccomp): what its copied "
		 "functions do from now on has no times; for those use --engine probe",
		 p->pid);
	if (!p->quiet)
		tracer__notify_text(tracer, NOTICE_NOTE, p, 0, text);
}

static void go_on(struct tracer *tracer, struct space *s)
{
	struct thread *t;
	size_t i = 0;

	s->untimes = false;
	while ((t = tracer__each_in(tracer, s, &i)))
		if (t->state == THREAD_HELD && !thread__stops_soon(t))
			thread__go_on(t, 0);
}

/* Returns true if it still has to be waited for. */
static bool look(struct tracer *tracer, struct space *s)
{
	uint64_t now;

	if (!s || !s->untimes || s->detaches)
		return false;
	now = now_ns(CLOCK_MONOTONIC);
	if (is_stopped(tracer, s)) {
		change(tracer, s);
		notify_untimed(tracer, s);
	} else if (now < s->untimed_after) {
		return true;
	}
	s->untimed_after = now + AGAIN_NS;
	go_on(tracer, s);
	return false;
}

void tracer__see_untimed(struct tracer *tracer)
{
	struct thread *t;
	size_t i = 0;

	if (!tracer->untimes)
		return;
	tracer->untimes = false;
	while ((t = tracer__each(tracer, &i)))
		tracer->untimes |= look(tracer, t->process->space);
}
