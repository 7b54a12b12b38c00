// SPDX-License-Identifier: BSD-2-Clause
/* Stats from counts of edges, instead of steps: functions and sites, without times and stacks. */
#include "stats.h"

static void clear_site(struct stats_site *ps)
{
	ps->taken = ps->not_taken = ps->unknown_target = ps->more = 0;
	ps->targets.len = 0;
}

static void clear_function(struct stats_function *f)
{
	f->calls = f->branches = f->conditional = f->taken = 0;
}

static void clear(struct stats *p)
{
	for (size_t i = 0; i < p->nfunctions; i++)
		clear_function(&p->functions[i]);
	for (size_t i = 0; i < p->nsites; i++)
		clear_site(&p->sites[i]);
}

static void count_site(struct stats *p, uint32_t site, const struct site_count *n)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	struct stats_function *fn = &p->functions[s->function];
	struct stats_site *ps = &p->sites[site];

	ps->taken = n->taken;
	ps->not_taken = plan_site__is_conditional(s) ? n->not_taken : 0;
	if (ps->taken == COUNT_UNKNOWN || ps->not_taken == COUNT_UNKNOWN)
		return;
	fn->branches += ps->taken + ps->not_taken;
	if (!plan_site__is_conditional(s))
		return;
	fn->conditional += ps->taken + ps->not_taken;
	fn->taken += ps->taken;
}

static void add_target(struct stats_site *ps, const struct location *to, uint64_t count)
{
	if (ps->targets.len == STATS_TARGETS)
		ps->more += count;
	else
		vec__push(&ps->targets, (struct stats_target){*to, count});
}

/* A jump by a table that has no probe: its edges follow from flow. */
static void count_table(struct stats *p, uint32_t site, const uint64_t *table)
{
	const struct plan_block *b = &p->plan->blocks.data[p->plan->sites.data[site].block];

	for (uint32_t i = b->table; i < b->table + b->ntable; i++) {
		const struct plan_block *to = &p->plan->blocks.data[p->plan->table.data[i]];
		struct location at = {.object = p->plan->objects.data[to->object].path,
				      .vaddr = to->start};

		if (!table[i] || table[i] == COUNT_UNKNOWN)
			continue;
		at.symbol = plan__name_at(p->plan, to->function, to->start, &at.offset);
		add_target(&p->sites[site], &at, table[i]);
	}
}

/* For branches whose targets were examined. */
static void count_unknown(struct stats_site *ps)
{
	const struct stats_target *t;
	uint64_t known = ps->more;

	vec__each (t, &ps->targets)
		known += t->count;
	ps->unknown_target = ps->taken - min_of(ps->taken, known);
}

static bool is_indirect(const struct plan_site *s)
{
	return s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL || s->kind == BRANCH_RET;
}

void stats__count(struct stats *p, const struct edge_counts *c)
{
	const struct plan_function *f;

	clear(p);
	p->blocks = c->edges->blocks;
	for (uint32_t i = 0; i < p->nsites; i++)
		if (p->plan->sites.data[i].kind != BRANCH_NONE && !p->plan->entries_only)
			count_site(p, i, &c->edges->sites[i]);
	for (uint32_t i = 0; i < p->nsites; i++)
		p->sites[i].low = c->edges->low[i];
	vec__each (f, &p->plan->functions) {
		uint64_t calls = f->entry_block < p->plan->blocks.len
					 ? c->edges->blocks[f->entry_block]
					 : COUNT_UNKNOWN;

		if (!(f->flags & FUNCTION_RANGE))
			p->functions[f - p->plan->functions.data].calls = calls;
	}
	for (size_t i = 0; i < c->ntargets; i++)
		add_target(&p->sites[c->targets[i].site], &c->targets[i].to, c->targets[i].count);
	for (uint32_t i = 0; i < p->nsites; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];

		if (!is_indirect(s) || p->sites[i].taken == COUNT_UNKNOWN)
			continue;
		if (p->sites[i].targets.len ||
		    (plan_site__is_counted(s) && (s->kind != BRANCH_RET || p->plan->counts_all)))
			count_unknown(&p->sites[i]);
		else if (s->kind == BRANCH_IJMP)
			count_table(p, i, c->edges->table);
	}
}

void stats__leave_out(struct stats *p, const bool *functions)
{
	for (size_t i = 0; i < p->nfunctions; i++)
		if (!functions[i])
			clear_function(&p->functions[i]);
	for (size_t i = 0; i < p->nsites; i++) {
		uint32_t function = p->plan->sites.data[i].function;

		if (function < p->nfunctions && !functions[function])
			clear_site(&p->sites[i]);
	}
}

void stats__put_counts(struct str *s, const struct stats_function *f, const char *more)
{
	if (f->calls == COUNT_UNKNOWN)
		str__puts(s, "? calls");
	else
		str__printf(s, "%llu%s calls", (unsigned long long)f->calls, more);
	str__printf(s, ", %llu%s branches", (unsigned long long)f->branches, more);
}
