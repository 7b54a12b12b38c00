// SPDX-License-Identifier: BSD-2-Clause
/* Attaches the probes of a plan, and others in place of those that the kernel refuses. */
#include <errno.h>
#include "select/announce.h"
#include "attach.h"
#include "pipeline/pager.h"

static void on_attached(void *progress, size_t sites, uint64_t work)
{
	progress__attached(progress, sites, work);
}

static int attach_once(struct attaching *a, struct probe_options *o, bool first)
{
	struct progress progress;
	struct source *probes;
	int err = probes__open(a->plan, o, &probes);

	if (err)
		return err;
	*a->source = a->inliner ? inlined__source(a->inliner, probes) : probes;
	if (first)
		announce__cost(a->request, a->plan, *a->source);
	progress__attach(&progress, note__level() == NOTE_NORMAL, plan__hooked(a->plan),
			 plan__attach_work(a->plan));
	o->attached = on_attached;
	o->attached_ctx = &progress;
	err = source__attach(*a->source);
	progress__end(&progress);
	o->attached = NULL;
	return err;
}

/* The kernel may refuse the replacements, too. */
#define MAX_CHOICES 4

/* Where the kernel refused probes that are needed, chooses others that report the same. Nothing
 * has been recorded or counted yet. */
static int attach_others(struct attaching *a, struct probe_options *o)
{
	uint32_t skipped = 0; /* skipped sites that can't be reported anyway */
	int err = 0;

	for (int i = 0; !err && i < MAX_CHOICES && a->plan->skipped > skipped; i++) {
		autofree id_vec chosen = {0};

		if (!plan__choose_again(a->plan, a->options, &chosen))
			return 0;
		announce__others(a->plan, &chosen);
		skipped = a->plan->skipped;
		if (a->output)
			output__plan_extended(a->output);
		source__close(*a->source);
		*a->source = NULL;
		err = attach_once(a, o, false);
	}
	return err;
}

int attach__probes(struct attaching *a, struct probe_options *o)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC);
	struct str by = {0};
	uint32_t skipped = a->plan->skipped;
	int err = attach_once(a, o, true);

	/* counters of copies stay as they are */
	if (!err && a->plan->skipped > skipped &&
	    !(a->inliner && a->plan->placement == PLACEMENT_COUNT))
		err = attach_others(a, o);
	if (err)
		return err;
	if (!a->plan->probes && !a->plan->named.len)
		return err__set(
			ENOTSUP,
			"none of the %zu sites can be probed; bbtrace list --sites shows why",
			a->plan->sites.len);
	source__mechanisms(*a->source, &by);
	if (!by.len)
		str__printf(&by, "nothing but copies of functions");
	note_verbose(
		"%u probes attached by %s in %.3f s; the BPF program is %u verified instructions",
		plan__hooked(a->plan), by.data, (now_ns(CLOCK_MONOTONIC) - start) / 1e9,
		source__facts(*a->source).verified_insns);
	str__free(&by);
	return 0;
}
