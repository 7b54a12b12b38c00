// SPDX-License-Identifier: BSD-2-Clause
/* The replay of returns: at rets of helper functions, and by return probes. */
#include "calls.h"

int replay__end_calls(struct event_context *n, struct call *c)
{
	uint64_t sp = c->sp;
	int err;

	calls__suspend_above(n->th, c - n->th->calls.data);
	do {
		err = step__return(n, c);
		replay__pop(n, c);
		c = calls__top(n->th);
	} while (!err && c && c->sp == sp && c->state == CALL_TAIL);
	return err;
}

int replay__helper_ret(struct event_context *n)
{
	struct call *c = calls__at(n->th, n->e->sp);
	int err;

	if (n->s->kind != BRANCH_RET || !c || c->state != CALL_TAIL ||
	    (c->block == NO_BLOCK && !replay__left_through_stub(n->t, c)) || !n->e->has_target)
		return 0;
	/* its place on the stack is no longer used, whether this ret ended it or another */
	if (!c->caller)
		return calls__abandon_chain(n->t, n->th, c), 0;
	/* the ret goes to the call's return address: with this stack pointer, no other function's
	 * ret does */
	if (c->caller != n->e->target)
		return 0;
	err = replay__end_calls(n, calls__make_current(n->th, c));
	return err ? err : undecoded__arrive(n, n->e->target);
}

int replay__path_to_ret(struct event_context *n, const struct path *path, const struct call *c)
{
	const struct plan_block *last = &n->t->plan->blocks.data[path->blocks[path->len - 1]];
	int err = replay__path(n, path);

	return err ? err : step__implied_ret(n, last->site, c);
}

/* Advances the call to its return if no event of a ret did. */
static int walk_to_return(struct event_context *n, struct call *c)
{
	const struct path *path;

	if (!(n->t->options.events & PLAN_BRANCH) || c->at_end || c->state == CALL_TAIL || c->told)
		return 0;
	if (c->state == CALL_AT && c->block != NO_BLOCK &&
	    walk__find_ret(n->t->walk, c->block, &path) == WALK_FOUND)
		return replay__path_to_ret(n, path, c);
	return n->t->plan->functions.data[c->function].unprobed ? step__mark(n, STEP_UNKNOWN, 0)
								: 0;
}

/* The call of this function in this stack slot, with this return address if it is known. */
static struct call *returning_call(struct event_context *n)
{
	struct call *found = NULL;

	for (size_t i = n->th->calls.len; i-- > 0;) {
		struct call *c = &n->th->calls.data[i];

		if (c->sp != n->e->sp || c->function != n->s->function ||
		    (c->caller && c->caller != n->e->target))
			continue;
		if (!c->dormant)
			return c;
		found = found ? found : c;
	}
	return found;
}

/*
 * The stack pointer identifies the call. Each jump back to a function's entry sets another return
 * probe. They all fire when it returns; the first one counts.
 */
int replay__return(struct event_context *n)
{
	struct call *c = returning_call(n);
	int err;

	if (!c && n->th->returned_sp == n->e->sp && n->th->returned_from == n->s->function)
		return 0;
	n->th->returned_sp = n->e->sp;
	n->th->returned_from = n->s->function;
	c = c ? calls__make_current(n->th, c) : replay__unseen(n, n->e->sp);
	err = walk_to_return(n, c);
	if (!err)
		err = step__return(n, c);
	replay__pop(n, c); /* it has ended, even if no more steps are wanted */
	return err ? err : undecoded__arrive(n, n->e->target);
}

/* Ends the call that was left by a tail jump; the ret of any other call has had its own event. */
int replay__tail_return(struct event_context *n)
{
	struct call *c = returning_call(n);

	if (!c || c->dormant || c->state != CALL_TAIL)
		return 0;
	return replay__end_calls(n, calls__make_current(n->th, c));
}
