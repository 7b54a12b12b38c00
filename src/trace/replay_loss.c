// SPDX-License-Identifier: BSD-2-Clause
/* The replay where events of a thread are missing: where its calls stand is not known any more. */
#include "calls.h"

/* told: the stream says so. */
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
	/* a signal's record is no event, but its handler may have gone anywhere */
	forget_positions(n->th, !signal);
	return signal ? 0 : step__lost(n, n->e->count);
}
