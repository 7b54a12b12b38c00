// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which functions keep their copies in an address space. A program may change its own code, and
 * what it writes has to be executed: a function whose code isn't that of its file loses its copy.
 * Functions that have patches among its bytes lose theirs with it, since its original is executed
 * again.
 */
#include "text.h"

const struct plan_function *loaded__planned(const struct tracer *s, const struct loaded *l,
					    uint32_t function)
{
	return &s->plan->functions.data[l->image->functions.data[function].function];
}

/* Functions have their patches one after the other. */
uint32_t loaded__function_of(const struct loaded *l, const struct copy_patch *p)
{
	size_t n = p - l->image->patches.data, low = 0, high = l->image->functions.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->image->functions.data[middle].patches_end <= n)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static const struct copy_patch *nth(const struct loaded *l, size_t n)
{
	return &l->image->patches.data[l->image->patches_by_vaddr.data[n]];
}

/* The first one that ends after vaddr. */
static size_t first_after(const struct loaded *l, uint64_t vaddr)
{
	size_t low = 0, high = l->image->patches_by_vaddr.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (nth(l, middle)->vaddr + nth(l, middle)->len <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Sets the functions whose patches are in this range. */
static void set_in(const struct tracer *s, const struct loaded *l, const struct range *r,
		   enum copy_state state)
{
	size_t n = first_after(l, r->vaddr);

	for (; n < l->image->patches_by_vaddr.len && nth(l, n)->vaddr < r->vaddr + r->size; n++)
		loaded__set_state(s, l, loaded__function_of(l, nth(l, n)), state);
}

void loaded__set_state(const struct tracer *s, const struct loaded *l, uint32_t function,
		       enum copy_state state)
{
	const struct plan_function *pf = loaded__planned(s, l, function);

	if (l->states[function] >= state)
		return;
	l->states[function] = state;
	for (size_t k = 0; k < pf->nranges; k++)
		set_in(s, l, &pf->ranges[k], state);
}

size_t loaded__count(const struct loaded *l, enum copy_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < l->image->functions.len; i++)
		n += l->states[i] == state;
	return n;
}

bool loaded__may_enter(const struct tracer *s, const struct loaded *l, uint64_t vaddr)
{
	uint32_t function =
		l->restored ? plan__function_at(s->plan, l->image->object, vaddr) : NO_FUNCTION;

	if (!l->restored)
		return true;
	for (uint32_t i = 0; i < l->image->functions.len; i++)
		if (l->image->functions.data[i].function == function)
			return l->states[i] == STATE_IN_PLACE;
	return false;
}

/* ---- what is reported ---- */

void loaded__notify_lost(struct tracer *s, const struct process *p, struct loaded *l)
{
	size_t lost = loaded__count(l, STATE_LOST);

	for (size_t i = 0; lost > l->lost_notified && i < l->image->functions.len; i++) {
		struct notice notice = {.type = NOTICE_LOST,
					.pid = (uint32_t)p->pid,
					.tid = (uint32_t)p->pid,
					.object = l->image->object,
					.function = l->image->functions.data[i].function,
					.base = l->entries[i],
					.time = now_ns(CLOCK_MONOTONIC)};

		if (l->states[i] != STATE_LOST || l->states_notified[i])
			continue;
		l->states_notified[i] = true;
		if (!p->quiet)
			tracer__notify(s, &notice, -1);
	}
	l->lost_notified = lost;
}
