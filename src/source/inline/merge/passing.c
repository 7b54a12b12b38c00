// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "passing.h"

/* What was told of a thread. */
struct standing {
	uint32_t pid;
	uint32_t told, passed;
};

struct passing {
	struct thread_filters filters;
	struct map64 threads; /* tid -> struct standing * */
	uint64_t missed;
	bool hidden;
};

struct passing *passing__new(const struct thread_filters *filters)
{
	struct passing *p;

	if (!filters->needed)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->filters = *filters;
	p->missed = filters->missed(filters->ctx);
	return p;
}

void passing__free(struct passing *p)
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

/* ---- what was told of threads ---- */

static struct standing *find(const struct passing *p, uint32_t tid)
{
	const uint64_t *slot = map64__get(&p->threads, tid);

	return slot ? (struct standing *)(uintptr_t)*slot : NULL;
}

static struct standing *find_or_add(struct passing *p, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = map64__put(&p->threads, tid);
	struct standing *s;

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(*s));
	s = (struct standing *)(uintptr_t)*slot;
	s->pid = pid;
	return s;
}

void passing__forget(struct passing *p, uint32_t tid)
{
	struct standing *s = p ? find(p, tid) : NULL;

	if (s)
		map64__del(&p->threads, tid);
	free(s);
}

static void take(struct standing *s, uint32_t told, uint32_t passed)
{
	s->told |= told;
	s->passed = (s->passed & ~told) | (passed & told);
}

/* Threads that have no log yet, too. */
static void take_told(struct passing *p, const struct event *told)
{
	uint64_t slot;

	take(find_or_add(p, told->pid, told->tid), told->count, told->value);
	for (size_t i = 0; told->process && i < p->threads.cap; i++) {
		struct standing *s;

		if (!map64__slot(&p->threads, i, &slot))
			continue;
		s = (struct standing *)(uintptr_t)slot;
		if (s->pid == told->pid)
			take(s, told->count, told->value);
	}
}

static enum log_standing standing_of(const struct passing *p, uint32_t tid)
{
	const struct standing *s = find(p, tid);
	uint32_t all = p->filters.needed | p->filters.suffice;

	if (!s || (s->told & all) != all)
		return LOG_IN_DOUBT;
	return (s->passed & p->filters.needed) == p->filters.needed ||
			       s->passed & p->filters.suffice
		       ? LOG_SHOWN
		       : LOG_HIDDEN;
}

/* ---- logs ---- */

void passing__begin(const struct passing *p, struct log *l)
{
	l->standing = p ? standing_of(p, l->thread.tid) : LOG_SHOWN;
	l->gap_due = true;
}

static void ask(struct passing *p, struct log *l)
{
	uint32_t pid = l->thread.pid, tid = l->thread.tid;
	uint32_t passed = p->filters.passed(p->filters.ctx, pid, tid);

	take(find_or_add(p, pid, tid), UINT32_MAX, passed);
	l->standing = standing_of(p, tid);
}

void passing__ask(struct passing *p, const log_vec *logs)
{
	struct log **l;

	vec__each (l, logs)
		if (p && (*l)->standing == LOG_IN_DOUBT)
			ask(p, *l);
}

static void change(const struct passing *p, struct log *l, const struct event *told)
{
	enum log_standing before = l->standing;

	l->standing = standing_of(p, l->thread.tid);
	if (l->standing == before)
		return;
	if (told->logged && l->thread.tid == told->tid) {
		l->turned = true;
		return;
	}
	l->changed = max_of(l->changed, told->time);
	l->gap_due = true;
}

void passing__tell(struct passing *p, const log_vec *logs, const struct event *told)
{
	struct log **l;

	if (!p)
		return;
	take_told(p, told);
	vec__each (l, logs)
		if ((*l)->thread.tid == told->tid ||
		    (told->process && (*l)->thread.pid == told->pid))
			change(p, *l, told);
}

void passing__check(struct passing *p, const log_vec *logs)
{
	uint64_t missed = p ? p->filters.missed(p->filters.ctx) : 0;
	struct log **l;

	if (!p || missed == p->missed)
		return;
	p->missed = missed;
	note("whether threads pass the filters was not seen for a moment: what they did until now "
	     "and was not shown yet is not shown");
	vec__each (l, logs) {
		ask(p, *l);
		(*l)->changed = now_ns(CLOCK_MONOTONIC);
		(*l)->gap_due = true;
	}
}

/* ---- events ---- */

/* Records that were dropped where the state changed: nobody knows how many of them would be shown.
 */
static void lose_some(struct event *e)
{
	e->count = 0;
	e->hits = true;
}

static void tell_gap(struct log *l)
{
	l->gap_due = false;
	if (l->standing == LOG_IN_DOUBT)
		note("thread %u of process %u is left out: whether it passes the filters was not "
		     "seen",
		     l->thread.tid, l->thread.pid);
	else
		note("thread %u of process %u: some of what it did when it began or ceased to pass "
		     "the filters is left out, since the log doesn't say what was before",
		     l->thread.tid, l->thread.pid);
}

bool passing__hides(struct passing *p, struct log *l, struct event *e, bool *gap)
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
	*gap = l->gap_due && (unclear || l->standing == LOG_IN_DOUBT);
	if (*gap)
		tell_gap(l);
	return true;
}

bool passing__has_hidden(const struct passing *p)
{
	return p && p->hidden;
}
