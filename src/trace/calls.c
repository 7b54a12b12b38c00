// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a thread's calls begin, and how they end unseen. A call that longjmp or an exception left, or
 * whose stack was switched away from, becomes dormant. It resumes when an event shows that it is
 * still running, and is abandoned when a new call uses its stack slot.
 */
#include "calls.h"

/* The limit of dormant calls of a thread; beyond it the oldest are abandoned. */
#define MAX_DORMANT 4096

/* Returns true if the call may have taken branches since its last event that were not recorded. */
static bool is_cut(struct trace *t, const struct call *c)
{
	const struct plan_function *f = &t->plan->functions.data[c->function];

	if (c->state == CALL_LOST)
		return !call__is_marked(c) && (c->uncertain || f->unprobed || f->unreached);
	return c->state == CALL_AT && c->block != NO_BLOCK && !c->early &&
	       walk__is_unprobed_ahead(t->walk, c->block, c->returns);
}

/* Returns true if the call jumped to code without probes, so that the ret that ends it can't be
 * seen. */
static bool left_for_good(struct trace *t, const struct call *c)
{
	const struct plan *p = t->plan;

	if (c->state != CALL_TAIL)
		return false;
	return c->block == NO_BLOCK ||
	       p->functions.data[p->blocks.data[c->block].function].flags & FUNCTION_HELPER;
}

/* Counts a call that ended unseen: as *total, if its ret could have been seen. */
static void count_end(struct trace *t, struct thread *th, const struct call *c, uint64_t *total)
{
	struct event_context n = {.t = t, .th = th};

	if (c->hidden)
		return;
	/* Emits UNKNOWN, since what the call did after its last event was not recorded. */
	if (th->seen && t->options.events & PLAN_BRANCH && is_cut(t, c))
		step__mark(&n, STEP_UNKNOWN, 0);
	/* With other events, rets had no probes. */
	if (t->options.events & (PLAN_BRANCH | PLAN_RETURN))
		++*(left_for_good(t, c) ? &t->totals.unseen_tail_returns : total);
}

void calls__abandon(struct trace *t, struct thread *th, struct call *c)
{
	bool active = !c->dormant;

	count_end(t, th, c, &t->totals.unmatched_returns);
	calls__remove(th, c);
	if (active)
		calls__resume_top(th);
}

/* Calls from code without probes may be further in. */
void calls__abandon_chain(struct trace *t, struct thread *th, struct call *c)
{
	size_t i = c - th->calls.data;
	uint64_t sp = c->sp;

	do {
		calls__abandon(t, th, &th->calls.data[i]);
		while (i && th->calls.data[i - 1].dormant)
			i--;
		c = i-- ? &th->calls.data[i] : NULL;
	} while (c && c->sp == sp && c->state == CALL_TAIL);
}

/* Returns true if it would have been seen if the call had returned. */
static bool has_not_returned(struct trace *t, const struct thread *th, const struct call *c)
{
	return th->seen && t->options.events & (PLAN_BRANCH | PLAN_RETURN) && !c->dormant &&
	       c->state == CALL_AT && c->block != NO_BLOCK && !c->early && !is_cut(t, c);
}

void calls__abandon_all(struct trace *t, struct thread *th)
{
	while (th->calls.len) {
		const struct call *c = vec__last(&th->calls);

		count_end(t, th, c,
			  has_not_returned(t, th, c) ? &t->totals.ended_calls
						     : &t->totals.unmatched_returns);
		calls__remove(th, vec__last(&th->calls));
	}
}

/* A dormant call was left, for good or not, so it isn't known to be open. */
void calls__leave_open(struct trace *t, struct thread *th)
{
	while (th->calls.len) {
		struct call *c = vec__last(&th->calls);

		count_end(t, th, c,
			  c->dormant ? &t->totals.unmatched_returns : &t->totals.open_calls);
		calls__remove(th, c);
	}
}

/* Abandons half of the dormant calls at once, since each removal moves the others. */
static void limit_dormant(struct trace *t, struct thread *th)
{
	size_t over = th->ndormant > MAX_DORMANT ? th->ndormant - MAX_DORMANT / 2 : 0, kept = 0;
	VEC(struct call) ended = {0};
	struct call *c;

	for (size_t i = 0; over && i < th->calls.len; i++) {
		c = &th->calls.data[i];
		if (c->dormant && ended.len < over)
			vec__push(&ended, *c);
		else
			th->calls.data[kept++] = *c;
	}
	if (!over)
		return;
	th->calls.len = kept;
	th->ndormant -= over;
	calls__relink(th);
	vec__each (c, &ended)
		count_end(t, th, c, &t->totals.unmatched_returns);
	vec__free(&ended);
}

/* The limit of pending return probes of a thread: kernel/events/uprobes.c, prepare_uretprobe(). */
#define MAX_URETPROBE_DEPTH 64

/* Returns true if the call's entry is certain to have set a return probe. */
static bool will_return(const struct trace *t, const struct thread *th, const struct call *f)
{
	uint32_t instances = 0;

	if (!t->plan->return_probes || th->user_side || !f->seen_entry ||
	    plan__return_refusal(t->plan, f->function))
		return false;
	for (size_t i = th->calls.len; i-- > 0 && instances < MAX_URETPROBE_DEPTH;)
		instances += th->calls.data[i].instances;
	return instances < MAX_URETPROBE_DEPTH;
}

struct call *calls__push(struct trace *t, struct thread *th, const struct call *f)
{
	bool returns = will_return(t, th, f);

	limit_dormant(t, th);
	vec__push(&th->calls, *f);
	vec__last(&th->calls)->returns = returns;
	vec__last(&th->calls)->instances = returns;
	vec__last(&th->calls)->id = ++t->last_call;
	account__open_call(t, th, vec__last(&th->calls));
	judge__open(t, th, vec__last(&th->calls));
	return vec__last(&th->calls);
}

/* A new call uses this stack slot: abandons the dormant calls in it. */
void calls__reuse(struct trace *t, struct thread *th, uint64_t sp)
{
	if (!calls__may_reuse(th, sp))
		return;
	for (size_t i = th->calls.len; th->ndormant && i-- > 0;)
		if (th->calls.data[i].dormant && th->calls.data[i].sp == sp)
			calls__abandon(t, th, &th->calls.data[i]);
}
