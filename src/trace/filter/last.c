// SPDX-License-Identifier: BSD-2-Clause
/* The last steps of each thread (--last). What runs while the process ends is kept apart. */
#include <stdlib.h>
#include "plan/plan.h"
#include "ending.h"
#include "trace/trace.h"

struct ring {
	struct kept_step *steps;
	size_t next, len, branches;
	uint64_t all; /* branches, with those that are overwritten */
};

struct tail {
	uint64_t key; /* pid << 32 | tid */
	uint32_t pid;
	uint64_t ended; /* 0 while the thread lives; else a number: another thread may have that key
			   now */
	struct ring body, end; /* end: what ran since the process began to end */
	struct ending ending;
};

struct last {
	size_t limit; /* branches per thread: one more than will be shown, since one may be taken
			 back */
	bool whole;   /* what runs while the process ends is shown, too */
	VEC(struct tail) tails;
	struct map64 by_thread; /* key -> index + 1, of threads that have not ended */
	size_t nended;
	uint64_t ends;	   /* the number of threads that have ended */
	uint64_t dropped;  /* threads that ended, and of which nothing is kept any more */
	uint64_t left_out; /* branches of ends of processes, of threads that were forgotten */
};

/* How many threads that have ended are kept: the last ones to end. */
#define ENDED_MOST 256

/* Slots for the branches, and as many for the steps between them. */
#define ROOM(limit) (2 * (limit))

struct last *last__new(size_t branches, bool whole)
{
	struct last *l = xcalloc(1, sizeof(*l));

	l->limit = branches + 1;
	l->whole = whole;
	return l;
}

/* ---- a ring ---- */

static struct kept_step *slot(const struct last *l, const struct ring *r, size_t age)
{
	return &r->steps[(r->next + ROOM(l->limit) - 1 - age) % ROOM(l->limit)];
}

static const struct step *newest_of(const struct last *l, const struct ring *r)
{
	return r->len ? kept__step(slot(l, r, 0)) : NULL;
}

static void drop_oldest(struct last *l, struct ring *r)
{
	struct kept_step *k = slot(l, r, r->len - 1);

	r->branches -= k->step.type == STEP_BRANCH;
	kept__free(k);
	r->len--;
}

/* Steps that followed a dropped branch are dropped, too. */
static void drop_to(struct last *l, struct ring *r, size_t branches)
{
	while (r->branches > branches)
		drop_oldest(l, r);
	while (r->branches == branches && r->len &&
	       slot(l, r, r->len - 1)->step.type != STEP_BRANCH)
		drop_oldest(l, r);
}

/* Takes the step over. */
static void put(struct last *l, struct ring *r, const struct kept_step *k)
{
	if (!r->steps)
		r->steps = xcalloc(ROOM(l->limit), sizeof(*r->steps));
	if (r->len == ROOM(l->limit))
		drop_oldest(l, r);
	r->steps[r->next] = *k;
	r->next = (r->next + 1) % ROOM(l->limit);
	r->len++;
	r->branches += k->step.type == STEP_BRANCH;
	r->all += k->step.type == STEP_BRANCH;
	drop_to(l, r, l->limit);
}

static void drop_newest(struct last *l, struct ring *r)
{
	kept__free(slot(l, r, 0));
	r->next = (r->next + ROOM(l->limit) - 1) % ROOM(l->limit);
	r->len--;
	r->branches--;
	r->all--;
}

static void empty(struct last *l, struct ring *r)
{
	while (r->len)
		drop_oldest(l, r);
	r->all = 0;
}

static int give_ring(struct last *l, struct ring *r, bool newest_first, step_fn fn, void *ctx)
{
	int err = 0;

	drop_to(l, r, l->limit - 1); /* nothing was taken back */
	for (size_t i = 0; !err && i < r->len; i++)
		err = fn(ctx, kept__step(slot(l, r, newest_first ? i : r->len - 1 - i)));
	return err;
}

/* ---- a thread ---- */

static uint64_t key_of(const struct step *s)
{
	return s->goroutine ? step__thread_key(s) : (uint64_t)s->pid << 32 | s->tid;
}

static struct tail *tail_of(const struct last *l, const struct step *s)
{
	const uint64_t *index = map64__get(&l->by_thread, key_of(s));

	return index ? &l->tails.data[*index - 1] : NULL;
}

static struct ring *newest_ring(struct tail *t)
{
	return t->end.len ? &t->end : &t->body;
}

/* The process didn't end there, or what runs at its end is shown like all else. */
static void join(struct last *l, struct tail *t)
{
	struct ring *end = &t->end;
	bool gap = end->all > end->branches;

	if (gap)
		empty(l, &t->body);
	while (end->len) {
		struct kept_step *k = slot(l, end, end->len - 1);

		end->branches -= k->step.type == STEP_BRANCH;
		end->len--;
		put(l, &t->body, k);
	}
	end->all = 0;
}

