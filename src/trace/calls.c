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

/* What stood before the i-th call has changed: how many dormant ones there are from each outward.
 */
static void link_from(struct thread *th, size_t i)
{
	struct call *c = th->calls.data;

	for (; i < th->calls.len && c[i].dormant; i++)
		c[i].dormant_run = i && c[i - 1].dormant ? c[i - 1].dormant_run + 1 : 1;
}

static void link_all(struct thread *th)
{
	for (size_t i = 0; i < th->calls.len; i++)
		if (th->calls.data[i].dormant && (!i || !th->calls.data[i - 1].dormant))
			link_from(th, i);
}

/* To be followed by link_from(). */
static void mark_dormant(struct thread *th, struct call *c, bool dormant)
{
	th->ndormant += dormant - c->dormant;
	if (dormant && !c->dormant) {
		if (th->ndormant == 1)
			th->dormant_low = th->dormant_high = c->sp;
		th->dormant_low = c->sp < th->dormant_low ? c->sp : th->dormant_low;
		th->dormant_high = c->sp > th->dormant_high ? c->sp : th->dormant_high;
	}
	c->dormant = dormant;
}

/* The innermost active call of the first n. */
static struct call *active_below(struct thread *th, size_t n)
{
	while (n && th->calls.data[n - 1].dormant)
		n -= th->calls.data[n - 1].dormant_run;
	return n ? &th->calls.data[n - 1] : NULL;
}

struct call *calls__top(struct thread *th)
{
	return active_below(th, th->calls.len);
}

struct call *calls__caller(struct thread *th, const struct call *c)
{
	return active_below(th, c - th->calls.data);
}

void calls__resume_top(struct thread *th)
{
	struct call *c = calls__top(th);

	if (c)
		c->resumed = true;
}

void calls__remove(struct thread *th, struct call *f)
{
	size_t i = f - th->calls.data;

	th->ndormant -= f->dormant;
	memmove(f, f + 1, (th->calls.len - i - 1) * sizeof(*f));
	th->calls.len--;
	link_from(th, i);
}

void calls__copy(struct thread *to, const struct thread *from)
{
	const struct call *c;

	vec__each (c, &from->calls) {
		vec__push(&to->calls, *c);
		vec__last(&to->calls)->dormant = false;
		mark_dormant(to, vec__last(&to->calls), c->dormant);
		link_from(to, to->calls.len - 1);
	}
}

/* May it have taken branches since its last event that were not recorded? */
static bool is_cut(struct trace *t, const struct call *c)
{
	const struct plan_function *f = &t->plan->functions.data[c->function];

	if (c->state == CALL_LOST)
		return !call__is_told(c) && (c->doubted || f->unprobed || f->unreached);
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

/* Tells that it ended unseen. total: what it counts as, if its ret could have been seen. */
static void tell_end(struct trace *t, struct thread *th, const struct call *c, uint64_t *total)
{
	struct event_context n = {.t = t, .th = th};

	if (c->hidden)
		return;
	/* what it did after its last event was not recorded */
	if (th->seen && t->options.events & PLAN_BRANCH && is_cut(t, c))
		step__mark(&n, STEP_UNKNOWN, 0);
	/* else there were no probes on rets */
	if (t->options.events & (PLAN_BRANCH | PLAN_RETURN))
		++*(left_for_good(t, c) ? &t->totals.unseen_tail_returns : total);
}

void calls__abandon(struct trace *t, struct thread *th, struct call *c)
{
	bool active = !c->dormant;

	tell_end(t, th, c, &t->totals.unmatched_returns);
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

void calls__abandon_all(struct trace *t, struct thread *th)
{
	while (th->calls.len) {
		tell_end(t, th, vec__last(&th->calls), &t->totals.unmatched_returns);
		calls__remove(th, vec__last(&th->calls));
	}
}

/* A dormant call was left, for good or not: whether it is open isn't known. */
void calls__leave_open(struct trace *t, struct thread *th)
{
	while (th->calls.len) {
		struct call *c = vec__last(&th->calls);

		tell_end(t, th, c,
			 c->dormant ? &t->totals.unmatched_returns : &t->totals.open_calls);
		calls__remove(th, c);
	}
}

/* Half of them at once: each time the others are moved. */
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
	link_all(th);
	vec__each (c, &ended)
		tell_end(t, th, c, &t->totals.unmatched_returns);
	vec__free(&ended);
}

static void suspend_after(struct thread *th, size_t first)
{
	bool any = false;

	for (size_t i = first; i < th->calls.len; i++) {
		any |= !th->calls.data[i].dormant;
		mark_dormant(th, &th->calls.data[i], true);
	}
	link_from(th, first);
	if (any)
		calls__resume_top(th);
}

void calls__suspend_above(struct thread *th, size_t i)
{
	suspend_after(th, i + 1);
}

void calls__suspend_from(struct thread *th, const struct call *c)
{
	suspend_after(th, c - th->calls.data);
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
		mark_dormant(th, &th->calls.data[i], i > last);
	group = xmalloc(n * sizeof(*group));
	memcpy(group, th->calls.data + first, n * sizeof(*group));
	memmove(th->calls.data + first, c + 1, rest * sizeof(*group));
	/* its callee is gone: it runs itself */
	if (rest)
		th->calls.data[first].made = false;
	memcpy(th->calls.data + first + rest, group, n * sizeof(*group));
	free(group);
	link_all(th);
	calls__resume_top(th);
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
	judge__open(t, th, vec__last(&th->calls));
	return vec__last(&th->calls);
}

/* Makes the calls dormant that are deeper on the stack than sp. */
void calls__suspend_below(struct thread *th, uint64_t sp)
{
	size_t first = th->calls.len;
	bool any = false;
	struct call *c;

	while ((c = active_below(th, first)) && c->sp < sp) {
		first = c - th->calls.data;
		mark_dormant(th, c, true);
		any = true;
	}
	link_from(th, first);
	if (any)
		calls__resume_top(th);
}

bool calls__may_reuse(const struct thread *th, uint64_t sp)
{
	return th->ndormant && sp >= th->dormant_low && sp <= th->dormant_high;
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
