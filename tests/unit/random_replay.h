/* SPDX-License-Identifier: BSD-2-Clause */
/* The records that a plan's probes make of a random program's run, with some cut away, and their
 * replay. */
#ifndef RANDOM_REPLAY_H
#define RANDOM_REPLAY_H

#include "random_walk.h"

#define PID 7

#define CUTS 2
struct cuts {
	uint64_t begin;		       /* events before this time are not seen */
	uint64_t from[CUTS], to[CUTS]; /* events of these times are lost */
};

static inline bool is_cut(const struct cuts *c)
{
	return c->begin || c->to[0] || c->to[1];
}

/* ---- what a probe records of a moment ---- */

struct record {
	struct event e;
	struct event_entry entry;
	size_t moment;
	bool counts;	/* as a lost event if the record is lost */
	uint64_t since; /* of a return probe: when the entry set it */
};

/* A return probe that waits for the activation's return. */
struct instance {
	unsigned frame;
	uint32_t site;
	uint64_t time, sp;
};

struct recording {
	VEC(struct record) records;
	VEC(struct instance) instances;
	VEC(bool) told; /* by moment */
};

static inline struct record *add_record(struct recording *to, const struct run *run, size_t moment,
					enum event_type type, uint32_t site)
{
	const struct moment *m = &run->moments.data[moment];
	struct record *r = vec__add(&to->records);

	r->moment = moment;
	r->e = (struct event){.time = m->time,
			      .pid = PID,
			      .tid = PID,
			      .sp = m->sp,
			      .site = site,
			      .type = type,
			      .taken = m->taken};
	to->told.data[moment] |= type != EVENT_SIGNAL;
	return r;
}

/* Sets a return probe. Those deeper on the stack were left without a ret. True: the activation has
 * one already. */
static inline bool await_return(struct recording *to, const struct plan *plan,
				const struct moment *m, const struct plan_site *s, uint32_t site)
{
	bool pending;

	while (to->instances.len && vec__last(&to->instances)->sp < m->sp)
		to->instances.len--;
	pending = to->instances.len && vec__last(&to->instances)->frame == m->frame;
	if (plan->return_probes && !plan__return_refusal(plan, s->function))
		vec__push(&to->instances, (struct instance){m->frame, site, m->time, m->sp});
	return pending;
}

static inline void record_entry(struct recording *to, const struct plan *plan,
				const struct run *run, size_t moment, const struct plan_site *s,
				uint32_t site)
{
	struct record *r = add_record(to, run, moment, EVENT_ENTRY, site);
	const struct moment *m = &run->moments.data[moment];

	r->entry = (struct event_entry){.ip = s->vaddr + BIAS,
					.caller = m->caller,
					.comm = "prog",
					.pending = await_return(to, plan, m, s, site)};
	r->counts = true;
}

/* The activation returns: all its return probes are hit, the last one first. */
static inline void record_returns(struct recording *to, const struct run *run, size_t moment)
{
	const struct moment *m = &run->moments.data[moment];

	for (size_t i = to->instances.len; i-- > 0;) {
		const struct instance *in = &to->instances.data[i];
		struct record *r;

		if (in->frame != m->frame)
			continue;
		r = add_record(to, run, moment, EVENT_RETURN, in->site);
		r->e.sp = in->sp;
		r->e.target = m->caller;
		r->e.has_target = true;
		r->since = in->time;
		memmove(&to->instances.data[i], &to->instances.data[i + 1],
			(--to->instances.len - i) * sizeof(*in));
	}
}

/* The probes before the block's branch: the entry's, a witness. */
static inline void record_start(struct recording *to, const struct random_plan *r,
				const struct run *run, size_t moment, uint32_t block)
{
	for (uint32_t i = 0; i < r->plan->sites.len; i++) {
		const struct plan_site *s = &r->plan->sites.data[i];

		if (s->block != block || !s->probe || s->role == ROLE_BRANCH)
			continue;
		if (s->role == ROLE_ENTRY)
			record_entry(to, r->plan, run, moment, s, i);
		else
			add_record(to, run, moment, EVENT_BRANCH, i);
	}
}

