// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread's calls that have not returned. Frames are identified by the stack pointer at their
 * entry, never by counting. A call that longjmp or an exception left, or whose stack was switched
 * away from, becomes dormant. It resumes when an event shows that it is still running, and is
 * abandoned when a new call uses its stack slot.
 */
#include <stdlib.h>
#include "calls.h"

/* The most dormant calls of a thread; beyond that the oldest are abandoned. */
#define MAX_DORMANT 4096

unsigned calls__depth(const struct thread *th)
{
	return th->calls.len - th->ndormant;
}

static void set_dormant(struct thread *th, struct call *c, bool dormant)
{
	th->ndormant += dormant - c->dormant;
	c->dormant = dormant;
}

struct call *calls__top(struct thread *th)
{
	for (size_t i = th->calls.len; i-- > 0;)
		if (!th->calls.data[i].dormant)
			return &th->calls.data[i];
	return NULL;
}

void calls__remove(struct thread *th, struct call *f)
{
	size_t i = f - th->calls.data;

	th->ndormant -= f->dormant;
	memmove(f, f + 1, (th->calls.len - i - 1) * sizeof(*f));
	th->calls.len--;
}

/* May it have taken branches since its last event that were not recorded? */
static bool is_cut(struct trace *t, const struct call *c)
{
	if (c->state == CALL_LOST)
		return !c->told && (c->doubted || t->plan->functions.data[c->function].unprobed);
	return c->state == CALL_AT && c->block != NO_BLOCK && !c->early &&
	       walk__is_unprobed_ahead(t->walk, c->block, c->returns);
}

/* It jumped to code without probes, so the ret that ends it can't be seen. */
static bool left_for_good(struct trace *t, const struct call *c)
{
	const struct plan *p = t->plan;

	if (c->state != CALL_TAIL)
		return false;
	return c->block == NO_BLOCK ||
	       p->functions.data[p->blocks.data[c->block].function].flags & FUNCTION_HELPER;
}

/* total: what it counts as, if its ret could have been seen. */
static void give_up(struct trace *t, struct thread *th, struct call *c, uint64_t *total)
{
	struct event_context n = {.t = t, .th = th};

	/* what it did after its last event was not recorded */
	if (th->seen && t->options.events & PLAN_BRANCH && is_cut(t, c))
		step__mark(&n, STEP_UNKNOWN, 0);
	/* else there were no probes on rets */
	if (t->options.events & (PLAN_BRANCH | PLAN_RETURN))
		++*(left_for_good(t, c) ? &t->totals.unseen_tail_returns : total);
	calls__remove(th, c);
}

void calls__abandon(struct trace *t, struct thread *th, struct call *c)
{
	give_up(t, th, c, &t->totals.unmatched_returns);
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

void calls__abandon_all(struct trace *t, struct thread *th)
{
	while (th->calls.len)
		calls__abandon(t, th, vec__last(&th->calls));
}

/* A dormant call was left, for good or not: whether it is open isn't known. */
void calls__leave_open(struct trace *t, struct thread *th)
{
	while (th->calls.len) {
		struct call *c = vec__last(&th->calls);

		give_up(t, th, c,
			c->dormant ? &t->totals.unmatched_returns : &t->totals.open_calls);
	}
}

static void limit_dormant(struct trace *t, struct thread *th)
{
	if (th->calls.len > MAX_DORMANT && th->calls.data[0].dormant)
		calls__abandon(t, th, &th->calls.data[0]);
}

void calls__suspend_above(struct thread *th, size_t i)
{
	for (i++; i < th->calls.len; i++)
		set_dormant(th, &th->calls.data[i], true);
}

void calls__suspend_from(struct thread *th, const struct call *c)
{
	for (size_t i = c - th->calls.data; i < th->calls.len; i++)
		set_dormant(th, &th->calls.data[i], true);
}

/* Makes a dormant call and its direct callers active again, and the call the innermost one. */
static struct call *resume(struct thread *th, struct call *c)
{
	size_t last = c - th->calls.data, first = last, n, rest;
	struct call *group;

	while (first && th->calls.data[first].made)
		first--;
	n = last - first + 1;
	rest = th->calls.len - last - 1;
	for (size_t i = first; i < th->calls.len; i++)
		set_dormant(th, &th->calls.data[i], i > last);
	group = xmalloc(n * sizeof(*group));
	memcpy(group, th->calls.data + first, n * sizeof(*group));
	memmove(th->calls.data + first, c + 1, rest * sizeof(*group));
	/* its callee is gone: it runs itself */
	if (rest)
		th->calls.data[first].made = false;
	memcpy(th->calls.data + first + rest, group, n * sizeof(*group));
	free(group);
	return vec__last(&th->calls);
}

struct call *calls__make_current(struct thread *th, struct call *f)
{
	if (f->dormant)
		return resume(th, f);
	calls__suspend_above(th, f - th->calls.data);
	return f;
}

/* kernel/events/uprobes.c, prepare_uretprobe(): a thread has at most as many return probes that
 * wait. */
#define MAX_URETPROBE_DEPTH 64

/* Did its entry set a return probe for sure? */
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
	return vec__last(&th->calls);
}

/* Makes the calls dormant that are deeper on the stack than sp. */
void calls__suspend_below(struct thread *th, uint64_t sp)
{
	for (size_t i = th->calls.len; i-- > 0;) {
		struct call *f = &th->calls.data[i];

		if (!f->dormant && f->sp >= sp)
			break;
		set_dormant(th, f, true);
	}
}

/* A new call uses this stack slot: abandons the dormant calls in it. */
void calls__reuse(struct trace *t, struct thread *th, uint64_t sp)
{
	for (size_t i = th->calls.len; th->ndormant && i-- > 0;)
		if (th->calls.data[i].dormant && th->calls.data[i].sp == sp)
			calls__abandon(t, th, &th->calls.data[i]);
}

struct call *calls__at(struct thread *th, uint64_t sp)
{
	struct call *dormant_call = NULL;

	for (size_t i = th->calls.len; i-- > 0;) {
		struct call *f = &th->calls.data[i];

		if (f->sp != sp)
			continue;
		if (!f->dormant)
			return f;
		dormant_call = dormant_call ? dormant_call : f;
	}
	return dormant_call;
}

struct call *calls__enclosing(struct thread *th, uint32_t function, uint64_t sp)
{
	struct call *best = NULL;

	for (size_t i = th->calls.len; i-- > 0;) {
		struct call *f = &th->calls.data[i];

		if (f->function != function || (f->sp < sp && f->seen_entry))
			continue;
		if (!f->dormant)
			return f;
		if (!best || f->sp < best->sp)
			best = f;
	}
	return best;
}
