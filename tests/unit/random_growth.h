/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that are added to a random program's plan while it runs, or removed from it: before, or
 * after, the last ones are code that is not traced. The probes of the new plan are attached one by
 * one, and those that it doesn't want are removed one by one, from one time to another.
 */
#ifndef RANDOM_GROWTH_H
#define RANDOM_GROWTH_H

#include "plan/change/change.h"
#include "random_replay.h"

struct growth {
	unsigned kept;	   /* the functions that are traced all the time; 0: it doesn't change */
	bool removes;	   /* the others are traced first, not later */
	uint64_t from, to; /* when probes are attached and removed */
	uint64_t random;
};

/* May what the others did then be unseen? */
static inline bool growth__hides(const struct growth *g, uint64_t time)
{
	return g->removes ? time >= g->from : time < g->to;
}

struct grown {
	struct random_plan now, next;
	struct plan_change change;
	uint32_t *id; /* by site of next: its number in the extended plan */
	bool *early;  /* by number in the extended plan: probed from the start */
	bool *late;   /* likewise, at the end */
};

/* A refused call of code that is in no plan: its own plan wouldn't have that (may_refuse()). */
static inline bool is_refused_call(const struct code *e, unsigned kept)
{
	return e->refused && e->callee >= kept && (e->how == CALLS || e->how == CALLS_POINTER);
}

/* A jump from added code into the middle of traced functions: their plan knows nothing of it. */
static inline bool leads_into(const struct code *e, unsigned kept)
{
	return e->how == SHARES && e->callee < kept;
}

