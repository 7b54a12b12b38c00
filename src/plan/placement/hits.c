// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kinds of hits, by what their cost depends on: the traps that a hit takes, the size of its record,
 * and whether the probe is a uprobe, a kprobe or a return probe. Costs within a kind differ by some
 * percent, between kinds by a factor of up to 20.
 */
#include "plan/plan.h"
#include "hits.h"

enum hit_kind plan__hit_kind(const struct plan *p, uint32_t site, bool returns)
{
	const struct plan_site *s = &p->sites.data[site];

	if (!s->traps)
		return HIT_KINDS;
	if (p->objects.data[s->object].kernel)
		return returns ? HIT_KERNEL_RETURN : s->entry ? HIT_KERNEL_ENTRY : HIT_KERNEL;
	if (returns)
		return HIT_RETURN;
	if (s->traps == 1)
		return s->entry ? HIT_ENTRY_ONE : HIT_ONE_TRAP;
	return s->entry ? HIT_ENTRY_TWO : HIT_TWO_TRAPS;
}

enum hit_kind hit_kind__sibling(enum hit_kind kind)
{
	static const uint8_t siblings[HIT_KINDS] = {
		[HIT_ONE_TRAP] = HIT_ENTRY_ONE,	 [HIT_TWO_TRAPS] = HIT_ENTRY_TWO,
		[HIT_ENTRY_ONE] = HIT_ONE_TRAP,	 [HIT_ENTRY_TWO] = HIT_TWO_TRAPS,
		[HIT_RETURN] = HIT_KINDS,	 [HIT_KERNEL] = HIT_KERNEL_ENTRY,
		[HIT_KERNEL_ENTRY] = HIT_KERNEL, [HIT_KERNEL_TWICE] = HIT_KINDS,
		[HIT_KERNEL_RETURN] = HIT_KINDS,
	};

	return siblings[kind];
}

enum hit_kind hit_kind__dearer(enum hit_kind kind)
{
	switch (kind) {
	case HIT_ONE_TRAP:
		return HIT_TWO_TRAPS;
	case HIT_ENTRY_ONE:
		return HIT_ENTRY_TWO;
	default:
		return HIT_KINDS;
	}
}
