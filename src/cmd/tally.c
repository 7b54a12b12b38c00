// SPDX-License-Identifier: BSD-2-Clause
/* Adds up what probes counted. Targets are resolved when they are told, since the process may have
 * ended later. */
#include <errno.h>
#include <stdlib.h>
#include "tally.h"

/* Addresses that got another meaning since the counts were given last. */
struct replaced {
	uint64_t start, end;
	uint32_t pid;
};

struct tally {
	const struct plan *plan;
	struct trace *trace;
	struct site_count *counted; /* by site: its own probe's */
	VEC(struct output_target) targets;
	struct map64 by_place; /* hash of site and place -> index of the last such target + 1 */
	VEC(struct plan_cut) cuts;
	VEC(struct replaced) replaced;
	bool *retired;		  /* by site */
	uint8_t *low;		  /* by site: enum count_low */
	struct plan_counts edges; /* as given last */
	uint64_t hits, before;	  /* all of them; the events before the last reset */
	uint64_t cut;		  /* threads */
};

struct tally *tally__new(const struct plan *plan, struct trace *trace)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	t->plan = plan;
	t->trace = trace;
	t->counted = xcalloc(plan->sites.len + 1, sizeof(*t->counted));
	t->retired = xcalloc(plan->sites.len + 1, sizeof(*t->retired));
	t->low = xcalloc(plan->sites.len + 1, sizeof(*t->low));
	plan_counts__init(&t->edges, plan);
	return t;
}

void tally__free(struct tally *t)
{
	if (!t)
		return;
	plan_counts__free(&t->edges);
	vec__free(&t->targets);
	vec__free(&t->cuts);
	vec__free(&t->replaced);
	map64__free(&t->by_place);
	free(t->counted);
	free(t->retired);
	free(t->low);
	free(t);
}

/* ---- mappings that replace others ---- */

struct replacing {
	struct tally *t;
	uint32_t pid;
};

static void note_replaced(void *ctx, uint64_t start, uint64_t end)
{
	struct replacing *r = ctx;

	vec__push(&r->t->replaced, (struct replaced){start, end, r->pid});
}

void tally__map(struct tally *t, const struct spaces *spaces, uint32_t pid, const struct map *m)
{
	spaces__replaced(spaces, pid, m, note_replaced, &(struct replacing){t, pid});
}

void tally__end_program(struct tally *t, uint32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->replaced.len; i++)
		if (t->replaced.data[i].pid != pid)
			t->replaced.data[kept++] = t->replaced.data[i];
	t->replaced.len = kept;
}

static bool was_replaced(const struct tally *t, uint32_t pid, uint64_t addr)
{
	const struct replaced *r;

	vec__each (r, &t->replaced)
		if (r->pid == pid && addr >= r->start && addr < r->end)
			return true;
	return false;
}

/* ---- targets ---- */

static bool same_place(const struct location *a, const struct location *b)
{
	if (!a->object || !b->object)
		return !a->object && !b->object && a->addr == b->addr;
	return a->vaddr == b->vaddr && (a->object == b->object || !strcmp(a->object, b->object));
}

static uint32_t object_of(const struct plan *plan, const struct location *at)
{
	for (uint32_t i = 0; at->object && i < plan->objects.len; i++)
		if (plan->objects.data[i].path == at->object)
			return i;
	return UINT32_MAX;
}

/* The pointer at this distance from a site, if it is in the file as it is in memory. */
static bool read_pointer(const struct tally *t, uint32_t site, uint64_t distance, uint64_t *value)
{
	const struct plan_site *s = &t->plan->sites.data[site];
	const struct object *o = t->plan->objects.data[s->object].object;
	const struct segment *segment =
		o && !object__is_kernel(o) ? object__segment_at(o, s->vaddr + distance) : NULL;
	const uint8_t *bytes;
	size_t avail;

	if (!segment || segment->write)
		return false;
	bytes = object__bytes(o, s->vaddr + distance, &avail);
	if (!bytes || avail < s->operand.size)
		return false;
	*value = 0;
	memcpy(value, bytes, s->operand.size);
	return true;
}

static void add_target(struct tally *t, const struct count *n)
{
	struct output_target new = {.site = n->site, .count = n->taken}, *old;
	uint64_t *slot, key, target = n->target;

	if (n->unread && !read_pointer(t, n->site, n->target, &target))
		return;
	if (was_replaced(t, n->pid, target))
		return;
	trace__locate(t->trace, n->pid, target, &new.to);
	key = ((new.to.object ? new.to.vaddr : new.to.addr) * 0x9e3779b97f4a7c15ull) ^
	      (uint64_t)n->site << 32;
	/* equal keys of different places are chained by probing */
	for (;; key++) {
		slot = map64__put(&t->by_place, key);
		old = *slot ? &t->targets.data[*slot - 1] : NULL;
		if (!old || (old->site == new.site &&same_place(&old->to, &new.to)))
			break;
	}
	if (old) {
		old->count += n->taken;
		return;
	}
	vec__push(&t->targets, new);
	*slot = t->targets.len;
}

int tally__add(struct tally *t, const struct count *n)
{
	if (n->site >= t->plan->sites.len)
		return err__set(EIO, "a counter does not belong to this plan");
	if (n->has_target) {
		add_target(t, n);
		return 0;
	}
	t->hits += n->taken + n->not_taken;
	t->counted[n->site].taken += n->taken;
	t->counted[n->site].not_taken += n->not_taken;
	return 0;
}

