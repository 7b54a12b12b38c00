// SPDX-License-Identifier: BSD-2-Clause
/* All threads are stopped for a moment: what they have counted is read at one time. */
#include <sys/ptrace.h>
#include "source/inline/tracer.h"

/* What waits for its child by vfork(2) can't stop, and does nothing meanwhile. */
static bool runs(const struct thread *t)
{
	return t->process->space && t->state == THREAD_RUNNING && !t->in_vfork;
}

void tracer__pause(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	s->pausing = true;
	while ((t = tracer__each(s, &i)))
		if (runs(t))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	tracer__see_paused(s);
}

void tracer__see_paused(struct tracer *s)
{
	const struct say say = {.type = SAY_PAUSED};
	struct thread *t;
	size_t i = 0;

	if (!s->pausing || s->paused)
		return;
	while ((t = tracer__each(s, &i)))
		if (runs(t))
			return;
	s->paused = true;
	tracer__say(s, &say, -1);
}

void tracer__go_on(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	s->pausing = s->paused = false;
	while ((t = tracer__each(s, &i)))
		if (t->state == THREAD_HELD && !t->process->space->lets_go)
			thread__go_on(t, 0);
}
