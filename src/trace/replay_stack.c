// SPDX-License-Identifier: BSD-2-Clause
/* The replay where the stack pointer doesn't identify the call: in code that loads it from memory,
 * to raise an exception or to switch coroutines, and at landing pads. */
#include "calls.h"

bool replay__is_unwound(struct event_context *n, const struct call *c, uint32_t to)
{
	return n->t->plan->blocks.data[to].abnormal == ABNORMAL_LANDING_PAD &&
	       c->state == CALL_AT && c->in_call && c->signals == n->th->signals;
}

/* Returns true if the call can have reached this branch by exactly one path. */
static bool can_be_here(struct event_context *n, const struct call *c)
{
	const struct path *path;

	return c->state == CALL_AT && c->block != NO_BLOCK &&
	       walk__find(n->t->walk, c->block, n->s->block, false, &path) == WALK_FOUND;
}

struct call *replay__switching(struct event_context *n)
{
	for (size_t i = n->th->calls.len; i-- > 0;) {
		struct call *c = &n->th->calls.data[i];

		if (!c->dormant && c->function == n->s->function)
			return can_be_here(n, c) ? c : NULL;
	}
	return NULL;
}

struct call *replay__leave_stack(struct event_context *n, struct call *c)
{
	struct call *other = calls__at(n->th, n->e->sp);

	c->state = CALL_LOST;
	c->in_undecoded = false;
	call__mark(c);
	if (other && other->function == n->s->function && other->caller && n->e->has_target &&
	    other->caller == n->e->target)
		return calls__make_current(n->th, other);
	calls__suspend_from(n->th, c);
	return NULL;
}
