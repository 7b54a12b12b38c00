// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "filter_states.h"

/* What was reported of a thread. */
struct standing {
	uint32_t pid;
	uint32_t reported, passed;
};

struct filter_states {
	struct thread_filters filters;
	struct map64 threads; /* tid -> struct standing * */
	uint64_t missed;
	bool hidden;
};

struct filter_states *filter_states__new(const struct thread_filters *filters)
{
	struct filter_states *p;

	if (!filters->needed)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->filters = *filters;
	p->missed = filters->missed(filters->ctx);
	return p;
}

void filter_states__free(struct filter_states *p)
{
	uint64_t standing;

	if (!p)
		return;
	for (size_t i = 0; i < p->threads.cap; i++)
		if (map64__slot(&p->threads, i, &standing))
			free((struct standing *)(uintptr_t)standing);
	map64__free(&p->threads);
	free(p);
}

/* ---- what was reported of threads ---- */

static struct standing *find(const struct filter_states *p, uint32_t tid)
{
	const uint64_t *slot = map64__get(&p->threads, tid);

	return slot ? (struct standing *)(uintptr_t)*slot : NULL;
}

static struct standing *find_or_add(struct filter_states *p, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = map64__put(&p->threads, tid);
	struct standing *s;

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(*s));
	s = (struct standing *)(uintptr_t)*slot;
	s->pid = pid;
	return s;
}

void filter_states__forget(struct filter_states *p, uint32_t tid)
{
	struct standing *s = p ? find(p, tid) : NULL;

	if (s)
		map64__del(&p->threads, tid);
	free(s);
}

static void take(struct standing *s, uint32_t reported, uint32_t passed)
{
	s->reported |= reported;
	s->passed = (s->passed & ~reported) | (passed & reported);
}

/* Threads that have no log yet, too. */
static void take_reported(struct filter_states *p, const struct event *reported)
{
	uint64_t slot;

	take(find_or_add(p, reported->pid, reported->tid), reported->count, reported->value);
	for (size_t i = 0; reported->process && i < p->threads.cap; i++) {
		struct standing *s;

		if (!map64__slot(&p->threads, i, &slot))
			continue;
		s = (struct standing *)(uintptr_t)slot;
		if (s->pid == reported->pid)
			take(s, reported->count, reported->value);
	}
}

static enum log_standing standing_of(const struct filter_states *p, uint32_t tid)
{
	const struct standing *s = find(p, tid);
	uint32_t all = p->filters.needed | p->filters.suffice;

	if (!s || (s->reported & all) != all)
		return LOG_UNCERTAIN;
	return (s->passed & p->filters.needed) == p->filters.needed ||
			       s->passed & p->filters.suffice
		       ? LOG_SHOWN
		       : LOG_HIDDEN;
}

/* ---- logs ---- */

void filter_states__begin(const struct filter_states *p, struct log *l)
{
	l->standing = p ? standing_of(p, l->thread.tid) : LOG_SHOWN;
	l->gap_due = true;
}

static void request(struct filter_states *p, struct log *l)
{
	uint32_t pid = l->thread.pid, tid = l->thread.tid;
	uint32_t passed = p->filters.passed(p->filters.ctx, pid, tid);

	take(find_or_add(p, pid, tid), UINT32_MAX, passed);
	l->standing = standing_of(p, tid);
}

void filter_states__ask(struct filter_states *p, const log_vec *logs)
{
	struct log **l;

	vec__each (l, logs)
		if (p && (*l)->standing == LOG_UNCERTAIN)
			request(p, *l);
}

static void change(const struct filter_states *p, struct log *l, const struct event *reported)
{
	enum log_standing before = l->standing;

	l->standing = standing_of(p, l->thread.tid);
	if (l->standing == before)
		return;
	if (reported->logged && l->thread.tid == reported->tid) {
		l->turned = true;
		return;
	}
	l->changed = max_of(l->changed, reported->time);
	l->gap_due = true;
}

void filter_states__report(struct filter_states *p, const log_vec *logs,
			   const struct event *reported)
{
	struct log **l;

	if (!p)
		return;
	take_reported(p, reported);
	vec__each (l, logs)
		if ((*l)->thread.tid == reported->tid ||
		    (reported->process && (*l)->thread.pid == reported->pid))
			change(p, *l, reported);
}

void filter_states__check(struct filter_states *p, const log_vec *logs)
{
	uint64_t missed = p ? p->filters.missed(p->filters.ctx) : 0;
	struct log **l;

	if (!p || missed == p->missed)
		return;
	p->missed = missed;
	note("whether threads pass the filters was not seen for a moment: what they did until now "
	     "and was not shown yet is not shown");
	vec__each (l, logs) {
		request(p, *l);
		(*l)->changed = now_ns(CLOCK_MONOTONIC);
		(*l)->gap_due = true;
	}
}

/* ---- events ---- */

/* Records that were dropped where the state changed: it is unknown how many of them would be
 * shown. */
static void lose_some(struct event *e)
{
	e->count = 0;
	e->hits = true;
}

static void report_gap(struct log *l)
{
	l->gap_due = false;
	if (l->standing == LOG_UNCERTAIN)
		note("thread %u of process %u is left out: whether it passes the filters was not "
		     "seen",
		     l->thread.tid, l->thread.pid);
	else
		note("thread %u of process %u: some of what it did when it began or ceased to pass "
		     "the filters is left out, since the log doesn't say what was before",
		     l->thread.tid, l->thread.pid);
}

bool filter_states__hides(struct filter_states *p, struct log *l, struct event *e, bool *gap)
{
	bool unclear = max_of(e->time, l->after) < l->changed;
	bool turned = l->turned;

	*gap = false;
	if (!p)
		return false;
	l->turned = false;
	if (turned && e->type == EVENT_LOST) {
		lose_some(e);
		return false;
	}
	if (l->standing == LOG_SHOWN && !unclear)
		return false;
	p->hidden = true;
	*gap = l->gap_due && (unclear || l->standing == LOG_UNCERTAIN);
	if (*gap)
		report_gap(l);
	return true;
}

bool filter_states__has_hidden(const struct filter_states *p)
{
	return p && p->hidden;
}
