// SPDX-License-Identifier: BSD-2-Clause
/* The replay of entries: who made the call, and what became of earlier calls in its stack slot. */
#include "calls.h"

/* On architectures with a link register, a call that has no frame has the stack pointer of the
 * calls that it makes. */
static bool is_outer(const struct event_context *n, const struct call *c, int32_t delta)
{
	return c->sp > n->e->sp || (c->sp == n->e->sp && !n->t->plan->arch->call_pushes && !delta);
}

/* Returns the caller of this entry's call, whose call instruction ends the block. If the stack
 * depth there is known, only one call fits. */
static struct call *caller_at(struct event_context *n, uint32_t block)
{
	const struct plan *plan = n->t->plan;
	int32_t delta = plan->sites.data[plan->blocks.data[block].site].sp_delta;
	struct call *c;

	if (delta == SP_UNKNOWN)
		c = calls__enclosing(n->th, plan->blocks.data[block].function, n->e->sp);
	else
		c = calls__at(n->th, n->e->sp + plan->arch->call_pushes + delta);
	return c && is_outer(n, c, delta) && c->state == CALL_AT && c->block != NO_BLOCK ? c : NULL;
}

/* Returns the block that ends in the call which returns to where this entry's call does; NO_BLOCK
 * if there is none. It may be in another object, such as the program that calls a library. */
static uint32_t calling_block(const struct event_context *n)
{
	uint32_t call = walk__call_ending(n->t->walk, n->s->object, n->entry->caller - n->bias);

	return call == NO_BLOCK && n->t->plan->objects.len > 1
		       ? locate__call(n->t, thread__space(n->th), n->entry->caller)
		       : call;
}

/* Returns true if the block's call doesn't pass a stub, which may look the function up first.
 * Kernel objects share their addresses. */
static bool calls_directly(struct event_context *n, uint32_t block)
{
	const struct plan *plan = n->t->plan;
	const struct plan_site *s = &plan->sites.data[plan->blocks.data[block].site];

	return s->target == n->block->start &&
	       (s->object == n->s->object || plan->objects.data[s->object].kernel);
}

/* Returns true if the block ends in a direct call of another function whose entry is probed: such a
 * call didn't lead to this entry. */
static bool calls_another(struct event_context *n, uint32_t block)
{
	const struct plan *plan = n->t->plan;
	const struct plan_site *s = &plan->sites.data[plan->blocks.data[block].site];

	return s->kind == BRANCH_CALL && !calls_directly(n, block) &&
	       plan__entry_is_probed(plan, s->object, s->target);
}

/* The same for a caller in undecoded code: only a call that the stack pointer identifies. */
static struct call *undecoded_caller_at(struct event_context *n, uint32_t block)
{
	const struct plan *plan = n->t->plan;
	const struct plan_block *b = &plan->blocks.data[block];
	int32_t delta = plan->sites.data[b->site].sp_delta;
	struct call *c = delta == SP_UNKNOWN
				 ? NULL
				 : calls__at(n->th, n->e->sp + plan->arch->call_pushes + delta);

	return c && c->sp > n->e->sp && c->state == CALL_LOST && c->in_undecoded &&
			       c->function == b->function
		       ? c
		       : NULL;
}

/* Finds the path to the end of the call's block. A probe at the start of that block has had no
 * event. */
static enum walk_result walk_to_call(struct event_context *n, const struct call *c, uint32_t call,
				     const struct path **path)
{
	if (c->block != call && walk__is_marked(n->t->walk, call))
		return WALK_NONE;
	return walk__find(n->t->walk, c->block, call, false, path);
}

static void place_after_call(struct event_context *n, struct call *c, uint32_t call)
{
	c->state = CALL_AT;
	c->block = n->t->plan->blocks.data[call].next;
	c->signals = n->th->signals;
	c->in_call = true;
	c->past = false;
}

/* The return address shows a call that had no event since the trace began, or since something was
 * lost. When it executed its call instruction isn't known: control may have come back to this entry
 * since. */
