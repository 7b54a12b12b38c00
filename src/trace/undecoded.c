// SPDX-License-Identifier: BSD-2-Clause
/* The replay where code was not decoded. Such code has no probes, so there are no events of it.
 * UNKNOWN is emitted whenever control is known to reach or to have left it. */
#include "calls.h"

/* Returns true if an unprobed path leads from an abnormal entry (a landing pad) to this block. */
static bool leads_from_landing_pad(struct event_context *n, uint32_t to)
{
	const struct plan *plan = n->t->plan;
	const struct path *path;

	for (uint32_t i = 0; i < plan->blocks.len; i++)
		if (plan->blocks.data[i].abnormal &&
		    plan->blocks.data[i].function == plan->blocks.data[to].function &&
		    walk__find(n->t->walk, i, to, false, &path) != WALK_NONE)
			return true;
	return false;
}

static bool is_landing(struct event_context *n, uint32_t to)
{
	uint64_t *known = map64__put(&n->t->landings, to);

	if (!*known)
		*known = 1 + leads_from_landing_pad(n, to);
	return *known == 2;
}

bool undecoded__may_hide(struct event_context *n, uint32_t function, uint32_t to)
{
	const struct plan_function *f = &n->t->plan->functions.data[function];

	return f->unprobed || (f->unreached && (to == NO_BLOCK || !is_landing(n, to)));
}

/* Returns the function whose undecoded bytes contain addr. */
static uint32_t function_at(struct event_context *n, uint64_t addr)
{
	return n->t->options.events & PLAN_BRANCH
		       ? locate__undecoded(n->t, thread__space(n->th), n->e->time, addr)
		       : NO_FUNCTION;
}

static int lose(struct event_context *n, struct call *c)
{
	c->in_undecoded = c->in_undecoded || c->state != CALL_LOST;
	c->state = CALL_LOST;
	call__mark(c);
	c->in_call = false;
	return step__mark(n, STEP_UNKNOWN, 0);
}

int undecoded__arrive(struct event_context *n, uint64_t addr)
{
	uint32_t function = function_at(n, addr);
	struct call *c = calls__top(n->th);

	if (function == NO_FUNCTION)
		return 0;
	return c && c->function == function ? lose(n, c) : step__mark(n, STEP_UNKNOWN, 0);
}

int undecoded__after_branch(struct event_context *n, const struct call *c)
{
	uint8_t kind = n->s->kind;

	/* leave_by_jump() has already handled a jump within a call. */
	if ((kind != BRANCH_RET && kind != BRANCH_ICALL && (kind != BRANCH_IJMP || c)) ||
	    !n->e->has_target)
		return 0;
	return undecoded__arrive(n, n->e->target);
}

struct call *undecoded__caller(struct event_context *n, int *err)
{
	uint32_t function = NO_FUNCTION;
	struct call *c;

	if (n->entry->caller)
		function = function_at(n, n->entry->caller);
	c = function == NO_FUNCTION ? NULL : calls__enclosing(n->th, function, n->e->sp);
	if (!c)
		return NULL;
	c = calls__make_current(n->th, c);
	*err = c->state == CALL_LOST && call__is_marked(c) ? 0 : lose(n, c);
	return c;
}
