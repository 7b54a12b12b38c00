/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the replay's steps for a random program with the run. */
#ifndef RANDOM_COMPARE_H
#define RANDOM_COMPARE_H

#include "random_growth.h"

/* ---- what has to come out ---- */

typedef VEC(struct did) did_vec;

/* Is it a return probe's? One that was set before the trace began is none. */
static inline bool is_recorded(const struct plan *plan, const struct recording *r,
			       const struct cuts *cuts, const struct did *d)
{
	const struct record *e;

	vec__each (e, &r->records)
		if (e->moment == d->moment && e->e.type == EVENT_RETURN &&
		    e->since >= cuts->begin && plan->sites.data[e->e.site].function == d->f)
			return true;
	return false;
}

static inline bool is_wanted(const struct plan *plan, const struct recording *r,
			     const struct cuts *cuts, const struct did *d, unsigned events)
{
	static const unsigned of_type[STEP_TYPES] = {[STEP_ENTRY] = PLAN_ENTRY,
						     [STEP_BRANCH] = PLAN_BRANCH,
						     [STEP_RETURN] = PLAN_RETURN};

	if (d->type == STEP_RETURN && events & BY_PROBE)
		return is_recorded(plan, r, cuts, d);
	return of_type[d->type] & events && !d->outside;
}

static inline void flush(did_vec *pending, const struct run *run, unsigned context, did_vec *out)
{
	size_t left = 0;

	for (size_t i = 0; i < pending->len; i++)
		if (run->moments.data[pending->data[i].moment].context == context)
			vec__push(out, pending->data[i]);
		else
			pending->data[left++] = pending->data[i];
	pending->len = left;
}

/* At an event: the implied steps of handlers that are over, innermost first, and of its context. */
static inline void flush_before(did_vec *pending, const struct run *run, size_t moment,
				did_vec *out)
{
	for (unsigned c = run->over.len; c-- > 0;)
		if (run->over.data[c] <= moment)
			flush(pending, run, c, out);
	flush(pending, run, run->moments.data[moment].context, out);
}

/* A step that an event shows comes out with the event. An implied step comes out with the next
 * event of its context, so behind a signal's handler. */
static inline void expect(const struct plan *plan, const struct run *run, const struct recording *r,
			  const struct cuts *cuts, unsigned events, did_vec *out)
{
	did_vec pending = {0};
	const struct did *d;
	size_t at = 0;

	for (size_t i = 0; i < run->moments.len; i++) {
		if (r->told.data[i])
			flush_before(&pending, run, i, out);
		for (; at < run->did.len && run->did.data[at].moment == i; at++) {
			d = &run->did.data[at];
			if (!is_wanted(plan, r, cuts, d, events) || d->time < cuts->begin)
				continue;
			if (r->told.data[i])
				vec__push(out, *d);
			else
				vec__push(&pending, *d);
		}
	}
	vec__each (d, &pending)
		vec__push(out, *d);
	vec__free(&pending);
}

/* ---- the comparison ---- */

static inline bool is_mark(const struct step *s)
{
	return s->type == STEP_LOST || s->type == STEP_UNKNOWN;
}

struct comparison {
	const did_vec *want;
	const struct replayed *got;
	bool *lost;   /* by call: a loss since the call's last step */
	bool *marked; /* by call: any mark since the call's last step */
	size_t *last; /* by call: behind the call's last step in want */
	size_t marks; /* marks that are to come */
	bool shared;
	bool cut, uncertain; /* events are missing; or entries have no probe */
	const struct run *run;
	const struct growth *growth;
	bool gap;  /* a mark since the last timed step */
	size_t at; /* each step of want before this was emitted, or is excused */
	bool *reach, *next;
	const char *fault;
	size_t where;
};

static inline bool leads_to(const struct step *s, uint64_t vaddr)
{
	return (s->to.object ? s->to.vaddr : s->to.addr - BIAS) == vaddr;
}

/* Whose code functions share a call runs isn't known where its entry isn't. */
static inline bool is_same(const struct comparison *c, const struct step *s, const struct did *d)
{
	if (s->type != d->type || (s->timed && s->time != d->time))
		return false;
	if (s->type == STEP_RETURN && c->cut && c->shared)
		return true;
	if (s->type != STEP_BRANCH)
		return s->function == d->f;
	return s->at.vaddr == d->at && s->taken == d->taken && (!s->to_known || leads_to(s, d->to));
}

/* By code that is added, or removed, while not all of its probes are in place. */
static inline bool is_before_growth(const struct comparison *c, const struct did *d)
{
	const struct growth *g = c->growth;

	if (!g->kept)
		return false;
	/* what such code jumped to returns for its caller, too */
	return (growth__hides(g, d->time) && c->run->moments.data[d->moment].f >= g->kept) ||
	       (d->type == STEP_RETURN && d->tail_f >= g->kept && growth__hides(g, d->tail_time));
}

/*
 * A dormant call is abandoned later, which shows that its end isn't known. The end of a call by a
 * helper's ret is only counted if the return address wasn't seen.
 */
static inline bool may_miss(const struct comparison *c, size_t i)
{
	const struct did *d = &c->want->data[i];

	return c->gap || is_before_growth(c, d) || c->lost[d->call] ||
	       (d->type == STEP_RETURN && c->marked[d->call]) || (d->by_helper && c->uncertain) ||
	       (c->marks && i >= c->last[d->call]);
}