/* ---- threads that ended between two counters ---- */

void tally__end_thread(struct tally *t, const struct event *e)
{
	struct location at;
	uint32_t object;

	trace__locate(t->trace, e->pid, e->target, &at);
	object = object_of(t->plan, &at);
	if (object != UINT32_MAX && plan__function_at(t->plan, object, at.vaddr) != NO_FUNCTION)
		vec__push(&t->cuts, (struct plan_cut){at.vaddr, object, -1});
}

/* ---- the edges ---- */

/* ---- lower bounds, where probes were removed ---- */

/* What a site counted that showed a side of a conditional, whose own probe counted as well at
 * first. */
static void add_sides(struct tally *t)
{
	const struct plan_side *side;

	vec__each (side, &t->plan->sides) {
		struct site_count *n = &t->edges.sites[side->site];
		uint64_t *of = side->taken ? &n->taken : &n->not_taken;
		const struct site_count *seen = &t->counted[side->witness];

		if (!t->retired[side->site])
			continue;
		*of = max_of(*of, seen->taken + seen->not_taken);
		/* it has been watched all the time */
		if (!*of && t->plan->sites.data[side->witness].probe == PROBE_COUNT)
			t->low[side->site] &= side->taken ? ~LOW_TAKEN : ~LOW_NOT_TAKEN;
	}
}

/* Blocks without a branch, in the order of their addresses: what came in by the edges before. */
static void bound_blocks(struct tally *t)
{
	const struct plan *p = t->plan;

	for (uint32_t i = 0; i < p->blocks.len; i++)
		t->edges.blocks[i] = 0;
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];
		const struct site_count *n = b->site == NO_SITE ? NULL : &t->edges.sites[b->site];
		uint64_t *own = &t->edges.blocks[i];

		if (n)
			*own = max_of(*own, n->taken + n->not_taken);
		if (b->next != NO_BLOCK && (!n || p->sites.data[b->site].kind == BRANCH_JCC))
			t->edges.blocks[b->next] += n ? n->not_taken : *own;
		if (b->taken != NO_BLOCK && n)
			t->edges.blocks[b->taken] += n->taken;
	}
}

static void bound_entries(struct tally *t)
{
	const struct plan_function *f;

	vec__each (f, &t->plan->functions) {
		const struct site_count *n =
			f->entry_site == NO_SITE ? NULL : &t->edges.sites[f->entry_site];

		if (n && f->entry_block < t->plan->blocks.len)
			t->edges.blocks[f->entry_block] =
				max_of(t->edges.blocks[f->entry_block], n->taken + n->not_taken);
	}
}

static void bound(struct tally *t)
{
	for (size_t i = 0; i < t->plan->sites.len; i++)
		t->low[i] = t->retired[i] ? LOW_TAKEN | LOW_NOT_TAKEN : 0;
	add_sides(t);
	bound_blocks(t);
	bound_entries(t);
}

void tally__give(struct tally *t, struct output *o)
{
	struct output_counts counts = {.edges = &t->edges,
				       .targets = t->targets.data,
				       .ntargets = t->targets.len,
				       .low = t->low};
	const struct output_target *target;
	const struct plan_cut *cut;

	plan_counts__free(&t->edges);
	plan_counts__init(&t->edges, t->plan);
	memcpy(t->edges.sites, t->counted, t->plan->sites.len * sizeof(*t->counted));
	vec__each (cut, &t->cuts)
		vec__push(&t->edges.cuts, *cut);
	vec__each (target, &t->targets)
		plan_counts__jumped(&t->edges, t->plan, target->site,
				    object_of(t->plan, &target->to), target->to.vaddr,
				    target->count);
	if (t->plan->retires)
		bound(t);
	else
		plan_counts__solve(&t->edges, t->plan);
	t->replaced.len = 0;
	if (o)
		output__count(o, &counts);
}

static uint64_t known(uint64_t count)
{
	return count == COUNT_UNKNOWN ? 0 : count;
}

/* Entries and branches. */
static uint64_t events_of(const struct tally *t)
{
	const struct plan_function *f;
	uint64_t sum = 0;

	for (size_t i = 0; i < t->plan->sites.len; i++) {
		const struct site_count *n = &t->edges.sites[i];

		if (t->plan->sites.data[i].kind == BRANCH_NONE || t->plan->entries_only)
			continue;
		sum += known(n->taken) + known(n->not_taken);
	}
	vec__each (f, &t->plan->functions)
		if (f->entry_block < t->plan->blocks.len && !(f->flags & FUNCTION_RANGE))
			sum += known(t->edges.blocks[f->entry_block]);
	return sum;
}

void tally__reset(struct tally *t)
{
	t->before += events_of(t);
	memset(t->counted, 0, t->plan->sites.len * sizeof(*t->counted));
	t->targets.len = 0;
	t->cuts.len = 0;
	map64__free(&t->by_place);
	t->by_place = (struct map64){0};
}

const struct site_count *tally__counted(const struct tally *t)
{
	return t->counted;
}

void tally__retire(struct tally *t, uint32_t site)
{
	t->retired[site] = true;
}

void tally__cut(struct tally *t, uint64_t threads)
{
	t->cut += threads;
}

uint64_t tally__hits(const struct tally *t)
{
	return t->hits;
}

void tally__totals(const struct tally *t, struct trace_totals *totals)
{
	totals->events = t->before + events_of(t);
	totals->residue = t->edges.residue;
	totals->cut = t->cut;
}
