// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay: turns a thread's events into steps. An event proves where the thread is. The walk
 * over the plan's control-flow graph finds what the thread must have executed since its previous
 * event, or finds that this can't be known.
 */
#include "calls.h"

/* ---- from one event to the next ---- */

static const struct plan_function *function_of(struct trace *t, uint32_t function)
{
	return &t->plan->functions.data[function];
}

int replay__path(struct event_context *n, const struct path *path)
{
	int err = 0;

	for (size_t i = 0; !err && i + 1 < path->len; i++) {
		const struct plan_block *b = &n->t->plan->blocks.data[path->blocks[i]];
		uint32_t next = path->blocks[i + 1];
		uint8_t kind;

		if (b->site == NO_SITE)
			continue;
		kind = n->t->plan->sites.data[b->site].kind;
		err = step__implied(
			n, b->site,
			kind != BRANCH_JCC && kind != BRANCH_LOOP ? true : b->taken == next, next);
	}
	return err;
}

/* If no path leads to the block, control came from outside of the function (a landing pad,
 * longjmp). Then nothing is missing, provided that all of the function is decoded and probed. */
int replay__walk_to(struct event_context *n, struct call *c, uint32_t to, bool starts)
{
	const struct path *path;
	enum walk_result r;
	bool hidden;

	if (!(n->t->options.events & PLAN_BRANCH))
		return account__passed(n, c), 0;
	if (c->state == CALL_LOST)
		return call__is_marked(c) || !(c->uncertain ||
					       undecoded__may_hide(n, c->function, NO_BLOCK))
			       ? 0
			       : step__mark(n, STEP_UNKNOWN, 0);
	r = c->state == CALL_AT && c->block != NO_BLOCK
		    ? walk__find(n->t->walk, c->block, to, c->past && starts, &path)
		    : WALK_NONE;
	if (r == WALK_FOUND) {
		account__walked(n, c, path);
		return replay__path(n, path);
	}
	hidden = undecoded__may_hide(n, c->function, to) && !replay__is_unwound(n, c, to);
	return r == WALK_AMBIGUOUS || hidden ? step__mark(n, STEP_UNKNOWN, 0) : 0;
}

static bool is_entry_block(struct trace *t, uint32_t block)
{
	const struct plan_function *fn = function_of(t, t->plan->blocks.data[block].function);

	return !(fn->flags & FUNCTION_RANGE) && fn->entry_block == block;
}

/* Continues the call at a block, which may belong to another function. */
static void continue_at(struct trace *t, struct call *c, uint32_t block)
{
	const struct plan_block *b = block == NO_BLOCK ? NULL : &t->plan->blocks.data[block];

	c->block = block;
	c->past = false;
	c->state = CALL_AT;
	if (!b || (function_of(t, b->function)->flags & FUNCTION_HELPER) ||
	    (is_entry_block(t, block) && b->function != c->function))
		c->state = CALL_TAIL;
}

static int leave_by_jump(struct event_context *n, struct call *c)
{
	uint32_t pid = thread__space(n->th);

	c->direct = false;
	c->marked = n->s->switched;
	c->resumed = c->in_undecoded = false;
	c->uncertain = false;
	c->state = CALL_LOST;
	/* After a stack switch, another call may continue. */
	if (n->s->switched || !n->e->has_target)
		return 0;
	continue_at(n->t, c, locate__block(n->t, pid, n->e->time, n->e->target));
	if (c->block != NO_BLOCK || !locate__in_plan(n->t, pid, n->e->time, n->e->target))
		return 0;
	/* The target was not proved to be code, so it has no probes. */
	call__mark(c);
	c->in_undecoded = true;
	c->state = CALL_LOST;
	return step__mark(n, STEP_UNKNOWN, 0);
}

static int move_past_branch(struct event_context *n, struct call *c, bool taken)
{
	const struct plan_block *b = n->block;

	c->state = CALL_AT;
	c->past = false;
	switch (n->s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
	case BRANCH_JMP:
		c->direct = true;
		c->left_by = n->site;
		if (taken)
			continue_at(n->t, c, b->taken);
		else
			c->block = b->next;
		return 0;
	case BRANCH_IJMP:
		return leave_by_jump(n, c);
	default:
		c->block = b->noreturn ? NO_BLOCK : b->next;
		c->in_call = true;
		return 0;
	}
}

/* ---- which call an event belongs to ---- */

struct call *replay__unseen(struct event_context *n, uint64_t sp)
{
	return replay__unseen_in(n, sp, n->s->function);
}

