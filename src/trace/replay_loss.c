// SPDX-License-Identifier: BSD-2-Clause
/* The replay after lost events: the positions of the thread's calls are unknown. */
#include "calls.h"

/* told: the loss was already reported. */
static void forget_positions(struct thread *th, bool told)
{
	struct call *c;

	vec__each (c, &th->calls) {
		c->told = told || (c->told && c->state == CALL_LOST);
		c->state = CALL_LOST;
	}
}

int replay__gap(struct event_context *n)
{
	forget_positions(n->th, true);
	return step__mark(n, STEP_UNKNOWN, 0);
}

int replay__lost(struct event_context *n)
{
	bool signal = !n->e->count && !n->e->hits;

	n->th->returned_sp = 0;
	/* a signal's record is not an event, but its handler may have gone anywhere */
	forget_positions(n->th, !signal);
	return signal ? 0 : step__lost(n, n->e->count);
}
