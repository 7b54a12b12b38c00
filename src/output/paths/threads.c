// SPDX-License-Identifier: BSD-2-Clause
/* The open calls of one thread: looked up, and ended. */
#include "calls.h"

struct path_call *path_calls__find(const struct path_thread *th, uint64_t call)
{
	for (size_t i = th->calls.len; i-- > 0;)
		if (th->calls.data[i].call == call)
			return &th->calls.data[i];
	return NULL;
}

struct path_thread *path_calls__of(struct path_counts *p, const struct step *s)
{
	uint64_t key = step__thread_key(s), *slot;

	if (p->last && p->last_key == key)
		return p->last;
	slot = map64__put(&p->threads, key);
	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct path_thread));
	p->last_key = key;
	p->last = (struct path_thread *)(uintptr_t)*slot;
	return p->last;
}

void path_calls__pop(struct path_thread *th)
{
	th->calls.len--;
	/* its caller, if it was left as well */
	if (th->calls.len && vec__last(&th->calls)->dormant) {
		vec__last(&th->calls)->dormant = false;
		th->dormant--;
	}
}
