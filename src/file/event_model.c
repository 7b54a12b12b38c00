// SPDX-License-Identifier: BSD-2-Clause
/* Predicts the next item in a block of events: see event_model.h. */
#include <stdlib.h>
#include "file/event_model.h"

void event_model__init(struct event_model *m, const struct plan *plan)
{
	*m = (struct event_model){.plan = plan};
	m->followers = xcalloc(FOLLOWERS, sizeof(*m->followers));
	event_model__reset(m);
}

void event_model__free(struct event_model *m)
{
	struct thread_state **th;

	vec__each (th, &m->threads)
		free(*th);
	vec__free(&m->threads);
	free(m->sites);
	free(m->followers);
}

void event_model__reset(struct event_model *m)
{
	/* an increment may have extended the plan */
	if (m->nsites < m->plan->sites.len + 1) {
		m->sites = xextend(m->sites, m->nsites, m->plan->sites.len + 1, sizeof(*m->sites));
		m->nsites = m->plan->sites.len + 1;
		m->has_programs = plan__has_programs(m->plan);
	}
	m->epoch++;
	m->time = 0;
	m->nthreads = 0;
}

struct thread_state *event_model__add_thread(struct event_model *m, uint32_t pid, uint32_t tid)
{
	struct thread_state *th;

	if (m->nthreads == m->threads.len)
		vec__push(&m->threads, xmalloc(sizeof(*th)));
	th = m->threads.data[m->nthreads++];
	*th = (struct thread_state){.pid = pid, .tid = tid};
	return th;
}

struct site_state *event_model__site(struct event_model *m, uint32_t site)
{
	struct site_state *s = &m->sites[site];

	if (s->epoch != m->epoch)
		*s = (struct site_state){.epoch = m->epoch};
	return s;
}

struct follower *event_model__follower(struct event_model *m, const struct thread_state *th)
{
	/* the high bits of a product depend on all bits of the factor: Knuth, TAOCP 3, 6.4 */
	return &m->followers[th->context * 0x9e3779b97f4a7c15ull >> 50 & (FOLLOWERS - 1)];
}

uint64_t event_model__time(const struct event_model *m, const struct thread_state *th,
			   const struct follower *f)
{
	if (!th->time)
		return m->time;
	return th->time + (f ? f->takes : 0);
}

static unsigned caller_slot(uint64_t sp)
{
	return sp >> 3 & (CALLERS_KEPT - 1);
}

uint64_t thread_state__caller(const struct thread_state *th, uint64_t sp)
{
	unsigned i = caller_slot(sp);

	return th->callers[i].sp == sp ? th->callers[i].caller : 0;
}

bool event_model__is_conditional(const struct event_model *m, uint32_t site)
{
	const struct plan_site *s = site < m->plan->sites.len ? &m->plan->sites.data[site] : NULL;

	return s && (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP);
}

/* Hashes what decides where the thread goes next. */
static uint64_t outcome(const struct event_model *m, const struct record *x)
{
	if (event_model__is_conditional(m, x->site))
		return x->taken;
	return has_values(x->kind) ? x->value[0] : 0;
}

static void take_entry(const struct event_model *m, struct thread_state *th, struct site_state *s,
		       const struct record *x)
{
	unsigned i = caller_slot(x->sp);

	s->caller = x->caller;
	s->ip = x->regs[m->plan->arch->ip_reg];
	th->callers[i].sp = x->sp;
	th->callers[i].caller = x->caller;
	memcpy(th->comm, x->comm, sizeof(th->comm));
	memcpy(th->regs, x->regs, sizeof(th->regs));
	memcpy(th->args, x->args, sizeof(th->args));
	memcpy(th->user, x->user, sizeof(th->user));
	if (x->kind != RECORD_STACK)
		return;
	th->frames = x->frames;
	memcpy(th->stack, x->stack, x->frames * sizeof(*x->stack));
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = min_of(a, b), high = max_of(a, b);

	return min_of(max_of(low, c), high);
}

/* The median of three, so that a rare interrupt doesn't change the prediction. */
static void take_time(struct follower *f, uint64_t took)
{
	f->takes = middle(f->took[0], f->took[1], took);
	f->took[1] = f->took[0];
	f->took[0] = took;
}

void event_model__take(struct event_model *m, struct thread_state *th, struct follower *f,
		       const struct record *x)
{
	struct site_state *s = event_model__site(m, x->site);
	uint64_t took = th->time ? x->time - th->time : 0;

	if (f->epoch != m->epoch)
		f->took[0] = f->took[1] = took;
	f->epoch = m->epoch;
	f->site = x->site;
	f->taken = x->taken;
	f->sp_change = x->sp - th->sp;
	take_time(f, took);
	m->time = th->time = x->time;
	th->cpu = x->cpu;
	th->sp = x->sp;
	th->context = (uint64_t)x->site << 32 ^ outcome(m, x);
	s->kind = x->kind;
	s->state = x->state;
	s->taken = x->taken;
	if (has_values(x->kind))
		memcpy(s->value, x->value, sizeof(s->value));
	if (x->kind == RECORD_ENTRY || x->kind == RECORD_STACK)
		take_entry(m, th, s, x);
	if (x->kind == RECORD_NAMED)
		memcpy(th->comm, x->comm, sizeof(th->comm));
}