static void find_unseen(struct event_context *n, uint32_t call)
{
	const struct plan_block *b = &n->t->plan->blocks.data[call];
	int32_t delta = n->t->plan->sites.data[b->site].sp_delta;
	uint64_t sp = n->e->sp + n->t->plan->arch->call_pushes + delta;
	const struct call *top = calls__top(n->th);

	if (delta == SP_UNKNOWN || sp <= n->e->sp || (top && top->sp <= sp) ||
	    n->t->plan->functions.data[b->function].flags & FUNCTION_RANGE)
		return;
	place_after_call(n, replay__unseen_in(n, sp, b->function), call);
}

/* The return address shows where a call that was in undecoded code is again. */
static int find_caller(struct event_context *n, uint32_t call)
{
	struct call *c = undecoded_caller_at(n, call);
	int err;

	if (!c)
		find_unseen(n, call);
	/* A probe at the start of the call's block has had no event. */
	if (!c || walk__is_marked(n->t->walk, call))
		return 0;
	err = replay__end_idle(n, c);
	if (err)
		return err;
	c = calls__make_current(n->th, undecoded_caller_at(n, call));
	err = replay__walk_to(n, c, call, false);
	place_after_call(n, c, call);
	return err ? err : step__implied(n, n->t->plan->blocks.data[call].site, true, NO_BLOCK);
}

/*
 * Advances the caller to its call instruction, which it may have reached along unprobed branches,
 * and which may be unprobed itself: the return address identifies it, even where the path to it
 * isn't known.
 */
static int walk_caller(struct event_context *n)
{
	const struct plan *plan = n->t->plan;
	const struct path *path;
	enum walk_result r;
	struct call *c;
	uint32_t call;
	int err;

	if (!n->entry->caller)
		return 0;
	call = calling_block(n);
	c = call == NO_BLOCK || calls_another(n, call) ? NULL : caller_at(n, call);
	if (!(n->t->options.events & PLAN_BRANCH)) {
		if (c && calls_directly(n, call))
			account__passed(n, c);
		return 0;
	}
	if (!c)
		return call == NO_BLOCK || calls_another(n, call) ? 0 : find_caller(n, call);
	if (plan->blocks.data[c->block].object != plan->blocks.data[call].object ||
	    walk_to_call(n, c, call, &path) == WALK_NONE)
		return 0;
	err = replay__end_idle(n, c);
	c = calls__make_current(n->th, caller_at(n, call));
	r = walk_to_call(n, c, call, &path);
	if (r == WALK_NONE)
		return err;
	if (r == WALK_FOUND && calls_directly(n, call))
		account__walked(n, c, path);
	place_after_call(n, c, call);
	if (err)
		return err;
	err = r == WALK_FOUND ? replay__path(n, path) : step__mark(n, STEP_UNKNOWN, 0);
	return err ? err : step__implied(n, plan->blocks.data[call].site, true, NO_BLOCK);
}

/* Returns true if the innermost call c made this entry's call by the call instruction of its last
 * event. */
static bool is_made_by(struct event_context *n, const struct call *c)
{
	const struct plan_block *b = c && c->in_call && c->state == CALL_AT && c->block != NO_BLOCK
					     ? &n->t->plan->blocks.data[c->block]
					     : NULL;

	return b && n->entry->caller &&
	       (b->object == n->s->object ? b->start + n->bias == n->entry->caller
					  : locate__block_in(n->t, thread__space(n->th), b->object,
							     n->entry->caller) == c->block);
}

static bool is_made(struct event_context *n)
{
	return is_made_by(n, calls__top(n->th));
}

/* Returns true if the innermost call made this one without a frame, so that both have the same
 * stack pointer. */
