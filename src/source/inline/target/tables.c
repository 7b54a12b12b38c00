// SPDX-License-Identifier: BSD-2-Clause
/* The tables of threads, processes and address spaces. */
#include <unistd.h>
#include "target.h"

struct thread *tracer__thread(const struct tracer *s, pid_t tid)
{
	const uint64_t *slot = map64__get(&s->threads, (uint64_t)tid);

	return slot ? (struct thread *)(uintptr_t)*slot : NULL;
}

struct process *tracer__process(const struct tracer *s, pid_t pid)
{
	const uint64_t *slot = map64__get(&s->processes, (uint64_t)pid);

	return slot ? (struct process *)(uintptr_t)*slot : NULL;
}

struct thread *tracer__add_thread(struct tracer *s, pid_t tid, struct process *p)
{
	struct thread *t = xcalloc(1, sizeof(*t));

	t->tracer = s;
	t->process = p;
	t->tid = tid;
	t->call = -1;
	t->slot = NO_SLOT;
	p->nthreads++;
	*map64__put(&s->threads, (uint64_t)tid) = (uintptr_t)t;
	return t;
}

struct process *tracer__add_process(struct tracer *s, pid_t pid)
{
	struct process *p = xcalloc(1, sizeof(*p));

	p->pid = pid;
	p->mem = -1;
	p->filters = thread__filters(getpid());
	p->opens = true;
	*map64__put(&s->processes, (uint64_t)pid) = (uintptr_t)p;
	return p;
}

static void *next_of(const struct map64 *m, size_t *i)
{
	uint64_t value;

	while (*i < m->cap)
		if (map64__slot(m, (*i)++, &value))
			return (void *)(uintptr_t)value;
	return NULL;
}

struct thread *tracer__each(const struct tracer *s, size_t *i)
{
	return next_of(&s->threads, i);
}

struct thread *tracer__each_in(const struct tracer *s, const struct space *space, size_t *i)
{
	struct thread *t;

	while ((t = tracer__each(s, i)) && t->process->space != space)
		;
	return t;
}

struct process *tracer__each_process(const struct tracer *s, size_t *i)
{
	return next_of(&s->processes, i);
}

static size_t without(struct stop *stops, size_t n, pid_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (stops[i].tid != tid)
			stops[kept++] = stops[i];
	return kept;
}

void tracer__forget_stops(struct tracer *s, pid_t tid)
{
	s->kept.len = without(s->kept.data, s->kept.len, tid);
	s->deferred.len = without(s->deferred.data, s->deferred.len, tid);
	s->early.len = without(s->early.data, s->early.len, tid);
}

void tracer__early(struct tracer *s, const struct stop *stop)
{
	struct stop e = *stop;

	e.parent = process__parent(stop->tid);
	vec__push(&s->early, e);
}
