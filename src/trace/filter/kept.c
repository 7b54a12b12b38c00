// SPDX-License-Identifier: BSD-2-Clause
/* Copies of steps that outlive the callback, and the last steps of each thread (--last). */
#include <stdlib.h>
#include "plan/plan.h"
#include "trace/trace.h"

/* The frames are in the step's stack. */
static void take_named(struct kept_step *k, const struct step *s)
{
	k->named = *s->named;
	k->named.stack = NULL;
	k->data = xmalloc(s->named->len + 1);
	memcpy(k->data, s->named->data, s->named->len);
}

void kept__take(struct kept_step *k, const struct step *s)
{
	*k = (struct kept_step){.step = *s};
	snprintf(k->comm, sizeof(k->comm), "%s", s->comm);
	k->text = s->text ? xstrdup(s->text) : NULL;
	if (s->regs)
		memcpy(k->regs, s->regs, sizeof(k->regs));
	if (s->syscall_args)
		memcpy(k->syscall_args, s->syscall_args, sizeof(k->syscall_args));
	if (s->nfetched) {
		k->fetched = xcalloc(s->nfetched, sizeof(*k->fetched));
		memcpy(k->fetched, s->fetched, s->nfetched * sizeof(*k->fetched));
	}
	if (s->nstack) {
		k->stack = xcalloc(s->nstack, sizeof(*k->stack));
		memcpy(k->stack, s->stack, s->nstack * sizeof(*k->stack));
	}
	if (s->named)
		take_named(k, s);
}

const struct step *kept__step(struct kept_step *k)
{
	k->step.comm = k->comm;
	k->step.regs = k->step.regs ? k->regs : NULL;
	k->step.syscall_args = k->step.syscall_args ? k->syscall_args : NULL;
	k->step.stack = k->stack;
	k->step.fetched = k->fetched;
	k->step.text = k->text;
	if (k->step.named) {
		k->step.named = &k->named;
		k->named.data = k->data;
		k->named.comm = k->comm;
	}
	return &k->step;
}

void kept__free(struct kept_step *k)
{
	free(k->stack);
	free(k->fetched);
	free(k->text);
	free(k->data);
	k->data = NULL;
	k->stack = NULL;
	k->fetched = NULL;
	k->text = NULL;
}

/* ---- the last steps of each thread ---- */

struct tail {
	uint64_t key; /* pid << 32 | tid */
	uint32_t pid;
	uint64_t ended; /* 0 while the thread lives; else a number: another thread may have that key
			   now */
	struct kept_step *ring;
	size_t next, len, branches;
};

struct last {
	size_t limit; /* branches per thread: one more than will be shown, since one may be taken
			 back */
	VEC(struct tail) tails;
	struct map64 by_thread; /* key -> index + 1, of threads that have not ended */
	size_t nended;
	uint64_t ends;	  /* the number of threads that have ended */
	uint64_t dropped; /* threads that ended, and of which nothing is kept any more */
};

/* How many threads that have ended are kept: the last ones to end. */
#define ENDED_MOST 256

/* Slots for the branches, and as many for the steps between them. */
#define ROOM(limit) (2 * (limit))

struct last *last__new(size_t branches)
{
	struct last *l = xcalloc(1, sizeof(*l));

	l->limit = branches + 1;
	return l;
}

static struct kept_step *slot(const struct last *l, const struct tail *t, size_t age)
{
	return &t->ring[(t->next + ROOM(l->limit) - 1 - age) % ROOM(l->limit)];
}

static void drop_oldest(struct last *l, struct tail *t)
{
	struct kept_step *k = slot(l, t, t->len - 1);

	t->branches -= k->step.type == STEP_BRANCH;
	kept__free(k);
	t->len--;
}

static uint64_t key_of(const struct step *s)
{
	return s->goroutine ? step__thread_key(s) : (uint64_t)s->pid << 32 | s->tid;
}

