// SPDX-License-Identifier: BSD-2-Clause
/* Adds up what probes counted. Targets are resolved when they are reported, since the process
 * may have ended later. */
#include <errno.h>
#include <stdlib.h>
#include "plan/join/join.h"
#include "tally_private.h"

struct tally *tally__new(const struct plan *plan, struct trace *trace)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	t->plan = plan;
	t->trace = trace;
	t->counted = xcalloc(plan->sites.len + 1, sizeof(*t->counted));
	t->retired = xcalloc(plan->sites.len + 1, sizeof(*t->retired));
	t->nsites = plan->sites.len;
	plan_counts__init(&t->edges, plan);
	plan_counts__init(&t->earlier, plan);
	return t;
}

void tally__free(struct tally *t)
{
	if (!t)
		return;
	plan_counts__free(&t->edges);
	plan_counts__free(&t->earlier);
	tally_before__free(t->before_change);
	tally__forget_parts(t);
	target_sums__clear(&t->targets);
	vec__free(&t->passed_on);
	vec__free(&t->cuts);
	vec__free(&t->replaced);
	map64__free(&t->faults);
	map64__free(&t->handlers);
	free(t->counted);
	free(t->retired);
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

static void add_target(struct tally *t, const struct count *n)
{
	const struct plan_site *s = &t->plan->sites.data[n->site];
	struct counted_target found = {.site = n->site, .count = n->taken};
	uint64_t target = n->target;

	if (n->unread && !plan__read_pointer(t->plan, n->site, s->vaddr + n->target, &target))
		return;
	if (was_replaced(t, n->pid, target))
		return;
	found.object = trace__locate(t->trace, n->pid, target, &found.to);
	target_sums__add(&t->targets, &found);
}

int tally__add(struct tally *t, const struct count *n)
{
	if (n->site >= t->plan->sites.len)
		return err__set(EIO, "a counter does not belong to this plan");
	if (n->site >= t->nsites || t->plan->sites.data[n->site].probe == PROBE_CHANGING)
		return 0;
	if (n->has_target) {
		add_target(t, n);
		return 0;
	}
	t->hits += n->taken + n->not_taken;
	t->counted[n->site].taken += n->taken;
	t->counted[n->site].not_taken += n->not_taken;
	return 0;
}

/* ---- threads that leave their path between two counters ---- */

/* True if the thread's next instruction is in a traced function. */
static bool is_traced_at(struct tally *t, const struct event *e, struct plan_cut *out)
{
	struct location at;
	uint32_t object = trace__locate(t->trace, e->pid, e->target, &at);

	*out = (struct plan_cut){at.vaddr, object, -1};
	return object != UINT32_MAX &&
	       plan__traces(t->plan, plan__function_at(t->plan, object, at.vaddr));
}

static uint64_t thread_key(const struct event *e)
{
	return (uint64_t)e->pid << 32 | e->tid;
}

static uint64_t place_key(const struct event *e)
{
	const uint64_t place[] = {thread_key(e), e->target, e->sp};

	return map64__hash(place, sizeof(place));
}

/*
 * Whether a handler will return isn't known: each one counts as a cut until it does, except where
 * the solver already has one, after a system call. If a fault ends the thread, its instruction is
 * known to have been counted.
 */
void tally__signal(struct tally *t, const struct event *e)
{
	struct plan_cut at;

	if (!is_traced_at(t, e, &at))
		return;
	if (e->unhandled && e->fault)
		*map64__put(&t->faults, thread_key(e)) = e->target;
	if (e->unhandled || plan__is_break(t->plan, at.object, at.vaddr))
		return;
	t->cut++;
	/* the faulting instruction is executed again, and its probe counts it again */
	if (!e->fault || plan__hooked_at(t->plan, at.object, at.vaddr) == NO_SITE)
		++*map64__put(&t->handlers, place_key(e));
}

/* The handler returned to where it interrupted the thread, with the same stack: its cut is
 * closed. */
void tally__resume(struct tally *t, const struct event *e)
{
	uint64_t key = place_key(e), *open = map64__get(&t->handlers, key);

	if (!open)
		return;
	t->cut--;
	if (!--*open)
		map64__del(&t->handlers, key);
}

/* Moves a cut after the instruction that faulted: it was counted before it was executed, and the
 * thread went no further. Returns false for a branch, with which the thread has left its block. */
static bool move_after(const struct plan *p, struct plan_cut *at)
{
	uint32_t site = plan__hooked_at(p, at->object, at->vaddr);

	at->vaddr += site != NO_SITE;
	return site == NO_SITE || p->sites.data[site].role != ROLE_BRANCH;
}

void tally__end_thread(struct tally *t, const struct event *e)
{
	const uint64_t *fault = map64__get(&t->faults, thread_key(e));
	bool is_fault = fault && *fault == e->target;
	struct plan_cut at;

	map64__del(&t->faults, thread_key(e));
	if (is_traced_at(t, e, &at) && (!is_fault || move_after(t->plan, &at)))
		vec__push(&t->cuts, at);
}

/* ---- the edges ---- */

void tally__solve(const struct tally *t, struct plan_counts *out)
{
	const struct plan_cut *cut;

	plan_counts__init(out, t->plan);
	memcpy(out->sites, t->counted, t->nsites * sizeof(*t->counted));
	vec__each (cut, &t->cuts)
		vec__push(&out->cuts, *cut);
	for (size_t i = 0; i < t->targets.rows.len; i++) {
		const struct counted_target *target = &t->targets.rows.data[i];
		uint64_t count = target->count - (i < t->passed_on.len ? t->passed_on.data[i] : 0);

		if (count)
			plan_counts__jumped(out, t->plan, target->site, target->object,
					    target->to.vaddr, count);
	}
	if (t->plan->retires)
		plan_counts__bound(out, t->plan, t->retired);
	else
		plan_counts__solve(out, t->plan);
}

/* Returns the counts that were given last. */
static struct edge_counts given_counts(const struct tally *t)
{
	return (struct edge_counts){&t->edges, t->targets.rows.data, t->targets.rows.len};
}

void tally__pass(const struct tally *t, struct output *o)
{
	struct edge_counts c = given_counts(t);

	output__count(o, &c);
}

void tally__give(struct tally *t, struct output *o)
{
	plan_counts__free(&t->edges);
	tally__solve(t, &t->edges);
	tally__forget_untraced(t, &t->edges);
	plan_counts__join(&t->edges, &t->earlier, t->plan);
	t->replaced.len = 0;
	if (o)
		tally__pass(t, o);
}

void tally__reset(struct tally *t)
{
	t->before += plan_counts__events(&t->edges, t->plan);
	memset(t->counted, 0, t->nsites * sizeof(*t->counted));
	plan_counts__free(&t->earlier);
	plan_counts__init(&t->earlier, t->plan);
	target_sums__clear(&t->targets);
	t->passed_on.len = 0;
	tally__forget_parts(t);
	t->cuts.len = 0;
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
	totals->events = t->before + plan_counts__events(&t->edges, t->plan);
	totals->residue = t->edges.residue;
	totals->cut = t->cut;
}
