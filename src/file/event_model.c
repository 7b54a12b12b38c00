// SPDX-License-Identifier: BSD-2-Clause
/* What is expected next in a block of events: see event_model.h. */
#include <stdlib.h>
#include "file/event_model.h"

void event_model__init(struct event_model *m, const struct plan *plan, bool foretells_time)
{
	*m = (struct event_model){.plan = plan, .foretells_time = foretells_time};
	m->sites = xcalloc(plan->sites.len + 1, sizeof(*m->sites));
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
	if (!m->foretells_time || !th->time)
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

/* What decides where the thread goes from here. */
static uint64_t outcome(const struct event_model *m, uint32_t site, enum record_kind kind,
			const struct wire_entry_stack *r)
{
	const struct plan_site *s = site < m->plan->sites.len ? &m->plan->sites.data[site] : NULL;
	const uint64_t *value = (const uint64_t *)r->entry.value;

	if (s && (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP))
		return m->plan->arch->taken(s->kind, s->cond, r->entry.event.flags,
					    has_values(kind) ? value[0] : 0);
	return has_values(kind) ? value[0] : 0;
}

static void take_flags(struct site_state *s, uint16_t flags)
{
	unsigned i = 0;

	while (i < FLAGS_KEPT - 1 && s->flags[i] != flags)
		i++;
	memmove(&s->flags[1], &s->flags[0], i * sizeof(*s->flags));
	s->flags[0] = flags;
}

static void take_entry(struct thread_state *th, struct site_state *s, enum record_kind kind,
		       const struct wire_entry_stack *r)
{
	const struct wire_entry *e = &r->entry;
	unsigned i = caller_slot(e->event.sp);

	s->caller = e->caller;
	s->ip = e->regs[16];
	th->callers[i].sp = e->event.sp;
	th->callers[i].caller = e->caller;
	memcpy(th->comm, e->comm, sizeof(th->comm));
	memcpy(th->regs, e->regs, sizeof(th->regs));
	memcpy(th->syscall_args, e->syscall_args, sizeof(th->syscall_args));
	if (kind != RECORD_STACK)
		return;
	th->frames = r->frames;
	memcpy(th->stack, r->stack, r->frames * sizeof(*r->stack));
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = min_of(a, b), high = max_of(a, b);

	return min_of(max_of(low, c), high);
}

/* An interrupt now and then doesn't change what is expected. */
static void take_time(struct follower *f, uint64_t took)
{
	f->takes = middle(f->took[0], f->took[1], took);
	f->took[1] = f->took[0];
	f->took[0] = took;
}

void event_model__take(struct event_model *m, struct thread_state *th, struct follower *f,
		       uint32_t site, enum record_kind kind, const struct wire_entry_stack *r)
{
	const struct wire_event *e = &r->entry.event;
	struct site_state *s = event_model__site(m, site);
	uint64_t took = th->time ? e->time - th->time : 0;

	if (f->epoch != m->epoch)
		f->took[0] = f->took[1] = took;
	f->epoch = m->epoch;
	f->site = site;
	f->sp_change = e->sp - th->sp;
	take_time(f, took);
	m->time = th->time = e->time;
	th->cpu = e->cpu;
	th->sp = e->sp;
	th->flags = e->flags;
	th->context = (uint64_t)site << 32 ^ outcome(m, site, kind, r);
	s->kind = kind;
	s->missing = e->missing;
	take_flags(s, e->flags);
	if (has_values(kind))
		memcpy(s->value, r->entry.value, sizeof(s->value));
	if (kind == RECORD_ENTRY || kind == RECORD_STACK)
		take_entry(th, s, kind, r);
}
