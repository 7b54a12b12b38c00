// SPDX-License-Identifier: BSD-2-Clause
/* The time stamp counter, read for a thread that may not read it (untimed.c). */
#include <sys/ptrace.h>
#include "text.h"

/* How long threads are held for one that doesn't stop; then they are resumed, and it is tried
 * again. */
#define HOLD_NS 100000000ull

/* Returns true if the thread is where the log reads the time. It can fault there for no other
 * reason. */
static bool reads_time(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__copies_at(t->process->space, pc);
	uint32_t start;

	return l && copy_image__time(l->image, (uint32_t)(pc - l->base), &start) &&
	       start == pc - l->base;
}

static bool is_wanted(const struct space *s)
{
	return !s->untimed && !s->untimes && !s->detaches &&
	       now_ns(CLOCK_MONOTONIC) >= s->untimed_after;
}

/* The thread itself is held when it is done. */
static void stop_all(struct tracer *tracer, struct space *s)
{
	struct thread *t;
	size_t i = 0;

	s->untimes = tracer->untimes = true;
	s->untimed_after = now_ns(CLOCK_MONOTONIC) + HOLD_NS;
	while ((t = tracer__each_in(tracer, s, &i)))
		if (t->state == THREAD_RUNNING || t->state == THREAD_LISTENING)
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

bool thread__give_time(struct thread *t)
{
	if (!reads_time(t))
		return false;
	t->tracer->tracee->give_time(t->regs, t->tracer->arch->ticks());
	t->changed = true;
	if (is_wanted(t->process->space))
		stop_all(t->tracer, t->process->space);
	return true;
}
