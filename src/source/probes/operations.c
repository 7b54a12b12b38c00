// SPDX-License-Identifier: BSD-2-Clause
/* A set of probes as a source: its operations, for those who know it as nothing else. */
#include "session.h"

static void facts(const struct source *s, struct source_facts *f)
{
	const struct probe *p = (const struct probe *)s;

	f->spares = min_of(f->spares, probe__spares(p));
	f->unspared = probe__unspared(p);
	f->definitions |= probe__by_definitions(p);
	f->filtered |= probe__filtered(p);
	f->verified_insns += probe__verified_insns(p);
	f->left_children += probe__left_children(p);
	f->counted_twice += probe__counted_twice(p);
	f->unseen_ends += probe__unseen_ends(p);
	f->processes = probe__processes(p);
}

static void mechanisms_of(const struct source *s, struct str *out)
{
	probe__mechanisms((const struct probe *)s, out);
}

static uint64_t lost_switches(const struct source *s, size_t *last)
{
	return probe__lost_switches((const struct probe *)s, last);
}

static struct thread_filters thread_filters(struct source *s)
{
	return probe__thread_filters((struct probe *)s);
}

static int change(struct source *s)
{
	return probe__change((struct probe *)s);
}

static int attach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	return probe__attach_sites((struct probe *)s, sites, n);
}

static int detach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	return probe__detach_sites((struct probe *)s, sites, n);
}

static int attach_markers(struct source *s, size_t from)
{
	return probe__attach_markers((struct probe *)s, from);
}

static int watch(struct source *s, const struct probe_watch *w)
{
	return probe__watch((struct probe *)s, w);
}

static int drop_privileges(struct source *s, uint64_t keep, unsigned forbidden)
{
	return probe__drop_privileges((struct probe *)s, keep, forbidden);
}

static void note_value(struct source *s, const struct probe_watch *w)
{
	probe__note_value((struct probe *)s, w);
}

static void exclude(struct source *s, uint32_t pid, bool excluded)
{
	probe__exclude((struct probe *)s, pid, excluded);
}

static void forget_sideband(struct source *s)
{
	probe__forget_sideband((struct probe *)s);
}

const struct source_ops probes_ops = {
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
	.facts = facts,
	.mechanisms = mechanisms_of,
	.lost_switches = lost_switches,
	.thread_filters = thread_filters,
	.change = change,
	.attach_sites = attach_sites,
	.detach_sites = detach_sites,
	.attach_markers = attach_markers,
	.watch = watch,
	.drop_privileges = drop_privileges,
	.note_value = note_value,
	.exclude = exclude,
	.forget_sideband = forget_sideband,
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

bool probes__can_execute(const char *attach, int *err)
{
	return probe__can_execute(attach, err);
}