struct call *replay__unseen_in(struct event_context *n, uint64_t sp, uint32_t function)
{
	struct call c = {.sp = sp,
			 .time = n->e->time,
			 .function = function,
			 .state = CALL_LOST,
			 .marked = true};

	calls__suspend_below(n->th, sp);
	return calls__push(n->t, n->th, &c);
}

static bool may_be_in(struct event_context *n, const struct call *c)
{
	const struct path *path;

	if (c->function == n->s->function)
		return true;
	/* After a loss, another call may use this stack slot. */
	if (c->state == CALL_LOST)
		return (!c->marked && !c->uncertain) || walk__may_leave(n->t->walk, c->function);
	/* the functions may share a tail */
	return c->state == CALL_AT && c->block != NO_BLOCK &&
	       (n->t->plan->blocks.data[c->block].function == n->s->function ||
		walk__find(n->t->walk, c->block, n->s->block, c->past && n->s->role == ROLE_WITNESS,
			   &path) != WALK_NONE);
}

/* After a tail call through the PLT to a function of the plan, that function's entry is the next
 * event with this stack pointer. */
bool replay__left_through_stub(const struct trace *t, const struct call *c)
{
	const struct plan_site *s = &t->plan->sites.data[c->left_by];

	return c->direct && plan__stub_leads_in(t->plan, s->object, s->target);
}

bool replay__leads_to(struct trace *t, const struct call *c, uint32_t function)
{
	uint32_t to;

	if (c->block == NO_BLOCK)
		return replay__left_through_stub(t, c);
	to = t->plan->blocks.data[c->block].function;
	return to == function || (function_of(t, to)->flags & FUNCTION_HELPER);
}

static struct call *find_call(struct event_context *n, uint64_t sp, bool known)
{
	struct call *c = n->s->switched ? replay__switching(n) : NULL;

	if (c)
		return c;
	c = known ? calls__at(n->th, sp) : calls__enclosing(n->th, n->s->function, sp);
	if (c || known)
		return c;
	/* The event may be in code that the running function shares with another one. */
	c = calls__top(n->th);
	return c && c->sp >= sp && may_be_in(n, c) ? c : NULL;
}

/* Returns true if the call with this stack pointer can't have reached the event's block, but can
 * have returned. Then the event belongs to another call, which was entered by a jump. */
static bool ended_before(struct event_context *n, struct call *c, int *err)
{
	const struct path *path;
	bool ended;

	if (*err || !n->t->plan->unprobed_rets || c->state != CALL_AT || c->block == NO_BLOCK ||
	    walk__find(n->t->walk, c->block, n->s->block, false, &path) == WALK_FOUND)
		return false;
	*err = replay__end_unprobed(n, c, &ended);
	return ended;
}

/*
 * Ends the call in the event's stack slot, to which the event doesn't belong. On architectures with
 * a link register, its caller may have no frame and the same stack pointer; the slot is the
 * caller's then.
 */
static struct call *leave_place(struct event_context *n, struct call *c, int *err)
{
	uint64_t sp = c->sp;
	bool ended = false;

	if (!n->t->plan->arch->call_pushes && c == calls__top(n->th) && !c->dormant)
		*err = replay__end_unprobed(n, c, &ended);
	if (!ended)
		calls__abandon_chain(n->t, n->th, c);
	c = n->t->plan->arch->call_pushes ? NULL : calls__at(n->th, sp);
	return c && may_be_in(n, c) ? c : NULL;
}

struct call *replay__call_of_event(struct event_context *n, int *err)
{
	bool known = n->s->sp_delta != SP_UNKNOWN;
	uint64_t sp = n->e->sp + (known ? n->s->sp_delta : 0);
	struct call *c = find_call(n, sp, known);
	bool hidden = !c;

	if (c && !may_be_in(n, c)) {
		if (c->state == CALL_TAIL && replay__leads_to(n->t, c, n->s->function))
			return replay__unseen(n, sp);
		c = leave_place(n, c, err);
	}
	*err = *err ? *err : replay__end_idle(n, c);
	c = c || hidden ? find_call(n, sp, known) : NULL;
	if (c && !c->dormant && ended_before(n, c, err))
		c = NULL;
	return c ? calls__make_current(n->th, c) : replay__unseen(n, sp);
}

/* ---- the kinds of events ---- */

/* The event of the call's return probe follows, if the probe was set at the call's entry and the
 * kernel had a free instance. */
static int await_return(struct event_context *n, struct call *c)
{
	if (!c->seen_entry && !c->implied) {
		calls__abandon(n->t, n->th, c);
		return 0;
	}
	c->state = CALL_AT;
	c->block = NO_BLOCK;
	c->at_end = true;
	return 0;
}

