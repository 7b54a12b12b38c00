// SPDX-License-Identifier: BSD-2-Clause
/*
 * The live filter: passes the requested kinds of steps, by --depth and --min-duration. With
 * --min-duration, a call's steps are held back until the call is known to have lasted long enough;
 * with conditions of its result, until it has returned.
 */
#include <stdlib.h>
#include "trace/replay.h"

/* A call whose steps are held back: its first held step and its entry's time. */
struct waiting {
	size_t from;
	uint64_t time, call;
	unsigned depth;
	bool long_enough;
	bool unjudged; /* its result is still to be judged */
};

struct live_filter {
	VEC(struct kept_step) held;
	VEC(struct waiting) calls;
};

static const unsigned of_type[STEP_TYPES] = {
	[STEP_ENTRY] = PLAN_ENTRY, [STEP_BRANCH] = PLAN_BRANCH, [STEP_RETURN] = PLAN_RETURN};

bool live_filter__count(struct trace *t, enum step_type type)
{
	if (t->counts)
		t->totals.events += !!(t->options.events & of_type[type]);
	return t->counts;
}

static bool wanted(const struct trace *t, const struct step *s)
{
	if (of_type[s->type] && !(t->options.events & of_type[s->type]))
		return false;
	if (of_type[s->type] && t->options.max_depth && s->depth >= t->options.max_depth)
		return false;
	return true;
}

static int give(struct trace *t, const struct step *s)
{
	if (!wanted(t, s))
		return 0;
	if (s->type <= STEP_RETURN)
		t->totals.events++;
	return t->fn ? t->fn(t->ctx, s) : 0;
}

static void hold_back(struct trace *t, struct live_filter *filter, const struct step *s)
{
	kept__take(vec__add(&filter->held), s);
	t->held++;
}

/* A step that is no part of a call stays if calls are judged. */
static bool stays(const struct trace *t, const struct step *s)
{
	return t->judges_returns && !of_type[s->type] && s->type != STEP_UNKNOWN;
}

static void drop_from(struct trace *t, struct live_filter *filter, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < filter->held.len; i++) {
		if (stays(t, &filter->held.data[i].step)) {
			filter->held.data[kept++] = filter->held.data[i];
			continue;
		}
		kept__free(&filter->held.data[i]);
		t->held--;
	}
	filter->held.len = min_of(filter->held.len, kept);
}

/* Passes on the steps before the first call that may still be too short, or isn't judged yet. */
static int release(struct trace *t, struct live_filter *filter, uint64_t now)
{
	size_t n = filter->held.len;
	struct waiting *w;
	int err = 0;

	vec__each (w, &filter->calls) {
		if (w->unjudged || (!w->long_enough && now - w->time < t->options.min_duration)) {
			n = w->from;
			break;
		}
		w->long_enough = true;
	}
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = give(t, kept__step(&filter->held.data[i]));
		kept__free(&filter->held.data[i]);
	}
	t->held -= n;
	memmove(filter->held.data, filter->held.data + n,
		(filter->held.len - n) * sizeof(*filter->held.data));
	filter->held.len -= n;
	vec__each (w, &filter->calls)
		w->from -= min_of(w->from, n);
	return err;
}

static void hide_call(struct thread *th, uint64_t id)
{
	struct call *c;

	if (th)
		vec__each (c, &th->calls)
			c->hidden |= c->id == id;
}

/* Ends calls at this depth or deeper. They never returned, so neither their duration nor their
 * result is known. A call that was only left may continue later. */
static void end_calls(struct trace *t, struct thread *th, unsigned depth)
{
	struct live_filter *filter = th->filter;

	while (filter->calls.len && vec__last(&filter->calls)->depth >= depth) {
		const struct waiting *w = vec__last(&filter->calls);

		t->totals.unjudged += w->unjudged;
		if (w->unjudged) {
			hide_call(th, w->call);
			hide_call(kernel_side__if_any(th), w->call);
		}
		if (!w->long_enough || w->unjudged)
			drop_from(t, filter, w->from);
		filter->calls.len--;
	}
}

