// SPDX-License-Identifier: BSD-2-Clause
/* The replay of returns: at rets that have an event, at rets that the next event implies, and by
 * return probes. */
#include "calls.h"

void replay__pop(struct event_context *n, struct call *c)
{
	bool called_directly = c->called_directly;

	n->returned_to = c->caller;
	calls__remove(n->th, c);
	calls__resume_top(n->th);
	c = calls__top(n->th);
	n->runs_in = c && called_directly ? c->id : 0;
	if (c && called_directly)
		c->in_call = false;
}

/* ---- rets that have an event ---- */

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
	/* The stack slot of the return address is not used any more, whether this ret ended the
	 * call or another one. */
	if (!c->caller)
		return calls__abandon_chain(n->t, n->th, c), 0;
	/* The ret transfers to the call's return address. With this stack pointer, no other
	 * function's ret does. */
	if (c->caller != n->e->target)
		return 0;
	err = replay__end_calls(n, calls__make_current(n->th, c));
	return err ? err : undecoded__arrive(n, n->e->target);
}

/* ---- rets without a probe ---- */

static int path_to_ret(struct event_context *n, const struct path *path, const struct call *c)
{
	const struct plan_block *last = &n->t->plan->blocks.data[path->blocks[path->len - 1]];
	uint64_t to = n->e && n->e->type == EVENT_RETURN ? n->e->target
		      : c->replaced			 ? 0
							 : c->caller;
	int err = replay__path(n, path);

	return err ? err : step__implied_ret(n, last->site, to);
}

/* Removes c, which has returned, and with it the calls that ended in a tail call of it. */
static void pop_chain(struct event_context *n, struct call *c)
{
	uint64_t sp = c->sp;

	do {
		replay__pop(n, c);
		c = calls__top(n->th);
	} while (c && c->sp == sp && c->state == CALL_TAIL);
}

/*
 * An event outside of the call shows that it has returned, if only an unprobed ret can have ended
 * it. The plan leaves a ret unprobed only if no unprobed call of untraced code precedes it. A
 * signal handler, however, may leave the frame anywhere.
 */
int replay__end_unprobed(struct event_context *n, struct call *c, bool *ended)
{
	const struct path *path;
	uint64_t caller = c->caller;
	int err;

	*ended = n->t->plan->unprobed_rets && c->state == CALL_AT && c->block != NO_BLOCK &&
		 !c->in_call && !c->early && c->signals == n->th->signals &&
		 walk__find_ret(n->t->walk, c->block, &path) == WALK_FOUND;
	if (!*ended)
		return 0;
	err = path_to_ret(n, path, c);
	/* The time of its return was not recorded, so the return isn't shown. */
	n->t->totals.unmatched_returns += !c->hidden && n->t->options.events & PLAN_RETURN;
	pop_chain(n, c); /* The call has ended, even if fn wants no more steps. */
	return err ? err : undecoded__arrive(n, caller);
}

/* An event shows the thread elsewhere. Its innermost calls, down to this one, have returned if they
 * had made no call and no signal interrupted them: they can't have led there. */
int replay__end_idle(struct event_context *n, const struct call *down_to)
{
	size_t stop = down_to ? (size_t)(down_to - n->th->calls.data) : SIZE_MAX;
	struct call *c = calls__top(n->th);
	bool ended = true;
	int err = 0;

	while (!err && ended && c && (size_t)(c - n->th->calls.data) != stop) {
		err = replay__end_unprobed(n, c, &ended);
		c = calls__top(n->th);
	}
	return err;
}

int replay__end_below(struct event_context *n, uint64_t sp)
{
	struct call *c = calls__top(n->th);
	bool ended = true;
	int err = 0;

	while (!err && ended && c && c->sp < sp) {
		err = replay__end_unprobed(n, c, &ended);
		c = calls__top(n->th);
	}
	return err;
}

/* ---- return probes ---- */

/* Advances the call to its return, unless the event of a ret did so. */
static int walk_to_return(struct event_context *n, struct call *c)
{
	const struct path *path;
	bool hidden;

	if (!(n->t->options.events & PLAN_BRANCH))
		return account__passed(n, c), 0;
	if (c->at_end || c->state == CALL_TAIL || (c->state == CALL_LOST && call__is_marked(c)))
		return 0;
	if (c->state == CALL_AT && c->block != NO_BLOCK &&
	    walk__find_ret(n->t->walk, c->block, &path) == WALK_FOUND) {
		account__walked(n, c, path);
		return path_to_ret(n, path, c);
	}
	hidden = c->state == CALL_LOST
			 ? c->uncertain || undecoded__may_hide(n, c->function, NO_BLOCK)
			 : n->t->plan->functions.data[c->function].unprobed;
	return hidden ? step__mark(n, STEP_UNKNOWN, 0) : 0;
}

#define POPPED_MOST 256 /* the most bytes of arguments that a function pops */

/* Returns true if the call was entered with the stack pointer that the return probe reports. A
 * function that pops its own arguments leaves a higher one; then the return address decides. */
static bool is_at(const struct event_context *n, const struct call *c)
{
	if (c->sp == n->e->sp)
		return true;
	return n->t->plan->arch->callee_pops && n->e->sp > c->sp &&
	       n->e->sp - c->sp <= POPPED_MOST && c->caller && !c->replaced &&
	       c->caller == n->e->target;
}

/* Returns the call of this function in this stack slot, with this return address if it is known. */
static struct call *returning_call(struct event_context *n)
{
	struct call *found = NULL;

	for (size_t i = n->th->calls.len; i-- > 0;) {
		struct call *c = &n->th->calls.data[i];

		if (!is_at(n, c) || c->function != n->s->function ||
		    (c->caller && !c->replaced && c->caller != n->e->target))
			continue;
		if (!c->dormant)
			return c;
		found = found ? found : c;
	}
	return found;
}

/* The stack pointer identifies the call. Each jump back to a function's entry sets another return
 * probe. They all fire when the function returns; the first one counts. */
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
	replay__pop(n, c); /* The call has ended, even if fn wants no more steps. */
	return err ? err : undecoded__arrive(n, n->e->target);
}

/* Leaves the position as it is: the ret before this event had its own event, which gave the
 * position. */
static void stay(struct event_context *n)
{
	const struct call *c = calls__top(n->th);
	const struct last_hit *last = n->last_hit;

	if (!c || last->call != c->id ||
	    locate__block_in(n->t, 0, n->s->object, n->e->target) != last->block)
		return;
	n->runs_in = c->id;
	n->returned_to = n->e->target;
}

/* Ends the call that a tail jump left; the ret of any other call has had its own event. */
int replay__tail_return(struct event_context *n)
{
	struct call *c = returning_call(n);

	if (!c || c->dormant || c->state != CALL_TAIL)
		return stay(n), 0;
	return replay__end_calls(n, calls__make_current(n->th, c));
}
