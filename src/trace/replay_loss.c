// SPDX-License-Identifier: BSD-2-Clause
/* The replay where the positions of a thread's calls are unknown: events were lost, or probes are
 * being attached or removed. */
#include "calls.h"

/* reported: the loss has had its step. */
static void forget_positions(struct thread *th, bool reported)
{
	struct call *c;

	vec__each (c, &th->calls) {
		c->marked = reported || (c->marked && c->state == CALL_LOST);
		c->resumed &= !reported;
		c->uncertain &= c->state == CALL_LOST;
		c->replaced |= reported;
		c->in_undecoded = false;
		c->state = CALL_LOST;
	}
}

/* Forgets the positions of the thread's calls, in its program and in the kernel. */
static void forget_all(struct thread *th, bool reported)
{
	struct thread *kernel = kernel_side__if_any(th);

	forget_positions(thread__shown(th), reported);
	if (kernel)
		forget_positions(kernel, reported);
}

/* Returns true if the call jumped by a pointer, for which no edge exists, to a function that
 * changes. */
static bool has_jumped_into_changing(const struct trace *t, const struct call *c)
{
	uint32_t function = c->state == CALL_TAIL && c->block != NO_BLOCK
				    ? t->plan->blocks.data[c->block].function
				    : NO_FUNCTION;

	return function != NO_FUNCTION && t->changing[function];
}

static bool is_changing(const struct trace *t, const struct thread *th)
{
	const struct call *c;

	vec__each (c, &th->calls)
		if (t->changing[c->function] || has_jumped_into_changing(t, c))
			return true;
	return false;
}

/* Outer calls may have run on, too, if the inner ones may have returned; but where all branches are
 * probed, not without an event. */
static void make_uncertain(struct trace *t, struct thread *th)
{
	struct call *c;

	if (!is_changing(t, th))
		return;
	vec__each (c, &th->calls) {
		if (!t->changing[c->function] && !t->plan->functions.data[c->function].unprobed)
			continue;
		c->marked = c->marked && c->state == CALL_LOST;
		c->uncertain = true;
		c->in_undecoded = false;
		c->state = CALL_LOST;
	}
}

void replay__make_uncertain(struct trace *t, struct thread *th)
{
	struct thread *kernel = kernel_side__if_any(th);

	account__miss(t, th);
	make_uncertain(t, thread__shown(th));
	if (kernel)
		make_uncertain(t, kernel);
}

int replay__mark_uncertain(struct event_context *n)
{
	struct call *c = calls__top(n->th);

	if (!c || c->state != CALL_LOST || !c->uncertain || call__is_marked(c) ||
	    !(n->t->options.events & PLAN_BRANCH))
		return 0;
	call__mark(c);
	return step__mark(n, STEP_UNKNOWN, 0);
}

/* A part of the file is lost, in which any number of calls may have returned and begun. */
static void forget_times(struct thread *th)
{
	struct call *c;

	map64__free(&th->entered);
	th->returned_sp = 0;
	vec__each (c, &th->calls)
		c->holed = true;
}

void replay__forget(struct trace *t, struct thread *th)
{
	struct thread *kernel = kernel_side__if_any(th);

	forget_times(th);
	if (kernel)
		forget_times(kernel);
	forget_all(th, true);
	account__miss(t, th);
}

int replay__gap(struct event_context *n)
{
	forget_all(n->th, true);
	account__miss(n->t, n->th);
	return step__mark(n, STEP_UNKNOWN, 0);
}

int replay__lost(struct event_context *n)
{
	bool signal = !n->e->count && !n->e->hits;

	n->th->returned_sp = 0;
	/* The record of a signal is not an event, but its handler may have transferred control
	 * anywhere. */
	if (signal)
		forget_positions(thread__shown(n->th), false);
	else
		forget_all(n->th, true);
	if (!signal)
		account__miss(n->t, n->th);
	return signal ? 0 : step__lost(n, n->e->count);
}
