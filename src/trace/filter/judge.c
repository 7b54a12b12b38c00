// SPDX-License-Identifier: BSD-2-Clause
/*
 * The conditions of the plan (--if): calls of functions that have some are judged by the arguments
 * at their entry, and by what they return. Other calls follow their caller. What probes leave out
 * in the kernel doesn't arrive here.
 */
#include "trace/calls.h"

/* Returns the innermost call, in the kernel or in its program. */
static struct call *innermost(struct thread *th)
{
	struct call *c = calls__top(th);

	return c || !th->user_side ? c : calls__top(thread__shown(th));
}

static struct call *caller_of(struct thread *th, const struct call *c)
{
	struct call *caller = calls__caller(th, c);

	return caller || !th->user_side ? caller : calls__top(thread__shown(th));
}

bool judge__hides(const struct trace *t, struct thread *th)
{
	const struct call *c = t->plan->conditions.len ? innermost(th) : NULL;

	return c && c->hidden;
}

/* A call that began unseen isn't known to meet the conditions. */
void judge__open(struct trace *t, struct thread *th, struct call *c)
{
	const struct call *caller = t->plan->conditions.len ? caller_of(th, c) : NULL;
	size_t n;

	c->hidden = caller && caller->hidden;
	if (c->hidden || c->seen_entry || !plan__conditions(t->plan, c->function, &n))
		return;
	c->hidden = true;
	t->totals.unjudged++;
}

static void count(struct trace *t, enum judgement v)
{
	t->totals.unmet += v == JUDGED_FAILS;
	t->totals.unjudged += v == JUDGED_UNKNOWN;
}

void judge__entry(struct event_context *n, struct call *c)
{
	const struct event_entry *e = n->entry;
	uint64_t regs[EVENT_REGS] = {0};
	struct value_source from = {.regs = e->regs ? regs : NULL,
				    .syscall_args = e->args,
				    .fetched = n->e->fetched,
				    .nfetched = n->e->nfetched};
	enum judgement v;

	if (c->hidden || !n->t->judges_entries)
		return;
	if (e->regs)
		memcpy(regs, e->regs, min_of(e->nregs, EVENT_REGS) * sizeof(*regs));
	v = plan__judge(n->t->plan, c->function, false, &from);
	count(n->t, v);
	c->hidden = v != JUDGED_HOLDS;
}

bool judge__return(struct trace *t, const struct step *s)
{
	const struct value_source from = {.fetched = s->fetched,
					  .nfetched = s->nfetched,
					  .has_result = s->has_value,
					  .result = s->value};
	enum judgement v = plan__judge(t->plan, s->function, true, &from);

	count(t, v);
	return v == JUDGED_HOLDS;
}