static bool is_nested(struct event_context *n, const struct call *c)
{
	const struct path *path;
	uint32_t call;

	if (n->t->plan->arch->call_pushes || !n->entry->caller || c->state != CALL_AT)
		return false;
	call = calling_block(n);
	return is_made_by(n, c) ||
	       (call != NO_BLOCK && calls_directly(n, call) && caller_at(n, call) == c &&
		walk_to_call(n, c, call, &path) == WALK_FOUND);
}

/* Returns true if this entry is the target of the call's tail jump: it has the same stack slot and
 * the same return address. */
static bool is_tail_of(struct event_context *n, const struct call *c)
{
	return c->state == CALL_TAIL && replay__leads_to(n->t, c, n->s->function) &&
	       (!n->entry->caller || !c->caller || c->replaced || c->caller == n->entry->caller);
}

/* Returns true if a return probe is pending for the call with this return address. */
static bool is_pending(struct event_context *n)
{
	return n->entry->pending;
}

/* Returns true if the call in this stack slot has ended unseen, although a path leads from its last
 * event to this entry: a jump would have found the call's own return probe pending. */
static bool has_returned(struct event_context *n, const struct call *c)
{
	return c->seen_entry && n->t->plan->return_probes && !n->th->user_side && !is_pending(n) &&
	       walk__may_return(n->t->walk, c->block);
}

/* Returns true if c can have taken branches without events since its last event. */
static bool may_have_gone_on(struct event_context *n, const struct call *c)
{
	if (c->state == CALL_AT && c->block != NO_BLOCK)
		return walk__is_unprobed_ahead(n->t->walk, c->block, true);
	return c->state != CALL_TAIL && n->t->plan->functions.data[c->function].unprobed;
}

/* After a loss, the pending return probe may be that of a call whose entry was lost. */
static bool is_other_call(struct event_context *n, const struct call *c)
{
	return c->replaced && c->caller && n->entry->caller && c->caller != n->entry->caller;
}

/* A pending return probe shows that the call in this stack slot has not ended: it jumped to this
 * entry. */
static int join(struct event_context *n, struct call *c, bool *again, bool *tail)
{
	bool unprobed = may_have_gone_on(n, c);

	*again = c->function == n->s->function;
	*tail = !*again;
	c->state = *again ? CALL_AT : CALL_TAIL;
	c->block = n->s->block;
	return unprobed && n->t->options.events & PLAN_BRANCH ? step__mark(n, STEP_UNKNOWN, 0) : 0;
}

/*
 * c was entered with the same stack pointer as this entry. Sets *again if control came back to its
 * first instruction, *tail if it ended in a jump to this entry; if it did neither, it ended unseen
 * and is removed.
 */
static int join_or_end(struct event_context *n, struct call *c, bool *again, bool *tail)
{
	const struct path *path;
	bool ended;
	int err = 0;

	*again = false;
	*tail = is_tail_of(n, c);
	if (*tail)
		return 0;
	if (c->state == CALL_AT && c->block != NO_BLOCK && !has_returned(n, c) &&
	    walk__find(n->t->walk, c->block, n->s->block, c->past, &path) == WALK_FOUND) {
		err = replay__path(n, path);
		*again = c->function == n->s->function;
		*tail = !*again;
		c->state = *again ? CALL_AT : CALL_TAIL;
		c->block = n->s->block;
		return err;
	}
	if (is_pending(n) && !is_other_call(n, c))
		return join(n, c, again, tail);
	err = replay__end_unprobed(n, c, &ended);
	if (!ended)
		calls__abandon(n->t, n->th, c);
	return err;
}

/* Returns true if the entry is another iteration, in the same call, of a rep string instruction at
 * the function's start. */
static bool is_iteration(struct event_context *n)
{
	const struct call *c = n->s->repeats ? calls__top(n->th) : NULL;

	return c && c->sp == n->e->sp && c->function == n->s->function && c->state == CALL_AT &&
	       c->fresh;
}

/*
 * Returns true if a signal has shown this entry already. A handler may have left the call, and
 * another one may use its stack slot, so *certain is set only if a traced caller is still at its
 * call instruction, or if no handler ran.
 */