int last__step(struct last *l, const struct step *s)
{
	uint64_t key = key_of(s), *index = map64__put(&l->by_thread, key);
	struct tail *t;

	if (!*index) {
		t = vec__add(&l->tails);
		t->key = key;
		t->pid = s->pid;
		t->ring = xcalloc(ROOM(l->limit), sizeof(*t->ring));
		*index = l->tails.len;
	}
	t = &l->tails.data[*index - 1];
	/* At its end a thread may emit an UNKNOWN for each call; one is enough. */
	if (s->type == STEP_UNKNOWN && t->len && slot(l, t, 0)->step.type == STEP_UNKNOWN)
		return 0;
	if (t->len == ROOM(l->limit))
		drop_oldest(l, t);
	kept__take(&t->ring[t->next], s);
	t->next = (t->next + 1) % ROOM(l->limit);
	t->len++;
	t->branches += s->type == STEP_BRANCH;
	while (t->branches > l->limit)
		drop_oldest(l, t);
	/* Steps that followed a dropped branch are dropped, too. */
	while (t->branches == l->limit && slot(l, t, t->len - 1)->step.type != STEP_BRANCH)
		drop_oldest(l, t);
	return 0;
}

/* Drops the extra branch, since nothing was taken back. */
static void trim(struct last *l, struct tail *t)
{
	size_t shown = l->limit - 1;

	while (t->branches > shown)
		drop_oldest(l, t);
	while (t->branches == shown && t->len && slot(l, t, t->len - 1)->step.type != STEP_BRANCH)
		drop_oldest(l, t);
}

void last__take_back(struct last *l, const struct step *s)
{
	const uint64_t *index = map64__get(&l->by_thread, key_of(s));
	struct tail *t = index ? &l->tails.data[*index - 1] : NULL;
	struct kept_step *k = t && t->len ? slot(l, t, 0) : NULL;

	if (!k || k->step.type != STEP_BRANCH || !s->has_at || k->step.at.object != s->at.object ||
	    k->step.at.vaddr != s->at.vaddr)
		return;
	kept__free(k);
	t->next = (t->next + ROOM(l->limit) - 1) % ROOM(l->limit);
	t->len--;
	t->branches--;
}

static int give_tail(struct last *l, struct tail *t, bool newest_first, step_fn fn, void *ctx)
{
	int err = 0;

	trim(l, t);
	for (size_t i = 0; !err && i < t->len; i++)
		err = fn(ctx, kept__step(slot(l, t, newest_first ? i : t->len - 1 - i)));
	return err;
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
	const uint64_t *index = map64__get(&l->by_thread, key_of(s));
	struct tail *t = index ? &l->tails.data[*index - 1] : NULL;
	int err = 0;

	if (t)
		trim(l, t);
	for (; t && t->len; drop_oldest(l, t))
		if (!err)
			err = fn(ctx, kept__step(slot(l, t, t->len - 1)));
	return err;
}

static void free_tail(struct last *l, struct tail *t)
{
	while (t->len)
		drop_oldest(l, t);
	free(t->ring);
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

/* Returns true if the thread's newest step ended the process. */
static bool is_killed(struct last *l, struct tail *t, const struct plan *p)
{
	const struct step *s = t->len ? kept__step(slot(l, t, 0)) : NULL;

	return s && s->type == STEP_NAMED && p->named.data[s->named->which].kind == NAMED_KILLED;
}

int last__give_process(struct last *l, const struct plan *plan, uint32_t pid, bool newest_first,
		       step_fn fn, void *ctx)
{
	int err = 0;

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; !err && i < l->tails.len; i++) {
			struct tail *t = &l->tails.data[i];

			if (t->pid == pid && is_killed(l, t, plan) == !others)
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
		const struct step *s = t->pid == pid && t->len ? kept__step(slot(l, t, 0)) : NULL;

		if (s && s->tid == tid &&
		    (!newest || s->time >= kept__step(slot(l, newest, 0))->time))
			newest = t;
	}
	err = newest ? give_tail(l, newest, newest_first, fn, ctx) : 0;
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
