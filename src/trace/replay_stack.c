// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay where a call's stack pointer is not its own: code that loads it anew, to raise to a
 * handler or to go on with another coroutine, and landing pads.
 */
#include "calls.h"

bool replay__is_unwound(struct event_context *n, const struct call *c, uint32_t to)
{
	return n->t->plan->blocks.data[to].abnormal == ABNORMAL_LANDING_PAD &&
	       c->state == CALL_AT && c->in_call && c->signals == n->th->signals;
}

/* Can the call have come to this branch by the one way there is? */
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
	c->told = true;
	if (other && other->function == n->s->function && other->caller && n->e->has_target &&
	    other->caller == n->e->target)
		return calls__make_current(n->th, other);
	calls__suspend_from(n->th, c);
	return NULL;
}
