// SPDX-License-Identifier: BSD-2-Clause
/*
 * The live filter: passes the requested kinds of steps, by --depth and --min-duration. With
 * --min-duration a call's steps are held back until the call is known to have lasted long enough.
 */
#include <stdlib.h>
#include "replay.h"

/* A call whose steps are held back: its first held step and its entry's time. */
struct waiting {
	size_t from;
	uint64_t time;
	unsigned depth;
	bool long_enough;
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

static void hold_back(struct live_filter *filter, const struct step *s)
{
	kept__take(vec__add(&filter->held), s);
}

static void drop_from(struct live_filter *filter, size_t from)
{
	for (size_t i = from; i < filter->held.len; i++)
		kept__free(&filter->held.data[i]);
	filter->held.len = min_of(filter->held.len, from);
}

/* Passes on the steps before the first call that may still be too short. */
static int release(struct trace *t, struct live_filter *filter, uint64_t now)
{
	size_t n = filter->held.len;
	struct waiting *w;
	int err = 0;

	vec__each (w, &filter->calls) {
		if (!w->long_enough && now - w->time < t->options.min_duration) {
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
	memmove(filter->held.data, filter->held.data + n,
		(filter->held.len - n) * sizeof(*filter->held.data));
	filter->held.len -= n;
	vec__each (w, &filter->calls)
		w->from -= min_of(w->from, n);
	return err;
}

/* Ends calls at this depth or deeper. They never returned, so their duration is unknown. */
static void end_calls(struct live_filter *filter, unsigned depth)
{
	while (filter->calls.len && vec__last(&filter->calls)->depth >= depth) {
		if (!vec__last(&filter->calls)->long_enough)
			drop_from(filter, vec__last(&filter->calls)->from);
		filter->calls.len--;
	}
}

static int by_duration(struct trace *t, struct thread *th, const struct step *s)
{
	struct live_filter *filter = th->filter;
	bool too_short;

	if (!filter)
		filter = th->filter = xcalloc(1, sizeof(*filter));
	if (s->type == STEP_ENTRY) {
		end_calls(filter, s->depth);
		vec__push(&filter->calls,
			  (struct waiting){filter->held.len, s->time, s->depth, false});
		hold_back(filter, s);
		return 0;
	}
	if (s->type == STEP_BRANCH && !filter->calls.len)
		return 0; /* the entry of its call was not seen */
	if (s->type == STEP_RETURN) {
		too_short = !s->has_duration || s->duration < t->options.min_duration;
		if (!too_short)
			hold_back(filter, s);
		if (!too_short && filter->calls.len)
			vec__last(&filter->calls)->long_enough = true;
		end_calls(filter, s->depth);
	} else {
		hold_back(filter, s);
	}
	return s->timed ? release(t, filter, s->time) : 0;
}

int live_filter__step(struct trace *t, struct thread *th, const struct step *s)
{
	return t->options.min_duration ? by_duration(t, thread__shown(th), s) : give(t, s);
}

void live_filter__leave_calls(struct live_filter *s)
{
	if (s)
		end_calls(s, 0);
}

int live_filter__pass(struct trace *t, const struct step *s)
{
	return give(t, s);
}

void live_filter__free(struct live_filter *s)
{
	if (!s)
		return;
	drop_from(s, 0);
	vec__free(&s->held);
	vec__free(&s->calls);
	free(s);
}
