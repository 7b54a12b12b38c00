// SPDX-License-Identifier: BSD-2-Clause
/* The control flow between a plan's blocks, and which of its edges a probe reports. */
#include <stdlib.h>
#include "plan/plan.h"
#include "flow.h"

static const struct plan_site *site_of(const struct plan *p, const struct plan_block *b)
{
	return b->site == NO_SITE ? NULL : &p->sites.data[b->site];
}

typedef VEC(uint32_t) block_vec;

static void add_successors(const struct plan *p, uint32_t block, block_vec *out)
{
	const struct plan_block *b = &p->blocks.data[block];
	const struct plan_site *s = site_of(p, b);

	if (s && s->kind == BRANCH_IJMP)
		for (uint32_t i = 0; i < b->ntable; i++)
			vec__push(out, p->table.data[b->table + i]);
	else if (s && (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP || s->kind == BRANCH_JMP) &&
		 b->taken != NO_BLOCK)
		vec__push(out, b->taken);
	if (b->next != NO_BLOCK && !b->noreturn)
		vec__push(out, b->next);
}

static void find_successors(struct plan_flow *f)
{
	block_vec all = {0};

	vec__reserve(&all, 1); /* NULL + 0 is undefined */
	f->out = xcalloc(f->plan->blocks.len + 1, sizeof(*f->out));
	for (uint32_t b = 0; b < f->plan->blocks.len; b++) {
		f->out[b] = all.len;
		add_successors(f->plan, b, &all);
	}
	f->out[f->plan->blocks.len] = all.len;
	f->successors = all.data;
}

/* Inverts the successors: a counting sort by target. */
static void find_predecessors(struct plan_flow *f)
{
	size_t n = f->plan->blocks.len, edges = f->out[n];
	autofree uint32_t *at = xcalloc(n + 1, sizeof(*at));

	f->in = xcalloc(n + 1, sizeof(*f->in));
	f->predecessors = xcalloc(edges + 1, sizeof(*f->predecessors));
	for (size_t i = 0; i < edges; i++)
		f->in[f->successors[i] + 1]++;
	for (size_t b = 0; b < n; b++)
		f->in[b + 1] += f->in[b];
	memcpy(at, f->in, (n + 1) * sizeof(*at));
	for (uint32_t b = 0; b < n; b++)
		for (uint32_t i = f->out[b]; i < f->out[b + 1]; i++)
			f->predecessors[at[f->successors[i]]++] = b;
}

/* Returns true if the record of the entry that a call leads to has the call's return address. */
static bool links_as_ever(const struct plan *p, const struct plan_site *call)
{
	return p->arch->link_reg == REG_NONE || !call->operand.index ||
	       call->operand.index == REG_NONE;
}

static void find_probes(struct plan_flow *f)
{
	const struct plan_site *s;

	f->marked = xcalloc(f->plan->blocks.len + 1, sizeof(*f->marked));
	f->enters = xcalloc(f->plan->blocks.len + 1, sizeof(*f->enters));
	vec__each (s, &f->plan->sites) {
		if (plan_site__has_events(s) && (s->entry || s->role == ROLE_WITNESS))
			f->marked[s->block] = true;
		if (s->kind == BRANCH_CALL && links_as_ever(f->plan, s) &&
		    plan__entry_is_probed(f->plan, s->object, s->target))
			f->enters[s->block] = true;
	}
}

void plan_flow__init(struct plan_flow *f, const struct plan *p)
{
	*f = (struct plan_flow){.plan = p};
	find_successors(f);
	find_predecessors(f);
	find_probes(f);
}

void plan_flow__free(struct plan_flow *f)
{
	free(f->out);
	free(f->successors);
	free(f->in);
	free(f->predecessors);
	free(f->marked);
	free(f->enters);
}

bool plan_flow__is_probed(const struct plan_flow *f, uint32_t block)
{
	const struct plan_site *s = site_of(f->plan, &f->plan->blocks.data[block]);

	return s && (plan_site__has_events(s) || f->enters[block]);
}

bool plan_flow__is_unprobed_ret(const struct plan_flow *f, uint32_t block)
{
	const struct plan_site *s = site_of(f->plan, &f->plan->blocks.data[block]);

	return s && s->kind == BRANCH_RET && !plan_site__has_events(s);
}

bool plan_flow__is_open(const struct plan_flow *f, uint32_t block)
{
	const struct plan_block *b = &f->plan->blocks.data[block];
	const struct plan_site *s = site_of(f->plan, b);

	if (!s || plan_site__has_events(s))
		return false;
	if (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP)
		return b->leaves && b->taken == NO_BLOCK;
	return s->kind == BRANCH_IJMP && b->unresolved;
}
