// SPDX-License-Identifier: BSD-2-Clause
/*
 * The report filter: passes a part of the replay's steps, by thread, time, kind and function, and
 * the first or last ones.
 */
#include <stdlib.h>
#include "trace/trace.h"

#define LEVELS_MAX (1u << 16)

/* By depth: whether the call's function passes the filter, and how many of its outer calls do. */
struct level {
	bool picked;
	uint32_t outside;
};

struct filter_thread {
	uint64_t time; /* the time of its last timed step */
	VEC(struct level) levels;
};

struct report_filter {
	const struct plan *plan;
	const struct report_filter_options *options;
	step_fn fn;
	void *ctx;
	struct map64 threads; /* -> struct filter_thread * */
	/* A call that is filtered out -> the nearest outer one that passes; 0
	 * if none does. */
	struct map64 outer;
	uint64_t given, counted; /* events */
	uint64_t unknown, lost;
	VEC(struct kept_step) last; /* a ring once it is full */
	size_t next;		    /* the index of the oldest */
	uint64_t last_events;
	uint64_t dropped; /* the number of events between the first and the last ones */
};

struct report_filter *report_filter__new(const struct plan *plan,
					 const struct report_filter_options *options, step_fn fn,
					 void *ctx)
{
	struct report_filter *p = xcalloc(1, sizeof(*p));

	p->plan = plan;
	p->options = options;
	p->fn = fn;
	p->ctx = ctx;
	return p;
}

void report_filter__free(struct report_filter *p)
{
	struct kept_step *h;
	uint64_t value;

	if (!p)
		return;
	for (size_t i = 0; i < p->threads.cap; i++)
		if (map64__slot(&p->threads, i, &value)) {
			struct filter_thread *th = (struct filter_thread *)(uintptr_t)value;

			vec__free(&th->levels);
			free(th);
		}
	vec__each (h, &p->last)
		kept__free(h);
	vec__free(&p->last);
	map64__free(&p->threads);
	map64__free(&p->outer);
	free(p);
}

/* ---- by thread, time and kind ---- */

static bool is_among(uint32_t v, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return !n;
}

static bool has_comm(const struct report_filter_options *o, const char *comm)
{
	for (size_t i = 0; i < o->ncomms; i++)
		if (!strcmp(o->comms[i], comm))
			return true;
	return !o->ncomms;
}

static bool is_event(const struct step *s)
{
	return s->type <= STEP_RETURN;
}

static bool of_kind(const struct report_filter_options *o, const struct step *s)
{
	static const unsigned kinds[] = {[STEP_ENTRY] = PLAN_ENTRY,
					 [STEP_BRANCH] = PLAN_BRANCH,
					 [STEP_RETURN] = PLAN_RETURN};

	return !is_event(s) || (kinds[s->type] & o->events);
}

static bool has_function(const struct report_filter *p, uint32_t function)
{
	return !p->options->functions || function >= p->plan->functions.len ||
	       p->options->functions[function];
}

static struct filter_thread *thread_of(struct report_filter *p, const struct step *s)
{
	uint64_t *slot = map64__put(&p->threads, step__thread_key(s));

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct filter_thread));
	return (struct filter_thread *)(uintptr_t)*slot;
}

static bool in_time(const struct report_filter_options *o, const struct filter_thread *th)
{
	return th->time >= o->from && (!o->to || th->time <= o->to);
}

/* ---- depth among the calls that pass ---- */

/* Outer calls whose entry was not seen don't pass. */
static struct level *level_of(struct report_filter *p, struct filter_thread *th,
			      const struct step *s)
{
	unsigned depth = min_of(s->depth, LEVELS_MAX);
	const struct level *out;

	while (th->levels.len <= depth) {
		out = th->levels.len ? vec__last(&th->levels) : NULL;
		vec__push(&th->levels,
			  (struct level){.outside = out ? out->outside + out->picked : 0});
		if (th->levels.len == depth + 1)
			vec__last(&th->levels)->picked = has_function(p, s->function);
	}
	if (s->type == STEP_ENTRY) {
		th->levels.data[depth].picked = has_function(p, s->function);
		th->levels.len = depth + 1;
	}
	return &th->levels.data[depth];
}

