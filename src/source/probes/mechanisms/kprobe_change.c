// SPDX-License-Identifier: BSD-2-Clause
/* Kprobes of a trace event that retire, and those that replace them. Each has a definition of its
 * own, so none of the others is changed, and no hit is counted twice. */
#include "source/probes/session.h"
#include "tracefs.h"

/* Collects the sites that have a kprobe but should have none, or the reverse. */
static void ask(struct probe *p, bool armed)
{
	p->asked.len = 0;
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (plan__is_kernel_site(p->plan, i) && p->armed[i] == armed &&
		    plan_site__is_hooked(&p->plan->sites.data[i]) != armed)
			vec__push(&p->asked, i);
}

/* What the kernel refuses, the plan has as refused. */
static int arm(struct probe *p)
{
	const uint32_t *site;
	int err;

	ask(p, false);
	err = p->asked.len ? kprobe_event__add(p) : 0;
	vec__each (site, &p->asked)
		p->armed[*site] = !err && plan_site__is_hooked(&p->plan->sites.data[*site]);
	return err;
}

/* One that can't be removed, such as the last of the event, only continues to count. */
static void disarm(struct probe *p)
{
	autofree uint64_t *addresses = NULL;

	ask(p, true);
	if (!p->asked.len)
		return;
	addresses = xcalloc(p->asked.len, sizeof(*addresses));
	for (size_t i = 0; i < p->asked.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[p->asked.data[i]];

		addresses[i] = s->vaddr + s->probe_at;
		p->armed[p->asked.data[i]] = false;
	}
	probe__keep_misses(p);
	tracefs__remove_all(p->kernel.tracefs, TRACEFS_KPROBE, addresses, p->asked.len);
	for (size_t i = 0; i < p->asked.len; i++)
		probe__forget_misses(p, p->asked.data[i]);
}

int kprobe_event__change(struct probe *p)
{
	int err = arm(p);

	if (!err)
		disarm(p);
	return err;
}