static inline void record_branch(struct recording *to, const struct random_plan *r,
				 const struct run *run, size_t moment, uint32_t block)
{
	uint32_t site = r->plan->blocks.data[block].site;
	const struct plan_site *s = site == NO_SITE ? NULL : &r->plan->sites.data[site];
	struct event *e;

	if (!s || !s->probe)
		return;
	if (s->entry)
		record_entry(to, r->plan, run, moment, s, site);
	else
		add_record(to, run, moment, EVENT_BRANCH, site)->counts = true;
	e = &vec__last(&to->records)->e;
	e->has_target = s->kind == BRANCH_RET || s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL;
	e->target = run->moments.data[moment].target + BIAS;
}

static inline void record(struct recording *to, const struct random_plan *r, const struct run *run)
{
	for (size_t i = 0; i < run->moments.len; i++) {
		const struct moment *m = &run->moments.data[i];
		uint32_t block = r->block[m->f][m->b];

		vec__push(&to->told, false);
		if (m->type == AT_SIGNAL && r->plan->unprobed_rets)
			add_record(to, run, i, EVENT_SIGNAL, 0);
		else if (m->type == AT_START && block != NO_BLOCK)
			record_start(to, r, run, i, block);
		else if (m->type == AT_BRANCH && block != NO_BLOCK)
			record_branch(to, r, run, i, block);
		if (m->type == AT_LEAVE || (m->type == AT_BRANCH && m->returns))
			record_returns(to, run, i);
	}
}

/* ---- what the replay makes of the records ---- */

struct replayed {
	VEC(struct step) steps;
	size_t finish; /* the first step that the trace's end brought out */
	struct trace_totals totals;
};

static inline int on_step(void *ctx, const struct step *s)
{
	struct replayed *out = ctx;

	vec__push(&out->steps, *s);
	return 0;
}

static inline void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
			   struct location *out)
{
	uint64_t vaddr = addr - BIAS;

	if (vaddr - CODE < 0x10000) {
		out->object = "/lib/x";
		out->vaddr = vaddr;
	}
}

static inline bool is_lost(const struct cuts *c, uint64_t time)
{
	for (unsigned i = 0; i < CUTS; i++)
		if (time >= c->from[i] && time < c->to[i])
			return true;
	return false;
}

/* What was lost since the last record that was not. */
struct losses {
	struct event e;
	bool any;
};

/* Is this record, of that moment, not seen? Before one that is, tells what was lost. */
static inline bool is_missing(struct losses *l, struct trace *t, const struct cuts *cuts,
			      const struct record *r, uint64_t moment)
{
	if (moment < cuts->begin || (r->e.type == EVENT_RETURN && r->since < cuts->begin))
		return true;
	if (is_lost(cuts, moment)) {
		l->e.count += r->counts;
		l->e.hits |= !r->counts && r->e.type != EVENT_SIGNAL;
		l->any = true;
		return true;
	}
	l->e.type = EVENT_LOST;
	l->e.pid = l->e.tid = PID;
	l->e.time = r->e.time;
	if (l->any)
		trace__feed(t, &l->e);
	*l = (struct losses){0};
	return false;
}

/* Feeds the records that were seen, and each loss before the next record. */
static inline void feed(struct trace *t, const struct recording *from, const struct cuts *cuts)
{
	struct losses losses = {0};
	struct record *r;

	vec__each (r, &from->records) {
		if (is_missing(&losses, t, cuts, r, r->e.time))
			continue;
		r->e.entry = r->e.type == EVENT_ENTRY ? &r->entry : NULL;
		trace__feed(t, &r->e);
	}
	if (losses.any)
		trace__lost(t, PID, PID, losses.e.count);
}

static inline void replay(const struct plan *plan, unsigned events, const struct recording *from,
			  const struct cuts *cuts, struct replayed *out)
{
	static const struct resolver resolver = {NULL, resolve};
	struct trace_options options = {.events = events & ~BY_PROBE};
	struct trace *t = trace__new(plan, &options, &resolver, on_step, out);

	feed(t, from, cuts);
	out->finish = out->steps.len;
	trace__finish(t);
	out->totals = *trace__totals(t);
	trace__free(t);
}

#endif