/* Returns the nearest call that passes: c itself or an outer one. */
static uint64_t outer_of(const struct report_filter *p, uint64_t c)
{
	const uint64_t *outer = map64__get(&p->outer, c);

	return outer ? *outer : c;
}

static void note_calls(struct report_filter *p, const struct step *s, bool picked)
{
	if (s->type == STEP_ENTRY && !picked && s->call)
		*map64__put(&p->outer, s->call) = outer_of(p, s->caller);
	if (s->type == STEP_RETURN && !picked)
		map64__del(&p->outer, s->call);
}

/* ---- the first and the last ---- */

static int give(struct report_filter *p, const struct step *s)
{
	p->counted += is_event(s);
	p->unknown += s->type == STEP_UNKNOWN;
	p->lost += s->type == STEP_LOST ? s->count : 0;
	return p->fn(p->ctx, s);
}

/* Drops the oldest event, and the steps before it. */
static void drop_oldest(struct report_filter *p)
{
	bool event;

	do {
		struct kept_step *h = &p->last.data[p->next++];

		event = is_event(&h->step);
		kept__free(h);
	} while (!event);
	p->last_events--;
	p->dropped++;
	if (p->next < p->last.len / 2)
		return;
	memmove(p->last.data, p->last.data + p->next,
		(p->last.len - p->next) * sizeof(*p->last.data));
	p->last.len -= p->next;
	p->next = 0;
}

static void keep(struct report_filter *p, const struct step *s)
{
	if (is_event(s) && p->last_events == p->options->tail)
		drop_oldest(p);
	p->last_events += is_event(s);
	kept__take(vec__add(&p->last), s);
}

static int limit(struct report_filter *p, const struct step *s)
{
	const struct report_filter_options *o = p->options;
	int err;

	if (o->tail && (!o->head || p->given >= o->head)) {
		keep(p, s);
		return 0;
	}
	p->given += is_event(s);
	err = give(p, s);
	return err || o->tail || !o->head || p->given < o->head ? err : 1;
}

/* Handles a step that belongs to no thread. */
static int global_step(struct report_filter *p, const struct step *s)
{
	const struct report_filter_options *o = p->options;

	return s->time >= o->from && (!o->to || s->time <= o->to) ? limit(p, s) : 0;
}

int report_filter__step(struct report_filter *p, const struct step *s)
{
	const struct report_filter_options *o = p->options;
	struct filter_thread *th;
	struct step copy = *s;
	bool picked = true;

	if (step__is_global(s))
		return global_step(p, s);
	if (!is_among(s->pid, o->pids, o->npids) || !is_among(s->tid, o->tids, o->ntids) ||
	    !has_comm(o, s->comm))
		return 0;
	th = thread_of(p, s);
	if (s->timed)
		th->time = s->time;
	if (o->functions) {
		copy.depth = level_of(p, th, s)->outside;
		picked = !is_event(s) || has_function(p, s->function);
		copy.call = outer_of(p, s->call);
		copy.caller = outer_of(p, s->caller);
		note_calls(p, s, picked);
	}
	if (!picked || !of_kind(o, s) || !in_time(o, th) ||
	    (is_event(s) && o->max_depth && copy.depth >= o->max_depth))
		return 0;
	return limit(p, &copy);
}

/* Emits the mark of what lies between the first and the last steps. Formats by thread show it in
 * that of the next step. */
static int give_omitted(struct report_filter *p)
{
	struct step mark;

	if (!p->dropped)
		return 0;
	mark = *kept__step(&p->last.data[p->next]);
	mark.type = STEP_OMITTED;
	mark.site = NO_SITE;
	mark.count = p->dropped;
	mark.depth = 0;
	return give(p, &mark);
}

int report_filter__finish(struct report_filter *p)
{
	int err = give_omitted(p);

	for (size_t i = p->next; !err && i < p->last.len; i++)
		err = give(p, kept__step(&p->last.data[i]));
	return err;
}

void report_filter__count(const struct report_filter *p, struct trace_totals *t)
{
	t->events = p->counted;
	t->unknown = p->unknown;
	t->lost = p->lost;
}
