// SPDX-License-Identifier: BSD-2-Clause
/* The open calls of each thread, by their numbers, the one that ran last at the end. */
#include <stdlib.h>
#include "calls.h"

/* The most calls of a thread that others were left for; beyond, the older half is given up. */
#define MAX_DORMANT 1024

static void give_up_older_half(struct path_counts *p, struct path_thread *th)
{
	size_t kept = 0, given = 0;

	for (size_t i = 0; i < th->calls.len; i++) {
		struct path_call *c = &th->calls.data[i];

		if (c->dormant && given < MAX_DORMANT / 2) {
			path__give_up(p, c);
			given++;
		} else {
			th->calls.data[kept++] = *c;
		}
	}
	th->calls.len = kept;
	th->dormant -= given;
}

struct path_call *path_calls__current(struct path_counts *p, struct path_thread *th, uint64_t call)
{
	struct path_call *c = path_calls__find(th, call), moved;
	size_t at;

	if (!c || c == vec__last(&th->calls))
		return c;
	at = c - th->calls.data;
	moved = *c;
	for (size_t i = at + 1; i < th->calls.len; i++) {
		th->dormant += !th->calls.data[i].dormant;
		th->calls.data[i].dormant = true;
		th->calls.data[i - 1] = th->calls.data[i];
	}
	th->dormant -= moved.dormant;
	moved.dormant = false;
	*vec__last(&th->calls) = moved;
	if (th->dormant > MAX_DORMANT)
		give_up_older_half(p, th);
	return vec__last(&th->calls);
}

static void free_thread(struct path_counts *p, struct path_thread *th)
{
	struct path_call *c;

	vec__each (c, &th->calls)
		path__give_up(p, c);
	vec__free(&th->calls);
	vec__free(&th->ended);
	vec__free(&th->beginning);
	free(th);
}

void path_calls__end(struct path_counts *p, const struct step *s)
{
	struct path_thread *th = path_calls__of(p, s);

	map64__del(&p->threads, step__thread_key(s));
	p->last = NULL;
	free_thread(p, th);
}

void path_calls__end_all(struct path_counts *p)
{
	uint64_t value;

	for (size_t i = 0; i < p->threads.cap; i++)
		if (map64__slot(&p->threads, i, &value))
			free_thread(p, (struct path_thread *)(uintptr_t)value);
	map64__free(&p->threads);
	p->last = NULL;
}
