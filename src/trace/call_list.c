// SPDX-License-Identifier: BSD-2-Clause
/*
 * The list of a thread's open calls: which are active, which are dormant, which one runs. Frames
 * are identified by the stack pointer at their entry, never by counting. Nothing is reported here.
 */
#include <stdlib.h>
#include "calls.h"

unsigned calls__depth(const struct thread *th)
{
	return th->calls.len - th->ndormant;
}

/* Counts the dormant calls outward from each call again, after what stands before the i-th call has
 * changed. */
static void link_from(struct thread *th, size_t i)
{
	struct call *c = th->calls.data;

	for (; i < th->calls.len && c[i].dormant; i++)
		c[i].dormant_run = i && c[i - 1].dormant ? c[i - 1].dormant_run + 1 : 1;
}

void calls__relink(struct thread *th)
{
	for (size_t i = 0; i < th->calls.len; i++)
		if (th->calls.data[i].dormant && (!i || !th->calls.data[i - 1].dormant))
			link_from(th, i);
}

/* The caller has to call link_from() afterwards. */
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

/* Returns the innermost active call of the first n. */
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

	while (first && th->calls.data[first].called_directly)
		first--;
	n = last - first + 1;
	rest = th->calls.len - last - 1;
	for (size_t i = first; i < th->calls.len; i++)
		mark_dormant(th, &th->calls.data[i], i > last);
	group = xmalloc(n * sizeof(*group));
	memcpy(group, th->calls.data + first, n * sizeof(*group));
	memmove(th->calls.data + first, c + 1, rest * sizeof(*group));
	/* The callee is gone, so the call itself runs. */
	if (rest)
		th->calls.data[first].called_directly = false;
	memcpy(th->calls.data + first + rest, group, n * sizeof(*group));
	free(group);
	calls__relink(th);
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
