// SPDX-License-Identifier: BSD-2-Clause
/* The slot of an area that a thread logs to: what its memory says, which the program may write to.
 */
#include <time.h>
#include "ring.h"
#include "target.h"

struct log_ring *area__ring(const struct area *a, uint32_t slot)
{
	return (struct log_ring *)(void *)(a->mem + slot * a->slot_size);
}

/* Returns its address in the program. */
uint64_t area__slot_base(const struct area *a, uint32_t slot)
{
	return a->base + slot * a->slot_size;
}

bool thread__lost_slot(struct thread *t)
{
	uint64_t base = t->area ? area__slot_base(t->area, t->slot) : 0;

	return t->area && !thread__load_regs(t) && thread__get(t, TRACEE_LOG) != base;
}

/* What its memory says is taken if it can be, and doesn't go back; else the last that could. */
uint64_t thread__position(struct thread *t)
{
	uint64_t position;

	if (!t->area)
		return 0;
	if (ring__position(area__ring(t->area, t->slot), area__slot_base(t->area, t->slot),
			   &position))
		t->position = max_of(t->position, position);
	return t->position;
}

bool thread__asks(const struct thread *t)
{
	return t->area && __atomic_load_n(&area__ring(t->area, t->slot)->asks, __ATOMIC_ACQUIRE);
}

void thread__take_question(struct thread *t)
{
	if (t->area)
		__atomic_store_n(&area__ring(t->area, t->slot)->asks, 0, __ATOMIC_RELEASE);
}

void thread__hurry(struct thread *t)
{
	if (t->area)
		__atomic_store_n(&area__ring(t->area, t->slot)->patience, 0, __ATOMIC_RELAXED);
}

/* ---- waiting for the reader ---- */

/* What the program writes to its log can't make this process wait for longer: all waits within a
 * second, and others are served between two. */
#define AWAIT_NS       20000000ull  /* at one go */
#define AWAIT_ALL_NS   200000000ull /* in a second */
#define AWAIT_PAUSE_NS 200000

/* Returns true if its log waits for the reader, which has looked as recently as the log demands. */
static bool awaits_reader(const struct thread *t)
{
	const struct log_ring *r = area__ring(t->area, t->slot);
	uint64_t beat = __atomic_load_n(&r->beat, __ATOMIC_RELAXED);
	uint64_t patience = __atomic_load_n(&r->patience, __ATOMIC_RELAXED);

	return ring__is_full(r) && (int64_t)(t->tracer->arch->ticks() - beat) < (int64_t)patience;
}

/* ns that may be waited for now. */
static uint64_t may_await(struct tracer *s, uint64_t now)
{
	if (now - s->awaited_since > 1000000000ull) {
		s->awaited_since = now;
		s->awaited = 0;
	}
	return min_of(AWAIT_NS, AWAIT_ALL_NS - min_of(s->awaited, AWAIT_ALL_NS));
}

void thread__await_reader(struct thread *t)
{
	const struct timespec pause = {.tv_nsec = AWAIT_PAUSE_NS};
	uint64_t start = now_ns(CLOCK_MONOTONIC), now = start;
	uint64_t most = may_await(t->tracer, start);

	if (!t->area || !awaits_reader(t))
		return;
	while (now - start < most && awaits_reader(t)) {
		nanosleep(&pause, NULL);
		now = now_ns(CLOCK_MONOTONIC);
	}
	t->tracer->awaited += now - start;
	/* it drops its records then, which are counted */
	if (awaits_reader(t))
		thread__hurry(t);
}