static inline bool may_grow(const struct program *p, unsigned kept)
{
	for (unsigned f = 0; f < p->functions; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			if (f < kept ? is_refused_call(&p->f[f].code[b], kept)
				     : leads_into(&p->f[f].code[b], kept))
				return false;
	return kept && kept < p->functions;
}

/* ---- the plan before, and what it becomes ---- */

static inline uint32_t same_site(const struct plan *p, const struct plan_site *s)
{
	for (uint32_t i = 0; i < p->sites.len; i++)
		if (p->sites.data[i].vaddr == s->vaddr && p->sites.data[i].role == s->role)
			return i;
	return NO_SITE;
}

static inline void number_sites(struct grown *g)
{
	const struct plan *now = g->now.plan, *next = g->next.plan, *to = &g->change.to;

	g->id = xcalloc(next->sites.len + 1, sizeof(*g->id));
	g->early = xcalloc(to->sites.len + 1, sizeof(*g->early));
	g->late = xcalloc(to->sites.len + 1, sizeof(*g->late));
	for (uint32_t i = 0; i < next->sites.len; i++)
		g->id[i] = same_site(to, &next->sites.data[i]);
	for (uint32_t i = 0; i < to->sites.len; i++) {
		g->early[i] = i < now->sites.len && now->sites.data[i].probe;
		g->late[i] = to->sites.data[i].probe;
	}
}

/* The smaller program doesn't know where calls of the others' code lead. */
static inline void take_targets(struct plan *p, const struct plan *whole)
{
	for (uint32_t i = 0; i < p->sites.len; i++) {
		uint32_t id = same_site(whole, &p->sites.data[i]);

		p->sites.data[i].target = whole->sites.data[id].target;
	}
}

/* prepare: what a test does with each plan; NULL: nothing. False: that change is refused. */
static inline bool make_grown(struct grown *g, const struct program *p,
			      enum plan_placement placement, unsigned events,
			      const struct growth *growth,
			      void (*prepare)(const void *ctx, struct random_plan *r),
			      const void *ctx)
{
	struct program less = *p;

	less.functions = growth->kept;
	lay_out(&g->now, growth->removes ? p : &less, events);
	lay_out(&g->next, growth->removes ? &less : p, events);
	g->now.plan->objects.data[0].object = growth->removes ? &g->now.object : &g->next.object;
	g->next.plan->objects.data[0].object = g->now.plan->objects.data[0].object;
	take_targets(growth->removes ? g->next.plan : g->now.plan,
		     growth->removes ? g->now.plan : g->next.plan);
	place(&g->now, placement, events);
	if (prepare)
		prepare(ctx, &g->now);
	place_after(&g->next, g->now.plan, placement, events);
	if (prepare)
		prepare(ctx, &g->next);
	g->now.plan->placement = placement;
	if (plan__change(g->now.plan, g->next.plan, &g->change))
		return false;
	number_sites(g);
	return true;
}

static inline void grown__free(struct grown *g)
{
	plan_change__free(&g->change);
	plan__free(g->now.plan);
	plan__free(g->next.plan);
	free(g->id);
	free(g->early);
	free(g->late);
}

static inline void extend(struct trace *t, struct grown *g, bool ends)
{
	struct plan_increment i;

	if (ends)
		plan_change__end(&g->change, g->now.plan, &i);
	else
		plan_change__begin(&g->change, g->now.plan, &i);
	plan__extend(g->now.plan, &i);
	trace__plan_extended(t);
	plan_increment__free(&i);
}

/* ---- the records ---- */

static inline uint64_t some_time(const struct growth *growth, uint32_t site, unsigned salt)
{
	uint64_t n = (growth->random + site * 2 + salt) * 0x9e3779b97f4a7c15ull >> 33;

	return growth->from + n % (growth->to - growth->from + 1);
}

static inline bool is_there(const struct grown *g, const struct growth *growth,
			    const struct event *e)
{
	if (e->type == EVENT_SIGNAL || (g->early[e->site] && g->late[e->site]))
		return true;
	return g->late[e->site] ? e->time >= some_time(growth, e->site, 0)
				: e->time < some_time(growth, e->site, 1);
}

/* The records of one moment, without those that another plan's probes make, too. */
static inline void add_records(struct recording *to, struct grown *g, const struct growth *growth,
			       const struct recording *from, size_t *at, size_t moment, bool next)
{
	size_t before = to->records.len;

	for (; *at < from->records.len && from->records.data[*at].moment == moment; ++*at) {
		struct record r = from->records.data[*at];
		bool doubled = false;

		if (next && r.e.type != EVENT_SIGNAL)
			r.e.site = g->id[r.e.site];
		for (size_t i = before; i-- > 0 && to->records.data[i].moment == moment;)
			doubled |= to->records.data[i].e.site == r.e.site;
		if (doubled || !is_there(g, growth, &r.e))
			continue;
		vec__push(&to->records, r);
		to->told.data[moment] |= r.e.type != EVENT_SIGNAL;
	}
}

static inline int by_place(const void *a, const void *b, void *grown)
{
	const struct grown *g = grown;
	const struct record *x = a, *y = b;
	const struct plan_site *sites = g->change.to.sites.data;
	uint64_t at[2] = {0, 0};

	if (x->moment != y->moment)
		return x->moment < y->moment ? -1 : 1;
	at[0] = sites[x->e.site].vaddr;
	at[1] = sites[y->e.site].vaddr;
	return at[0] < at[1] ? -1 : at[0] > at[1];
}

static inline void record_grown(struct recording *to, struct grown *g, const struct growth *growth,
				const struct run *run)
{
	struct recording now = {0}, next = {0};
	size_t at[2] = {0, 0};

	record(&now, &g->now, run);
	record(&next, &g->next, run);
	for (size_t i = 0; i < run->moments.len; i++) {
		vec__push(&to->told, false);
		add_records(to, g, growth, &next, &at[0], i, true);
		add_records(to, g, growth, &now, &at[1], i, false);
	}
	if (to->records.len)
		qsort_r(to->records.data, to->records.len, sizeof(*to->records.data), by_place, g);
	vec__free(&now.records);
	vec__free(&now.told);
	vec__free(&next.records);
	vec__free(&next.told);
}

/* ---- the replay ---- */

static inline void grow_until(struct trace *t, struct grown *g, const struct growth *growth,
			      uint64_t time, unsigned *steps)
{
	if (!*steps && time >= growth->from && ++*steps)
		extend(t, g, false);
	if (*steps == 1 && time >= growth->to && ++*steps)
		extend(t, g, true);
}

/* end: of the run */
static inline void replay_grown(struct grown *g, const struct growth *growth, unsigned events,
				const struct recording *from, uint64_t end, struct replayed *out)
{
	static const struct resolver resolver = {NULL, resolve};
	struct trace_options options = {.events = events};
	struct trace *t = trace__new(g->now.plan, &options, &resolver, on_step, out);
	unsigned steps = 0;
	struct record *r;

	vec__each (r, &from->records) {
		grow_until(t, g, growth, r->e.time, &steps);
		r->e.entry = r->e.type == EVENT_ENTRY ? &r->entry : NULL;
		trace__feed(t, &r->e);
	}
	grow_until(t, g, growth, end, &steps);
	out->finish = out->steps.len;
	trace__finish(t);
	trace__free(t);
}

#endif
