// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "owners.h"

#define MANY (1u << 20) /* goroutines, after which all are reported again */

static uint64_t key_of(uint32_t pid, uint64_t goroutine)
{
	return (uint64_t)pid << 32 ^ goroutine;
}

void owners__free(struct owners *g)
{
	map64__free(&g->by_goroutine);
	vec__free(&g->all);
}

static bool knows(const struct owners *g, const struct log *l, uint64_t goroutine)
{
	const uint64_t *owner;

	if (l->goroutine != goroutine)
		return false;
	owner = goroutine ? map64__get(&g->by_goroutine, key_of(l->thread.pid, goroutine)) : NULL;
	return !goroutine || (owner && *owner == l->number);
}

static void own(struct owners *g, const struct log *l, uint64_t goroutine)
{
	uint64_t *owner;

	if (g->all.len > MANY)
		owners__free(g);
	owner = map64__put(&g->by_goroutine, key_of(l->thread.pid, goroutine));
	if (!*owner)
		vec__push(&g->all, (struct goroutine){l->thread.pid, goroutine});
	*owner = l->number;
}

static int report(struct owners *g, struct log *l, const struct event *e, uint64_t goroutine,
		  const struct source_sink *sink)
{
	const struct event reported = {.type = EVENT_GOROUTINE,
				       .time = e->time,
				       .untimed = e->untimed,
				       .pid = e->pid,
				       .tid = e->tid,
				       .sp = e->sp,
				       .cpu = EVENT_NO_CPU,
				       .goroutine = goroutine};

	l->goroutine = goroutine;
	if (goroutine)
		own(g, l, goroutine);
	return sink->event(sink->ctx, &reported);
}

/* Something is missing of the goroutine that it runs. */
static int uncertain(const struct log *l, const struct source_sink *sink)
{
	return sink->event(sink->ctx, &(struct event){.type = EVENT_LOST,
						      .time = l->thread.time,
						      .untimed = true,
						      .pid = l->thread.pid,
						      .tid = l->thread.tid,
						      .cpu = EVENT_NO_CPU,
						      .hits = true});
}

int owners__forget_runs(struct owners *g, struct log *l, const struct source_sink *sink)
{
	const struct event at = {.time = l->thread.time,
				 .untimed = true,
				 .pid = l->thread.pid,
				 .tid = l->thread.tid};
	uint64_t before = l->goroutine;
	int err = 0;

	for (size_t i = 0; !err && i < g->all.len; i++) {
		const struct goroutine *r = &g->all.data[i];

		if (r->pid != l->thread.pid || r->number == before)
			continue;
		err = report(g, l, &at, r->number, sink);
		if (!err)
			err = uncertain(l, sink);
	}
	return err || l->goroutine == before ? err : report(g, l, &at, before, sink);
}

static bool drops(const struct stream *s)
{
	return s->end.type == NOTICE_END ? s->dropped : s->dropping;
}

/* Returns true if another thread of the process drops records of goroutines that may have come from
 * there. */
static bool another_drops(const log_vec *logs, const struct log *l)
{
	struct log **other;

	vec__each (other, logs)
		if (*other != l && (*other)->thread.pid == l->thread.pid && drops((*other)->stream))
			return true;
	return false;
}

/*
 * What other threads of the process have logged of the goroutine precedes the event, even what
 * waits because it has no time of its own: a thread logs the time when it changes to another
 * goroutine.
 */
static int give_others(const log_vec *logs, const struct log *l, const struct goroutine_run *run)
{
	int err = 0;

	for (size_t i = 0; i < logs->len; i++) {
		struct log *other = logs->data[i];

		if (other == l || other->thread.pid != l->thread.pid)
			continue;
		while (!err && log__peek(other) && other->event->time < run->e->time &&
		       other->position < log__stop(other))
			err = run->give(run->ctx, other);
	}
	return err;
}

int owners__run(struct owners *g, const log_vec *logs, struct log *l,
		const struct goroutine_run *run, const struct source_sink *sink)
{
	int err;

	if (knows(g, l, run->number))
		return 0;
	err = run->number ? give_others(logs, l, run) : 0;
	if (!err)
		err = report(g, l, run->e, run->number, sink);
	return !err && run->number && another_drops(logs, l) ? uncertain(l, sink) : err;
}