int last__step(struct last *l, const struct step *s)
{
	uint64_t key = key_of(s), *index = map64__put(&l->by_thread, key);
	struct kept_step k;
	struct ring *r;
	struct tail *t;
	const struct step *newest;

	if (!*index) {
		t = vec__add(&l->tails);
		t->key = key;
		t->pid = s->pid;
		*index = l->tails.len;
	}
	t = &l->tails.data[*index - 1];
	newest = newest_of(l, newest_ring(t));
	/* At its end a thread may emit an UNKNOWN for each call; one is enough. */
	if (s->type == STEP_UNKNOWN && newest && newest->type == STEP_UNKNOWN)
		return 0;
	if (!l->whole && ending__refuted(&t->ending, s))
		join(l, t);
	r = l->whole || !ending__has_begun(&t->ending, s) ? &t->body : &t->end;
	kept__take(&k, s);
	put(l, r, &k);
	return 0;
}

void last__take_back(struct last *l, const struct step *s)
{
	struct tail *t = tail_of(l, s);
	const struct step *newest = t ? newest_of(l, newest_ring(t)) : NULL;

	if (newest && newest->type == STEP_BRANCH && s->has_at &&
	    newest->at.object == s->at.object && newest->at.vaddr == s->at.vaddr)
		drop_newest(l, newest_ring(t));
}

/* Returns true if the thread's newest step ended the process. */
static bool is_killed(struct last *l, struct tail *t)
{
	const struct step *s = newest_of(l, newest_ring(t));

	return s && s->type == STEP_NAMED &&
	       s->plan->named.data[s->named->which].kind == NAMED_KILLED;
}

static int give_tail(struct last *l, struct tail *t, bool newest_first, step_fn fn, void *ctx)
{
	if (is_killed(l, t))
		join(l, t);
	return give_ring(l, &t->body, newest_first, fn, ctx);
}

int last__give(struct last *l, bool newest_first, step_fn fn, void *ctx)
{
	struct tail *t;
	int err = 0;

	vec__each (t, &l->tails)
		if (!err)
			err = give_tail(l, t, newest_first, fn, ctx);
	return err;
}

int last__give_to(struct last *l, const struct step *s, step_fn fn, void *ctx)
{
	struct tail *t = tail_of(l, s);
	int err = 0;

	if (!t)
		return 0;
	join(l, t);
	err = give_ring(l, &t->body, false, fn, ctx);
	empty(l, &t->body);
	return err;
}

static void free_tail(struct last *l, struct tail *t)
{
	l->left_out += t->end.all;
	empty(l, &t->body);
	empty(l, &t->end);
	free(t->body.steps);
	free(t->end.steps);
}

/* Removes a thread and keeps the order of the others. */
static void remove_tail(struct last *l, size_t i)
{
	struct tail *t = &l->tails.data[i];

	if (!t->ended)
		map64__del(&l->by_thread, t->key);
	l->nended -= !!t->ended;
	free_tail(l, t);
	memmove(t, t + 1, (l->tails.len - i - 1) * sizeof(*t));
	l->tails.len--;
	for (; i < l->tails.len; i++)
		if (!l->tails.data[i].ended)
			*map64__put(&l->by_thread, l->tails.data[i].key) = i + 1;
}

static size_t first_ended(const struct last *l)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < l->tails.len; i++)
		if (l->tails.data[i].ended &&
		    (first == SIZE_MAX || l->tails.data[i].ended < l->tails.data[first].ended))
			first = i;
	return first;
}

void last__end(struct last *l, uint32_t pid, uint32_t tid)
{
	uint64_t key = (uint64_t)pid << 32 | tid, *index = map64__get(&l->by_thread, key);

	if (!index)
		return;
	l->tails.data[*index - 1].ended = ++l->ends;
	map64__del(&l->by_thread, key);
	l->nended++;
	if (l->nended > ENDED_MOST) {
		remove_tail(l, first_ended(l));
		l->dropped++;
	}
}

uint64_t last__dropped(const struct last *l)
{
	return l->dropped;
}

uint64_t last__left_out(const struct last *l)
{
	uint64_t branches = l->left_out;
	const struct tail *t;

	vec__each (t, &l->tails)
		branches += t->end.all;
	return branches;
}

int last__give_process(struct last *l, uint32_t pid, bool newest_first, step_fn fn, void *ctx)
{
	int err = 0;

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; !err && i < l->tails.len; i++) {
			struct tail *t = &l->tails.data[i];

			if (t->pid == pid && is_killed(l, t) == !others)
				err = give_tail(l, t, newest_first, fn, ctx);
		}
	return err;
}

/* Several threads may have had the same TID, one after the other. */
int last__give_thread(struct last *l, uint32_t pid, uint32_t tid, bool newest_first, step_fn fn,
		      void *ctx)
{
	struct tail *newest = NULL, *t;
	int err;

	vec__each (t, &l->tails) {
		const struct step *s = t->pid == pid ? newest_of(l, newest_ring(t)) : NULL;

		if (s && s->tid == tid &&
		    (!newest || s->time >= newest_of(l, newest_ring(newest))->time))
			newest = t;
	}
	if (!newest)
		return 0;
	join(l, newest);
	err = give_ring(l, &newest->body, newest_first, fn, ctx);
	return err == 1 ? 0 : err;
}

void last__forget_process(struct last *l, uint32_t pid)
{
	for (size_t i = l->tails.len; i-- > 0;)
		if (l->tails.data[i].pid == pid)
			remove_tail(l, i);
}

void last__free(struct last *l)
{
	struct tail *t;

	if (!l)
		return;
	vec__each (t, &l->tails)
		free_tail(l, t);
	vec__free(&l->tails);
	map64__free(&l->by_thread);
	free(l);
}