static inline void skip(struct comparison *c, size_t end)
{
	for (size_t i = c->at; i < end; i++)
		c->reach[i + 1] |= c->reach[i] && may_miss(c, i);
}

/* From one timed step to the next: each of the implied ones in between has its place, and what is
 * missing is excused. */
static inline bool fits(struct comparison *c, size_t from, size_t to, size_t end)
{
	size_t n = c->want->len + 1;

	memset(c->reach, 0, n);
	c->reach[c->at] = true;
	skip(c, end);
	for (size_t k = from; k < to; k++) {
		const struct step *s = &c->got->steps.data[k];

		if (is_mark(s)) {
			c->gap = true;
			c->marks--;
			skip(c, end);
			continue;
		}
		memset(c->next, 0, n);
		for (size_t i = c->at; i < end; i++)
			c->next[i + 1] = c->reach[i] && is_same(c, s, &c->want->data[i]);
		memcpy(c->reach, c->next, n);
		skip(c, end);
	}
	return c->reach[end];
}

/* What a loss says holds for each call until it is heard of again. Behind any mark a call may be
 * gone: its return isn't told. */
static inline void note_losses(struct comparison *c, size_t from, size_t to, size_t end,
			       unsigned calls)
{
	for (; from < to; from++)
		for (unsigned i = 0; is_mark(&c->got->steps.data[from]) && i <= calls; i++) {
			c->marked[i] = true;
			c->lost[i] |= c->cut;
		}
	for (size_t i = c->at; i < end; i++)
		if (c->want->data[i].type == STEP_ENTRY && c->gap)
			c->lost[c->want->data[i].call] = true;
}

static inline size_t find_timed(const struct comparison *c, const struct step *s)
{
	for (size_t i = c->at; i < c->want->len; i++)
		if (is_same(c, s, &c->want->data[i]))
			return i;
	return SIZE_MAX;
}

static inline bool fault(struct comparison *c, const char *what, size_t where)
{
	c->fault = what;
	c->where = where;
	return false;
}

static inline bool compare_all(struct comparison *c, unsigned calls)
{
	size_t from = 0, end;

	for (size_t k = 0; k < c->got->steps.len; k++) {
		const struct step *s = &c->got->steps.data[k];

		if (!s->timed || is_mark(s))
			continue;
		end = find_timed(c, s);
		if (end == SIZE_MAX)
			return fault(c, "this didn't happen, or not here", k);
		c->gap = false;
		if (!fits(c, from, k, end))
			return fault(c, "before this something is missing or wrong", k);
		note_losses(c, from, k, end, calls);
		c->lost[c->want->data[end].call] = c->marked[c->want->data[end].call] = false;
		c->at = end + 1;
		from = k + 1;
	}
	c->gap = false;
	if (!fits(c, from, c->got->steps.len, c->want->len))
		return fault(c, "the end is missing or wrong", c->got->steps.len);
	return true;
}

/* Which calls were heard of last where, and how many marks there are. */
static inline void look_ahead(struct comparison *c)
{
	size_t at = 0;

	for (size_t k = 0; k < c->got->steps.len; k++) {
		const struct step *s = &c->got->steps.data[k];

		c->marks += is_mark(s);
		for (size_t i = at; s->timed && !is_mark(s) && i < c->want->len; i++)
			if (is_same(c, s, &c->want->data[i])) {
				at = i + 1;
				c->last[c->want->data[i].call] = at;
				break;
			}
	}
}

/* No event is missing: steps, calls and depths have to be those of the run. */
static inline bool compare_exactly(struct comparison *c, unsigned calls)
{
	autofree uint64_t *number = xcalloc(calls + 1, sizeof(*number));

	for (size_t k = 0; k < c->got->finish; k++) {
		const struct step *s = &c->got->steps.data[k];
		const struct did *d = k < c->want->len ? &c->want->data[k] : NULL;

		if (!d || !is_same(c, s, d))
			return fault(c, "this is not what happened", k);
		if (s->depth != d->depth)
			return fault(c, "this happened at another depth", k);
		if (d->type == STEP_ENTRY && !number[d->call])
			number[d->call] = s->call;
		if (s->call != number[d->call])
			return fault(c, "this happened in another call", k);
	}
	return true;
}

/* Each call returned, or ran when the trace ended, perhaps where its return can't be seen. */
static inline bool compare_open(struct comparison *c)
{
	const struct trace_totals *t = &c->got->totals;
	uint64_t calls = 0, returns = 0;
	const struct step *s;

	vec__each (s, &c->got->steps) {
		if (s->type == STEP_ENTRY)
			calls = max_of(calls, s->call);
		returns += s->type == STEP_RETURN;
	}
	return (!t->unmatched_returns &&
		calls - returns == t->open_calls + t->ended_calls + t->unseen_tail_returns) ||
	       fault(c, "other calls are open", c->got->steps.len);
}

static inline bool is_marked(struct comparison *c)
{
	for (size_t k = 0; k < c->got->finish; k++)
		if (is_mark(&c->got->steps.data[k]))
			return !fault(c, "nothing was to be unknown here", k);
	return false;
}

#endif
