// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which threads of two runs are the same. A thread is identified by the thread that made it, the
 * function of its first step, and how many such threads that one made before. PIDs identify
 * nothing.
 */
#include <stdlib.h>
#include "diff/paths.h"

/* The first function of that name: another build's number is another one. */
static uint64_t function_of(const struct paths *p, const struct path *t)
{
	return outcomes__function(p->outcomes, t->about.function);
}

/* Returns what identifies each thread; a thread is numbered after the one that made it. */
static uint64_t *find_names(const struct paths *p)
{
	uint64_t *names = xcalloc(p->threads.len + 1, sizeof(*names));
	struct map64 made = {0};

	for (size_t i = 0; i < p->threads.len; i++) {
		const struct path *t = p->threads.data[i];
		uint64_t key[] = {t->about.parent == SIZE_MAX ? 0 : names[t->about.parent],
				  t->about.steps ? function_of(p, t) : UINT64_MAX, 0};

		key[2] = ++*map64__put(&made, map64__hash(key, sizeof(key)));
		names[i] = map64__hash(key, sizeof(key));
	}
	map64__free(&made);
	return names;
}

/* If the parents differ: by function and order. */
static uint64_t *find_looser_names(const struct paths *p, const bool *paired)
{
	uint64_t *names = xcalloc(p->threads.len + 1, sizeof(*names));
	struct map64 made = {0};

	for (size_t i = 0; i < p->threads.len; i++) {
		uint64_t key[] = {function_of(p, p->threads.data[i]), 0};

		if (paired[i] || !p->threads.data[i]->about.steps)
			continue;
		key[1] = ++*map64__put(&made, map64__hash(key, sizeof(key)));
		names[i] = map64__hash(key, sizeof(key));
	}
	map64__free(&made);
	return names;
}

struct matching {
	const struct paths *runs[SIDES];
	bool *paired[SIDES];
	thread_pairs *out;
};

static bool is_open(const struct matching *m, int side, size_t thread)
{
	return !m->paired[side][thread] && m->runs[side]->threads.data[thread]->about.steps;
}

static void pair(struct matching *m, uint64_t *a, uint64_t *b)
{
	struct map64 by_name = {0};

	for (size_t i = 0; i < m->runs[SIDE_B]->threads.len; i++)
		if (is_open(m, SIDE_B, i))
			*map64__put(&by_name, b[i]) = i + 1;
	for (size_t i = 0; i < m->runs[SIDE_A]->threads.len; i++) {
		const uint64_t *other = is_open(m, SIDE_A, i) ? map64__get(&by_name, a[i]) : NULL;

		if (!other)
			continue;
		m->paired[SIDE_A][i] = m->paired[SIDE_B][*other - 1] = true;
		vec__push(m->out, (struct thread_pair){i, *other - 1});
	}
	map64__free(&by_name);
	free(a);
	free(b);
}

static int by_first(const void *a, const void *b)
{
	const struct thread_pair *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

void threads__match(const struct paths *a, const struct paths *b, thread_pairs *out)
{
	struct matching m = {
		{a, b}, {xcalloc(a->threads.len + 1, 1), xcalloc(b->threads.len + 1, 1)}, out};

	pair(&m, find_names(a), find_names(b));
	pair(&m, find_looser_names(a, m.paired[SIDE_A]), find_looser_names(b, m.paired[SIDE_B]));
	for (size_t i = 0; i < a->threads.len; i++)
		if (is_open(&m, SIDE_A, i))
			vec__push(out, (struct thread_pair){i, SIZE_MAX});
	for (size_t i = 0; i < b->threads.len; i++)
		if (is_open(&m, SIDE_B, i))
			vec__push(out, (struct thread_pair){SIZE_MAX, i});
	vec__sort(out, by_first);
	free(m.paired[SIDE_A]);
	free(m.paired[SIDE_B]);
}