static bool is_same_entry(struct event_context *n, struct call *c, bool *certain)
{
	if (!c || !c->early || c->sp != n->e->sp || c->function != n->s->function ||
	    (c->caller && n->entry->caller && c->caller != n->entry->caller))
		return false;
	*certain = c->called_directly || c->signals == n->th->signals;
	return true;
}

static int go_on_with(struct event_context *n, struct call *c, bool certain)
{
	int err = certain ? 0 : step__mark(n, STEP_UNKNOWN, 0);

	c->signals = n->th->signals;
	if (n->early)
		return err;
	c->early = false;
	c->fresh = c->past = true;
	n->runs_in = c->id;
	return err || n->s->role != ROLE_BRANCH ? err : replay__own_branch(n, c);
}

/* Control came back to the entry of the same call. caller is the return address that this entry
 * has; 0 if it has none. */
static void come_back(struct call *c, uint64_t caller)
{
	c->instances++;
	if (!caller)
		return;
	c->caller = caller;
	c->replaced = false;
}

static bool is_system_call(const struct event_context *n)
{
	return n->t->plan->functions.data[n->s->function].flags & FUNCTION_SYSCALL && !n->early;
}

/*
 * Ends all calls that seem to enclose a system call: it finds the kernel's stack empty, so they
 * have returned unseen. The stack pointer doesn't show this, since the stack's start varies
 * (CONFIG_RANDOMIZE_KSTACK_OFFSET).
 */
static int end_enclosing(struct event_context *n)
{
	struct call *c;
	bool ended;
	int err = 0;

	while (!err && (c = calls__top(n->th)) && c->sp > n->e->sp) {
		err = replay__end_unprobed(n, c, &ended);
		if (!ended)
			calls__abandon(n->t, n->th, c);
	}
	return err;
}

int replay__entry(struct event_context *n)
{
	struct call c = {.sp = n->e->sp,
			 .time = n->e->time,
			 .untimed = n->e->untimed,
			 .function = n->s->function,
			 .block = n->s->block,
			 .state = CALL_AT,
			 .early = n->early,
			 .implied = n->early,
			 .seen_entry = !n->early};
	bool again = false, tail = false, certain;
	struct call *top;
	int err = 0;

	if (is_iteration(n))
		return 0;
	if (!n->th->user_side)
		locate__learn_bias(n->t, n->th->pid, n->s->object, n->bias);
	if (n->entry->comm)
		thread__set_comm(n->th, n->entry->comm);
	err = replay__end_below(n, n->e->sp);
	n->th->returned_sp = 0;
	c.signals = n->th->signals;
	calls__suspend_below(n->th, n->e->sp);
	calls__reuse(n->t, n->th, n->e->sp);
	if (!err && is_system_call(n))
		err = end_enclosing(n);
	top = calls__top(n->th);
	if (!err && is_same_entry(n, top, &certain))
		return go_on_with(n, top, certain);
	while (!err && !again && !tail && top && top->sp == n->e->sp && !is_nested(n, top)) {
		err = join_or_end(n, top, &again, &tail);
		top = calls__top(n->th);
	}
	if (!err && !again && !tail && !undecoded__caller(n, &err)) {
		err = walk_caller(n);
		if (!err && !(c.called_directly = is_made(n)))
			err = replay__end_idle(n, NULL);
	}
	if (err)
		return err;
	c.caller = n->entry->caller;
	if (again)
		come_back(top, c.caller);
	else
		top = calls__push(n->t, n->th, &c);
	if (!again && !n->early)
		judge__entry(n, top);
	n->runs_in = top->id;
	top->fresh = true;
	top->past = !n->early;
	top->early = n->early;
	if (n->early)
		return step__implied_entry(n, n->site);
	err = step__entry(n);
	return err || n->s->role != ROLE_BRANCH ? err : replay__own_branch(n, top);
}
