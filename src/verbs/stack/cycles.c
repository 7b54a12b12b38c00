// SPDX-License-Identifier: BSD-2-Clause
/* Threads of which each waits for a lock that the next one holds, or for its end. */
#include "stack.h"

size_t cycle__next(const struct snapshot *s, const struct wait *waits, size_t i)
{
	const struct wait *w = &waits[i];

	if (!w->owner ||
	    (w->kind != WAIT_MUTEX && w->kind != WAIT_RWLOCK && w->kind != WAIT_THREAD))
		return s->threads.len;
	for (size_t k = 0; k < s->threads.len; k++)
		if (s->threads.data[k].at.tid == w->owner)
			return k;
	return s->threads.len;
}

static size_t length_from(const struct snapshot *s, const struct wait *waits, size_t first)
{
	size_t n = 0, i = first;

	do {
		i = cycle__next(s, waits, i);
		n++;
	} while (i < s->threads.len && i != first && n <= s->threads.len);
	return i == first ? n : 0;
}

size_t cycle__find(const struct snapshot *s, const struct wait *waits, size_t *first)
{
	for (*first = 0; *first < s->threads.len; ++*first) {
		size_t n = length_from(s, waits, *first);

		if (n)
			return n;
	}
	return 0;
}
