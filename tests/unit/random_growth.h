/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that are added to a random program's plan while it runs: until a time the last ones are
 * code that is in no plan. Then they are added, and the probes of the new placement are attached
 * one by one, and those that it doesn't need are removed one by one, until a later time.
 */
#ifndef RANDOM_GROWTH_H
#define RANDOM_GROWTH_H

#include "random_replay.h"

struct growth {
	unsigned kept;	   /* the functions that are traced from the start; 0: it doesn't grow */
	uint64_t from, to; /* when probes are attached and removed */
	uint64_t random;
};

struct grown {
	struct random_plan base, full;
	uint32_t *id; /* by site of full: its number in the extended plan */
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
	struct plan *base = g->base.plan;
	const struct plan *full = g->full.plan;
	uint32_t next = base->sites.len;

	g->id = xcalloc(full->sites.len, sizeof(*g->id));
	g->early = xcalloc(base->sites.len + full->sites.len, sizeof(*g->early));
	g->late = xcalloc(base->sites.len + full->sites.len, sizeof(*g->late));
	for (uint32_t i = 0; i < full->sites.len; i++) {
		uint32_t id = same_site(base, &full->sites.data[i]);

		g->id[i] = id == NO_SITE ? next++ : id;
		g->late[g->id[i]] = full->sites.data[i].probe;
		if (id != NO_SITE)
			base->sites.data[id].target = full->sites.data[i].target;
	}
	for (uint32_t i = 0; i < base->sites.len; i++)
		g->early[i] = base->sites.data[i].probe;
}

static inline void make_grown(struct grown *g, const struct program *p,
			      enum plan_placement placement, unsigned events,
			      const struct growth *growth)
{
	struct program before = *p;

	before.functions = growth->kept;
	make_plan(&g->base, &before, placement, events);
	make_plan(&g->full, p, placement, events);
	number_sites(g);
}

static inline void grown__free(struct grown *g)
{
	plan__free(g->base.plan);
	plan__free(g->full.plan);
	free(g->id);
	free(g->early);
	free(g->late);
}

static inline uint32_t new_id(const struct grown *g, uint32_t site)
{
	return site == NO_SITE ? NO_SITE : g->id[site];
}

static inline void amend(struct plan_increment *i, uint32_t id, const struct plan_site *s,
			 enum probe_how how)
{
	vec__push(&i->amended_sites, id);
	vec__push(&i->rows.sites, *s);
	vec__last(&i->rows.sites)->probe = how;
}

/* The code of the added functions; probes are about to be attached and removed. */
static inline void add_code(const struct grown *g, struct plan_increment *i)
{
	const struct plan *base = g->base.plan, *full = g->full.plan;

	i->rows.unprobed_rets = full->unprobed_rets;
	for (size_t f = base->functions.len; f < full->functions.len; f++) {
		vec__push(&i->rows.functions, full->functions.data[f]);
		vec__last(&i->rows.functions)->entry_site =
			new_id(g, full->functions.data[f].entry_site);
	}
	for (uint32_t b = 0; b < full->blocks.len; b++) {
		if (b < base->blocks.len)
			vec__push(&i->amended_blocks, b);
		vec__push(&i->rows.blocks, full->blocks.data[b]);
		vec__last(&i->rows.blocks)->site = new_id(g, full->blocks.data[b].site);
	}
	for (size_t t = base->table.len; t < full->table.len; t++)
		vec__push(&i->rows.table, full->table.data[t]);
	for (uint32_t s = 0; s < base->sites.len; s++)
		if (g->early[s] != g->late[s])
			amend(i, s, &base->sites.data[s], PROBE_CHANGING);
	for (size_t s = 0; s < full->sites.len; s++)
		if (g->id[s] >= base->sites.len) {
			vec__push(&i->rows.sites, full->sites.data[s]);
			if (full->sites.data[s].probe)
				vec__last(&i->rows.sites)->probe = PROBE_CHANGING;
		}
}

/* All of them are. */
static inline void add_probes(const struct grown *g, struct plan_increment *i)
{
	const struct plan *p = g->base.plan;

	for (uint32_t s = 0; s < p->sites.len; s++)
		if (g->early[s] != g->late[s])
			amend(i, s, &p->sites.data[s], g->late[s] ? PROBE_TRAP : PROBE_NONE);
}

static inline void extend(struct trace *t, struct grown *g,
			  void (*add)(const struct grown *g, struct plan_increment *i))
{
	struct plan_increment i = {0};

	add(g, &i);
	plan__extend(g->base.plan, &i);
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
			       const struct recording *from, size_t *at, size_t moment, bool full)
{
	size_t before = to->records.len;

	for (; *at < from->records.len && from->records.data[*at].moment == moment; ++*at) {
		struct record r = from->records.data[*at];
		bool doubled = false;

		if (full && r.e.type != EVENT_SIGNAL)
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
	uint64_t at[2] = {0, 0};

	if (x->moment != y->moment)
		return x->moment < y->moment ? -1 : 1;
	for (uint32_t s = 0; s < g->full.plan->sites.len; s++) {
		at[0] = g->id[s] == x->e.site ? g->full.plan->sites.data[s].vaddr : at[0];
		at[1] = g->id[s] == y->e.site ? g->full.plan->sites.data[s].vaddr : at[1];
	}
	for (uint32_t s = 0; s < g->base.plan->sites.len; s++) {
		at[0] = s == x->e.site ? g->base.plan->sites.data[s].vaddr : at[0];
		at[1] = s == y->e.site ? g->base.plan->sites.data[s].vaddr : at[1];
	}
	return at[0] < at[1] ? -1 : at[0] > at[1];
}

static inline void record_grown(struct recording *to, struct grown *g, const struct growth *growth,
				const struct run *run)
{
	struct recording base = {0}, full = {0};
	size_t at[2] = {0, 0};

	record(&base, &g->base, run);
	record(&full, &g->full, run);
	for (size_t i = 0; i < run->moments.len; i++) {
		vec__push(&to->told, false);
		add_records(to, g, growth, &full, &at[0], i, true);
		add_records(to, g, growth, &base, &at[1], i, false);
	}
	if (to->records.len)
		qsort_r(to->records.data, to->records.len, sizeof(*to->records.data), by_place, g);
	vec__free(&base.records);
	vec__free(&base.told);
	vec__free(&full.records);
	vec__free(&full.told);
}

/* ---- the replay ---- */

static inline void grow_until(struct trace *t, struct grown *g, const struct growth *growth,
			      uint64_t time, unsigned *steps)
{
	if (!*steps && time >= growth->from && ++*steps)
		extend(t, g, add_code);
	if (*steps == 1 && time >= growth->to && ++*steps)
		extend(t, g, add_probes);
}

/* end: of the run */
static inline void replay_grown(struct grown *g, const struct growth *growth, unsigned events,
				const struct recording *from, uint64_t end, struct replayed *out)
{
	static const struct resolver resolver = {NULL, resolve};
	struct trace_options options = {.events = events};
	struct trace *t = trace__new(g->base.plan, &options, &resolver, on_step, out);
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
