// SPDX-License-Identifier: BSD-2-Clause
/*
 * Removes probes that have shown all they can. Counters of copies stay, since they cost next to
 * nothing. A conditional of which one side was seen is observed from its unseen side, if only that
 * conditional leads there: by the site at the start of that side, which isn't hit until it is
 * taken.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan/placement/cost.h"
#include "select/costs.h"
#include "retire.h"
#include "pipeline/counts/tally.h"

/* Most kprobes to remove in one round: for each the kernel waits up to some 20 ms. */
#define KERNEL_ROUND 32

struct retire retire__begin(const struct request *req, const struct plan *plan)
{
	return (struct retire){.hits = req->record.once ? max_of(req->record.retire, (uint64_t)1)
							: req->record.retire,
			       .strict = req->record.once,
			       .last = xcalloc(plan->sites.len + 1, sizeof(uint64_t))};
}

void retire__end(struct retire *r)
{
	free(r->last);
}

static uint64_t hits_of(const struct site_count *n)
{
	return n->taken + n->not_taken;
}

/* True if the site may lead to targets that were not seen. */
static bool has_targets(const struct plan_site *s)
{
	return s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL;
}

/* Returns the side of a conditional that was not seen, if a site shows it; else NULL. */
static const struct plan_side *unseen_side(const struct plan *p, uint32_t site,
					   const struct site_count *n)
{
	size_t low = 0, high = p->sides.len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->sides.data[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < p->sides.len && p->sides.data[low].site == site; low++)
		if (p->sides.data[low].taken == !n->taken)
			return &p->sides.data[low];
	return NULL;
}

/* True if this site has shown all that it can, so that its probe can be removed. *watch is the
 * site that gets one instead. */
static bool is_done(const struct retire *r, const struct plan *p, uint32_t site,
		    const struct site_count *n, uint32_t *watch)
{
	const struct plan_site *s = &p->sites.data[site];
	const struct plan_side *side;

	*watch = NO_SITE;
	if (hits_of(n) < r->hits)
		return false;
	if (r->strict && has_targets(s))
		return false;
	if (!plan_site__is_conditional(s) || (n->taken && n->not_taken))
		return true;
	side = unseen_side(p, site, n);
	if (side && p->sites.data[side->witness].refusal)
		side = NULL;
	if (side)
		*watch = side->witness;
	return side || !r->strict;
}

static void set_probe(struct plan *p, uint32_t site, enum probe_how how)
{
	struct plan_site *s = &p->sites.data[site];

	if (s->probe == how)
		return;
	s->probe = how;
	p->probes += how == PROBE_COUNT ? 1 : -1;
}

struct change {
	uint32_t site;
	uint8_t before;
};
typedef VEC(struct change) change_vec;

static void change(struct plan *p, change_vec *changes, uint32_t site, enum probe_how how)
{
	vec__push(changes, (struct change){site, p->sites.data[site].probe});
	set_probe(p, site, how);
}

/*
 * Retires a site. If the kernel refuses the probe of the watching site, the old one stays until it
 * is in place; a watching site that was hit before needs none. Returns false if the round is full.
 */
static bool retire_site(struct plan *p, change_vec *changes, const struct site_count *counted,
			uint32_t site, uint32_t watch)
{
	bool watches = watch != NO_SITE && !hits_of(&counted[watch]);
	bool kernel = plan__is_kernel_site(p, site);

	if (!kernel || !watches || p->sites.data[watch].probe == PROBE_COUNT)
		change(p, changes, site, PROBE_NONE);
	if (watches && p->sites.data[watch].probe != PROBE_COUNT)
		change(p, changes, watch, PROBE_COUNT);
	return !kernel || changes->len < KERNEL_ROUND;
}

int retire__tick(struct retire *r, struct plan *plan, struct source *source, struct tally *tally)
{
	const struct site_count *counted = tally__counted(tally);
	change_vec changes = {0};
	struct change *c;
	uint32_t watch;
	int err = 0;

	if (!r->hits || r->over)
		return 0;
	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (plan->sites.data[i].probe == PROBE_COUNT &&
		    is_done(r, plan, i, &counted[i], &watch) &&
		    !retire_site(plan, &changes, counted, i, watch))
			break;
	if (changes.len)
		err = source__change(source);
	vec__each (c, &changes) {
		if (err)
			set_probe(plan, c->site, c->before);
		else if (c->before != PROBE_NONE && plan->sites.data[c->site].probe == PROBE_NONE)
			tally__retire(tally, c->site), r->removed++;
	}
	r->rounds += changes.len && !err;
	vec__free(&changes);
	if (err == -ESRCH || err == -EINTR) /* the process has ended */
		r->over = true, err = 0;
	return err;
}

/* Returns what this number of hits of a site took, ns. */
static uint64_t price_of(const struct plan *p, uint32_t site, uint64_t hits)
{
	bool kernel = plan__is_kernel_site(p, site);
	const struct cost_row *row =
		cost__find(costs__known(p->arch), kernel, kernel ? "kprobe_event" : "uprobe_multi");

	return row ? hits * row->cost[cost__class(row, &p->sites.data[site])] : 0;
}

static uint32_t counted_by_copies(const struct plan *p)
{
	const struct plan_site *s;
	uint32_t n = 0;

	vec__each (s, &p->sites)
		n += s->probe == PROBE_INLINE_COUNT;
	return n;
}

void retire__report(const struct retire *r, const struct plan *plan, const struct tally *tally)
{
	const struct site_count *counted = tally__counted(tally);
	uint64_t hits = 0, ns = 0;
	uint32_t stay = 0, copied = counted_by_copies(plan), left = plan->probes - copied, watch;

	if (!r->hits)
		return;
	if (copied)
		note("%u places are counted by copies of functions, for about a nanosecond each "
		     "time: they stay",
		     copied);
	if (copied && !left && !r->removed)
		return;
	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *s = &plan->sites.data[i];

		if (s->probe != PROBE_COUNT || hits_of(&counted[i]) < r->hits ||
		    is_done(r, plan, i, &counted[i], &watch))
			continue;
		stay++;
		hits += hits_of(&counted[i]);
		ns += price_of(plan, i, hits_of(&counted[i]));
	}
	if (!stay)
		note("%llu probes were removed in %llu rounds, %u are left",
		     (unsigned long long)r->removed, (unsigned long long)r->rounds, left);
	else
		note("%llu probes were removed in %llu rounds, %u are left; %u of these were hit %llu "
		     "times, which took about %.3f s: no other place shows what they have not shown yet",
		     (unsigned long long)r->removed, (unsigned long long)r->rounds, left, stay,
		     (unsigned long long)hits, ns / 1e9);
}
