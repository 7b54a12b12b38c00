// SPDX-License-Identifier: BSD-2-Clause
/* All threads are stopped for a moment: what they have counted is read at one time, or springboards
 * are taken away or put back (disarm.c). */
#include <sys/ptrace.h>
#include "tracer.h"

/* What waits for its child by vfork(2) can't stop, and does nothing meanwhile. Nor does one that
 * has stopped with its process, but it may be anywhere. */
static bool runs(const struct thread *t)
{
	return t->process->space && !t->in_vfork &&
	       (t->state == THREAD_RUNNING || (t->state == THREAD_LISTENING && t->tracer->changes));
}

bool tracer__pause(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	s->pausing = true;
	while ((t = tracer__each(s, &i)))
		if (runs(t))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	return tracer__sees_paused(s);
}

bool tracer__sees_paused(struct tracer *s)
{
	const struct notice notice = {.type = NOTICE_PAUSED};
	struct thread *t;
	size_t i = 0;

	if (!s->pausing || s->paused)
		return false;
	while ((t = tracer__each(s, &i)))
		if (runs(t))
			return false;
	s->paused = true;
	if (!s->changes)
		tracer__notify(s, &notice, -1);
	return s->changes;
}

/* A fault by which it has stopped on the way to the original is its program's. */
static void go_on(struct thread *t)
{
	bool fault = t->fault;

	t->fault = 0;
	if (fault)
		signals__deliver_fault(t);
	else
		thread__go_on(t, 0);
}

void tracer__go_on(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	s->pausing = s->paused = s->changes = false;
	while ((t = tracer__each(s, &i)))
		if (t->state == THREAD_HELD && !t->process->space->detaches &&
		    !t->process->space->untimes)
			go_on(t);
}
