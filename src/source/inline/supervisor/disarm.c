// SPDX-License-Identifier: BSD-2-Clause
/*
 * While nothing is recorded, the process is disarmed: the originals are as in their files, and cost
 * nothing. Copies and logs stay mapped; objects that are loaded meanwhile get copies, too, to which
 * nothing leads. Signals are handled as usual, since a handler may return when the springboards are
 * back.
 */
#include "tracer.h"

/* Returns true if it has objects for which this is still to be done. */
static bool needs_change(const struct space *space, bool disarmed)
{
	const struct loaded *l;

	vec__each (l, &space->loaded)
		if (!l->refused && l->patched == disarmed)
			return true;
	return false;
}

/* A thread that can't be stepped out continues in its copy until it leaves that. */
static void disarm(struct tracer *s, struct space *space)
{
	struct thread *t;
	struct loaded *l;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		if (t->state == THREAD_HELD) {
			thread__to_original(t);
			t->state = THREAD_HELD; /* it may have been stepped */
		}
	vec__each (l, &space->loaded) {
		if (l->refused || !l->patched)
			continue;
		loaded__write(space, s, l, ALL_FUNCTIONS, false);
		l->patched = false;
	}
	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		signals__restore_frames(t);
}

/* No thread is where the original is changed, nor returns to there, not for a moment. */
static void bring_back(struct tracer *s, struct space *space)
{
	struct thread *t, *first = NULL;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i)); first = t) {
		if (t->state == THREAD_HELD && !thread__load_regs(t) && !thread__is_in_call(t))
			signals__to_copy(t);
		thread__store_regs(t);
	}
	restore__for_frames(space, s);
	thread__patch(first);
	restore__again(space, s);
}

static void change(struct tracer *s, struct space *space)
{
	if (space->detaches || space->other || !needs_change(space, s->disarmed))
		return;
	if (s->disarmed)
		disarm(s, space);
	else
		bring_back(s, space);
}

static void notify_changed(struct tracer *s)
{
	tracer__notify(s, &(struct notice){.type = NOTICE_CHANGED}, -1);
}

void tracer__change_disarmed(struct tracer *s)
{
	struct thread *t;

	s->disarmed = !s->disarmed;
	for (size_t i = 0; (t = tracer__each(s, &i));)
		if (t->process->space)
			change(s, t->process->space);
	notify_changed(s);
	tracer__go_on(s);
}

void tracer__set_disarmed(struct tracer *s, bool disarmed)
{
	if (s->quitting || s->disarmed == disarmed) {
		notify_changed(s);
		return;
	}
	s->changes = true;
	if (tracer__pause(s))
		tracer__change_disarmed(s);
}
