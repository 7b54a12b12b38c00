// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a thread's own stack is, for the log of its callers: while its stack pointer is within it,
 * all memory from there to the end can be read. A new thread's stack ends at its first stack
 * pointer. The stack of a thread that ran already ends, at the latest, at its thread control block,
 * which glibc and musl put on top of it; if that is elsewhere, the stack isn't known.
 */
#include "space.h"

/* By itself, the kernel maps nothing this close below a program's first stack (mmap_base() of
 * arch/x86/mm/mmap.c: at least 128 MiB). */
#define GROWS (64ull << 20)

static bool holds(const struct map *m, bool first, uint64_t below)
{
	if (first)
		return m->path && !strcmp(m->path, "[stack]");
	return below - 1 - m->start < m->end - m->start;
}

/* What clone(3) put there for the thread to take is above its first stack pointer. */
static uint64_t end_of_page(uint64_t top)
{
	return ((top - 1) | (LOG_PAGE - 1)) + 1;
}

void thread__find_stack(struct thread *t)
{
	bool first = t->tid == t->process->pid && !t->parent, ran = t->ran || t->stray;
	uint64_t top = thread__get(t, ran ? TRACEE_THREAD : TRACEE_SP);
	map_vec maps = {0};
	const struct map *m;

	if (!t->tracer->stacks)
		return;
	if (t->parent && top - t->stack.start < t->stack.end - t->stack.start)
		return; /* forked, it has its parent's */
	t->stack = (struct thread_stack){0};
	if (maps__read(t->tid, &maps))
		return;
	vec__each (m, &maps)
		if (holds(m, first, top))
			t->stack = first ? (struct thread_stack){m->end - GROWS, m->end}
					 : (struct thread_stack){m->start, end_of_page(top)};
	maps__free(&maps);
}
