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

/* Of the thread, in its program and in the kernel. */
static void forget_all(struct thread *th, bool told)
{
	struct thread *kernel = kernel_side__if_any(th);

	forget_positions(thread__shown(th), told);
	if (kernel)
		forget_positions(kernel, told);
}

int replay__gap(struct event_context *n)
{
	forget_all(n->th, true);
	return step__mark(n, STEP_UNKNOWN, 0);
}

int replay__lost(struct event_context *n)
{
	bool signal = !n->e->count && !n->e->hits;

	n->th->returned_sp = 0;
	/* a signal's record is not an event, but its handler may have gone anywhere */
	if (signal)
		forget_positions(thread__shown(n->th), false);
	else
		forget_all(n->th, true);
	return signal ? 0 : step__lost(n, n->e->count);
}