static bool returns_by_probe(const struct event_context *n)
{
	return n->t->plan->return_probes && !n->th->user_side;
}

/*
 * Suspends a call that may be gone before its next event: its entry was not seen, so it has no
 * return probe, and it may return without an event. A function of the plan that it calls returns to
 * it first.
 */
static void suspend_if_returned(struct event_context *n, struct call *c)
{
	if (!c->seen_entry && !c->implied && returns_by_probe(n) && c->state == CALL_AT &&
	    !(n->s->kind == BRANCH_CALL &&
	      plan__entry_is_probed(n->t->plan, n->s->object, n->s->target)) &&
	    walk__may_return(n->t->walk, c->block))
		calls__suspend_from(n->th, c);
}

static int continue_after_branch(struct event_context *n, struct call *c, bool taken)
{
	int err = move_past_branch(n, c, taken);

	suspend_if_returned(n, c);
	return err;
}

int replay__own_branch(struct event_context *n, struct call *c)
{
	bool conditional = n->s->kind == BRANCH_JCC || n->s->kind == BRANCH_LOOP;
	bool taken = !conditional || n->e->taken;
	int err = step__branch(n, taken);

	if (err || !c)
		return err;
	c->fresh = false;
	if (n->s->kind != BRANCH_RET)
		return continue_after_branch(n, c, taken);
	if (n->s->switched && c->seen_entry && n->e->sp != c->sp) {
		c = replay__leave_stack(n, c);
		return c ? replay__end_calls(n, c) : 0;
	}
	if (returns_by_probe(n) && !(c->seen_entry && n->e->sp < c->sp))
		return await_return(n, c);
	/* A ret deeper on the stack than the return address is used as a jump. */
	return c->seen_entry && n->e->sp < c->sp ? leave_by_jump(n, c) : replay__end_calls(n, c);
}

/* Adds the call of a function that c has reached by a jump or a fall-through. */
static struct call *enter_from(struct event_context *n, struct call *c)
{
	struct call *next;
	uint64_t caller = c->caller, sp = c->sp;

	c->state = CALL_TAIL;
	c->block = n->s->block;
	next = replay__unseen(n, sp);
	next->caller = caller;
	return next;
}

/*
 * Emits the entry of a function without an entry probe, if the event is a branch in its first
 * block: the call has just been entered, or has come back to its entry. Sets *c to a new call if
 * the earlier one can't have reached the event, or is another function's.
 */
static int imply_entry(struct event_context *n, struct call **c)
{
	const struct path *path;
	uint64_t sp = (*c)->sp;

	if (!plan__reports_entry(n->t->plan, n->site))
		return 0;
	if ((*c)->function != n->s->function) {
		*c = enter_from(n, *c);
	} else if ((*c)->implied && (*c)->state == CALL_AT && (*c)->block != NO_BLOCK &&
		   walk__find(n->t->walk, (*c)->block, n->s->block, false, &path) != WALK_FOUND) {
		calls__abandon_chain(n->t, n->th, *c);
		*c = replay__unseen(n, sp);
	}
	(*c)->implied = true;
	return step__implied_entry(n, function_of(n->t, n->s->function)->entry_site);
}

int replay__branch(struct event_context *n)
{
	unsigned flags = function_of(n->t, n->s->function)->flags;
	struct call *c;
	int err = 0;

	if (flags & FUNCTION_HELPER)
		return replay__helper_ret(n);
	if (flags & FUNCTION_RANGE) {
		err = replay__own_branch(n, NULL);
		return err ? err : undecoded__after_branch(n, NULL);
	}
	c = replay__call_of_event(n, &err);
	if (err)
		return err;
	err = replay__walk_to(n, c, n->s->block, false);
	if (err)
		return err;
	err = imply_entry(n, &c);
	if (err)
		return err;
	n->runs_in = c->id;
	c->signals = n->th->signals;
	c->in_call = false;
	err = replay__own_branch(n, c);
	return err ? err : undecoded__after_branch(n, c);
}

int replay__witness(struct event_context *n)
{
	int err = 0;
	struct call *c = replay__call_of_event(n, &err);

	if (!err)
		err = replay__walk_to(n, c, n->s->block, true);
	/* The position holds even if fn wants no more steps. */
	n->runs_in = c->id;
	c->signals = n->th->signals;
	c->in_call = false;
	c->state = CALL_AT;
	c->block = n->s->block;
	c->past = true;
	suspend_if_returned(n, c);
	return err;
}