/* The limit of held steps of all threads. */
#define HELD_MOST 100000

/* Passes on the thread's outermost call that isn't judged yet, without its judgement: the rest of
 * its steps would not fit in memory. */
static void decide_one(struct trace *t, struct live_filter *filter)
{
	struct waiting *w;

	vec__each (w, &filter->calls)
		if (w->unjudged) {
			w->unjudged = false;
			t->totals.undecided++;
			return;
		}
}

static void begin_call(struct trace *t, struct thread *th, const struct step *s)
{
	struct live_filter *filter = th->filter;
	bool judged = t->judges_returns && plan__judges_function(t->plan, s->function, true);

	end_calls(t, th, s->depth);
	if (judged || t->options.min_duration)
		vec__push(&filter->calls,
			  (struct waiting){filter->held.len, s->time, s->call, s->depth,
					   !t->options.min_duration, judged});
}

static bool is_long_enough(const struct trace *t, const struct step *s)
{
	return !t->options.min_duration ||
	       (s->has_duration && s->duration >= t->options.min_duration);
}

/* Handles a call's return. Returns false if the call is left out. */
static bool end_call(struct trace *t, struct thread *th, const struct step *s)
{
	struct live_filter *filter = th->filter;
	struct waiting *w;
	bool drops;

	end_calls(t, th, s->depth + 1);
	w = filter->calls.len ? vec__last(&filter->calls) : NULL;
	if (!w || w->depth != s->depth)
		return is_long_enough(t, s);
	/* The call may have been passed on already. */
	drops = !is_long_enough(t, s) || (w->unjudged && !judge__return(t, s));
	if (drops)
		drop_from(t, filter, w->from);
	filter->calls.len--;
	return !drops;
}

static int by_call(struct trace *t, struct thread *th, const struct step *s)
{
	struct live_filter *filter = th->filter;
	bool shown = true;

	if (!filter)
		filter = th->filter = xcalloc(1, sizeof(*filter));
	if (s->type == STEP_BRANCH && t->judges_returns)
		end_calls(t, th, s->depth + 1);
	if (s->type == STEP_ENTRY)
		begin_call(t, th, s);
	else if (s->type == STEP_RETURN)
		shown = end_call(t, th, s);
	else if (s->type == STEP_BRANCH && !filter->calls.len)
		shown = !t->options.min_duration; /* The entry of its call was not seen. */
	if (shown)
		hold_back(t, filter, s);
	if (t->judges_returns && t->held > HELD_MOST)
		decide_one(t, filter);
	return s->timed || !filter->calls.len ? release(t, filter, s->time) : 0;
}

int live_filter__step(struct trace *t, struct thread *th, const struct step *s)
{
	return t->options.min_duration || t->judges_returns ? by_call(t, thread__shown(th), s)
							    : give(t, s);
}

void live_filter__leave_calls(struct trace *t, struct thread *th)
{
	if (!th->filter)
		return;
	end_calls(t, th, 0);
	if (t->judges_returns)
		release(t, th->filter, UINT64_MAX);
}

void live_filter__copy(struct trace *t, struct thread *to, const struct thread *from)
{
	const struct waiting *w;

	if (!t->judges_returns || !from->filter)
		return;
	to->filter = to->filter ? to->filter : xcalloc(1, sizeof(*to->filter));
	vec__each (w, &from->filter->calls) {
		vec__push(&to->filter->calls, *w);
		vec__last(&to->filter->calls)->from = 0;
	}
}

int live_filter__pass(struct trace *t, const struct step *s)
{
	return give(t, s);
}

void live_filter__free(struct live_filter *s)
{
	struct kept_step *k;

	if (!s)
		return;
	vec__each (k, &s->held)
		kept__free(k);
	vec__free(&s->held);
	vec__free(&s->calls);
	free(s);
}
