// SPDX-License-Identifier: BSD-2-Clause
/* How a stopped thread is resumed, or held. */
#include <sys/ptrace.h>
#include "tracer.h"

/* Returns true if a thread of the space has a child that shares its memory until it executes a
 * program: the thread can't stop meanwhile. */
static bool waits_for_child(const struct tracer *s, const struct space *space)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process->space == space && t->in_vfork)
			return true;
	return false;
}

bool thread__stops_soon(const struct thread *t)
{
	const struct space *space = t->process->space;

	return space &&
	       (t->tracer->pausing || space->untimes ||
		(space->detaches && (space->insists || !waits_for_child(t->tracer, space))));
}

void thread__go_on(struct thread *t, int sig)
{
	const struct space *s = t->process->space;
	bool watched =
		t->in_exec || t->maps || t->frames.len || t->awaited.len || (s && s->loading);

	if (t->late.is)
		return;
	thread__send_put_off(t);
	text__see_put_off(t);
	/* regroups: it stops with its process then. It may make a request from a beacon: any stop
	 * has undone the request to stop for that */
	if (t->regroups || thread__stops_soon(t) || thread__asks(t))
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	t->regroups = false;
	thread__resume(t, watched ? PTRACE_SYSCALL : PTRACE_CONT, sig);
}

static void hold(struct thread *t)
{
	t->state = THREAD_HELD;
	thread__take_stop(t);
	if (t->process->space->detaches)
		space__try_detach(t->tracer, t->process->space);
}

void thread__done(struct thread *t)
{
	if (t->late.is)
		return;
	if (t->process->space && t->process->space->restored)
		thread__follow(t, 0);
	else if (!t->process->space && t->tracer->quitting)
		thread__detach(t, 0);
	else if (thread__stops_soon(t))
		hold(t);
	else
		thread__go_on(t, 0);
}
