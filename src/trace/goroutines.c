// SPDX-License-Identifier: BSD-2-Clause
/* Goroutines: the replay treats each as a thread, with events from whichever thread runs it. The
 * probes record when a thread switches to another goroutine. */
#include <stdlib.h>
#include "calls.h"

static bool is_done(const struct thread *g)
{
	return !g->calls.len && !g->filter;
}

static void forget(struct trace *t, uint64_t key, struct thread *g)
{
	tasks__abandon(t, g);
	if (g->other)
		g->other->other = NULL;
	map64__del(&t->goroutines, key);
	thread__free(g);
}

void goroutines__leave(struct trace *t, struct thread *th)
{
	struct thread *g = th->other;

	if (!g)
		return;
	th->other = g->other = NULL;
	if (is_done(g))
		forget(t, goroutine__key(g->pid, g->goroutine), g);
}

static struct thread *find(struct trace *t, uint32_t pid, uint64_t goroutine)
{
	uint64_t key = goroutine__key(pid, goroutine), *slot = map64__get(&t->goroutines, key);
	struct thread *g = slot ? (struct thread *)(uintptr_t)*slot : NULL;

	if (g && g->pid == pid && g->goroutine == goroutine)
		return g;
	if (g)
		forget(t, key, g);
	g = xcalloc(1, sizeof(*g));
	g->pid = pid;
	g->goroutine = goroutine;
	*map64__put(&t->goroutines, key) = (uintptr_t)g;
	return g;
}

void goroutines__run(struct trace *t, struct thread *th, uint64_t goroutine)
{
	struct thread *g;

	if (!th->other || th->other->goroutine != goroutine)
		goroutines__leave(t, th);
	if (!goroutine)
		return;
	g = find(t, th->pid, goroutine);
	if (g->other)
		g->other->other = NULL;
	g->other = th;
	th->other = g;
	g->tid = th->tid;
	/* A signal that moves between threads may have been attributed to another goroutine. */
	g->signals++;
	memcpy(g->comm, th->comm, sizeof(g->comm));
}

void goroutines__end(struct trace *t, uint32_t pid)
{
	VEC(struct thread *) ended = {0};
	struct thread *g, **end;
	uint64_t value;

	for (size_t i = 0; i < t->goroutines.cap; i++) {
		if (!map64__slot(&t->goroutines, i, &value))
			continue;
		g = (struct thread *)(uintptr_t)value;
		if (g->pid == pid)
			vec__push(&ended, g);
	}
	vec__each (end, &ended)
		forget(t, goroutine__key((*end)->pid, (*end)->goroutine), *end);
	vec__free(&ended);
}
