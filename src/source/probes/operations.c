// SPDX-License-Identifier: BSD-2-Clause
/* A set of probes as a source: the table of its operations. */
#include "session.h"

static const struct source_ops probes_ops = {
	.attach = probe__attach,
	.start = probe__start,
	.stop = probe__stop,
	.take = probe__take,
	.settled = probe__settled,
	.catch_up = probe__catch_up,
	.counts = probe__count,
	.misses = probe__misses,
	.losses = probe__losses,
	.close = probe__close,
	.park = probe__park,
	.unpark = probe__unpark,
	.facts = probe__facts,
	.mechanisms = probe__mechanisms,
	.lost_switches = probe__lost_switches,
	.thread_filters = probe__thread_filters,
	.change = probe__change,
	.attach_sites = probe__attach_sites,
	.detach_sites = probe__detach_sites,
	.attach_markers = probe__attach_markers,
	.watch = probe__watch,
	.drop_privileges = probe__drop_privileges,
	.note_value = probe__note_value,
	.exclude = probe__exclude,
	.forget_sideband = probe__forget_sideband,
};

int probes__open(struct plan *plan, const struct probe_options *options, struct source **out)
{
	struct probe *p;
	int err = probe__open(plan, options, &p);

	*out = err ? NULL : &p->source;
	if (!err)
		p->source.ops = &probes_ops;
	return err;
}
