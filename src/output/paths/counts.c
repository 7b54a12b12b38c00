// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which path each open call is on. A step identifies its call. Between two branches of a call,
 * control can only have taken one path, so each branch is checked to be the next one; if it isn't,
 * the path is counted apart, and the next one is known to begin at the next back edge.
 */
#include <stdlib.h>
#include "plan/graph/meet.h"
#include "calls.h"

static bool is_ret(const struct plan_site *s)
{
	return s && s->kind == BRANCH_RET;
}

/* Control reaches a block; for a conditional and an indirect jump, the edge is part of the path. */
static void leave(struct path_counts *p, struct path_thread *th, struct path_call *c,
		  const struct step *s, bool taken, uint32_t to)
{
	uint32_t site = p->plan->blocks.data[c->block].site, way;
	const struct plan_site *ps = site == NO_SITE ? NULL : &p->plan->sites.data[site];
	enum path_edge edge = acyclic__leave(p->ways, c->function, c->block, taken, to, &way);

	if (edge == PATH_NO_EDGE) {
		path__set_apart(c, APART_LEFT);
		return;
	}
	if (ps && (plan_site__is_conditional(ps) || ps->kind == BRANCH_IJMP))
		path__choose(p, c, way);
	c->block = to;
	c->at = edge != PATH_ENDS ? WITHIN : way == WAY_OUT && is_ret(ps) ? RETURNING : JUMPED;
	if (edge != PATH_LOOPS)
		return;
	path__end(p, th, c, s);
	c->from_entry = false;
	path__begin(p, th, c, to, s);
}

/* Continues where there is no choice: to the next branch, or to this block, or out of the
 * function. */
static void go_on(struct path_counts *p, struct path_thread *th, struct path_call *c,
		  const struct step *s, uint32_t until)
{
	for (size_t n = 0; n <= p->plan->blocks.len; n++) {
		const struct plan_block *b;

		if ((c->at != AFTER_CALL && c->at != WITHIN) ||
		    (c->at == WITHIN && c->block == until))
			return;
		b = &p->plan->blocks.data[c->block];
		if (c->at == WITHIN && b->site != NO_SITE)
			return;
		if (b->noreturn || b->next == NO_BLOCK) {
			path__set_apart(c, APART_LEFT);
			return;
		}
		leave(p, th, c, s, false, b->next);
	}
}

static bool is_followed(const struct path_counts *p, uint32_t function)
{
	const struct plan_function *f;

	if (function >= p->nfunctions)
		return false;
	f = &p->plan->functions.data[function];
	return f->entry_block < p->plan->blocks.len &&
	       !(f->flags & (FUNCTION_RANGE | FUNCTION_HELPER));
}

/* ---- steps ---- */

static void enter(struct path_counts *p, const struct step *s)
{
	struct path_thread *th = path_calls__of(p, s);
	struct path_call *c = path_calls__current(p, th, s->call);
	uint32_t entry = p->plan->functions.data[s->function].entry_block;

	if (c) {
		/* it jumped to its first instruction, as its branch shows */
		go_on(p, th, c, s, entry);
		if (c->at == WITHIN && c->block == entry && !c->apart &&
		    p->nodes.data[c->node].parent == NO_NODE)
			return;
		path__set_apart(c, APART_LEFT);
		path__end(p, th, c, s);
		c->again = true;
	} else {
		vec__push(&th->calls, (struct path_call){.call = s->call, .function = s->function});
		c = vec__last(&th->calls);
	}
	if (!s->timed)
		path__miss_event(th);
	c->entered = true;
	c->timed = s->timed;
	c->from_entry = true;
	path__begin(p, th, c, entry, s);
}

/* Adds a call whose beginning was not seen. Its function is that of the branch, unless others run
 * that code, too. */
static struct path_call *add_unseen(struct path_thread *th, const struct step *s)
{
	vec__push(&th->calls, (struct path_call){.call = s->call,
						 .function = s->function,
						 .node = NO_NODE,
						 .apart = APART_BEFORE,
						 .at = NOWHERE});
	return vec__last(&th->calls);
}

static uint32_t target_of(const struct path_counts *p, const struct step *s)
{
	const struct plan_site *ps = &p->plan->sites.data[s->site];
	const char *here = s->at.object, *there = s->to.object;

	if (ps->kind == BRANCH_RET)
		return NO_BLOCK;
	if (ps->kind == BRANCH_IJMP &&
	    (!here || !there || (here != there && strcmp(here, there) != 0)))
		return NO_BLOCK;
	return plan__block_after(p->plan, s->site, s->taken, s->to.vaddr);
}

static void note_callee(struct path_counts *p, const struct step *s)
{
	uint64_t *slot;

	if (p->plan->sites.data[s->site].kind != BRANCH_CALL || !s->to_known || !s->to.symbol)
		return;
	slot = map64__put(&p->callees, s->site);
	if (!*slot)
		*slot = (uintptr_t)s->to.symbol;
}

static void branch(struct path_counts *p, const struct step *s)
{
	const struct plan_site *ps = &p->plan->sites.data[s->site];
	struct path_thread *th = path_calls__of(p, s);
	struct path_call *c = path_calls__current(p, th, s->call);

	c = c ? c : add_unseen(th, s);
	if (!is_followed(p, c->function) || (!c->entered && p->jumped_into[c->function]))
		return;
	go_on(p, th, c, s, NO_BLOCK);
	if (c->at != WITHIN || c->block != ps->block) {
		path__set_apart(c, APART_LEFT);
		c->block = ps->block;
	}
	if (ps->kind == BRANCH_CALL || ps->kind == BRANCH_ICALL) {
		c->at = AFTER_CALL;
		note_callee(p, s);
	} else if (ps->kind == BRANCH_IJMP && !s->to_known) {
		path__set_apart(c, APART_UNKNOWN);
	} else {
		c->at = WITHIN;
		leave(p, th, c, s, s->taken, target_of(p, s));
	}
}

/* Returns true if the block that control is in ends with a ret, which had no step. */
static bool is_at_ret(const struct path_counts *p, const struct path_call *c)
{
	uint32_t site = c->at == WITHIN ? p->plan->blocks.data[c->block].site : NO_SITE;

	return site != NO_SITE && is_ret(&p->plan->sites.data[site]);
}

static void leave_function(struct path_counts *p, const struct step *s)
{
	struct path_thread *th = path_calls__of(p, s);
	struct path_call *c = path_calls__current(p, th, s->call);

	if (!c) {
		p->functions[s->function].apart[APART_BEFORE]++;
		return;
	}
	go_on(p, th, c, s, NO_BLOCK);
	if (c->at != JUMPED && c->at != RETURNING && !is_at_ret(p, c))
		path__set_apart(c, APART_UNKNOWN);
	/* perhaps another call has taken its place */
	if (c->timed && !s->has_duration) {
		c->began.state = NEVER;
		if (c->at != JUMPED)
			path__set_apart(c, APART_UNKNOWN);
	}
	path__end(p, th, c, s);
	path_calls__pop(th);
}

/* What the thread did up to here is not known, of whichever call. */
static void forget_paths(struct path_thread *th)
{
	struct path_call *c;

	vec__each (c, &th->calls)
		if (c->at != JUMPED)
			path__set_apart(c, APART_UNKNOWN);
}

static void forget_all(struct path_counts *p)
{
	uint64_t value;

	for (size_t i = 0; i < p->threads.cap; i++)
		if (map64__slot(&p->threads, i, &value))
			forget_paths((struct path_thread *)(uintptr_t)value);
}

void path_counts__step(struct path_counts *p, const struct step *s)
{
	bool of_call = s->call && is_followed(p, s->function);

	if (s->timed && s->type <= STEP_RETURN && path_calls__of(p, s)->unmeasured)
		path__settle(p, path_calls__of(p, s), s);
	switch (s->type) {
	case STEP_ENTRY:
		return of_call ? enter(p, s) : (void)0;
	case STEP_BRANCH:
		return of_call ? branch(p, s) : (void)0;
	case STEP_RETURN:
		return of_call ? leave_function(p, s) : (void)0;
	case STEP_LOST:
	case STEP_UNKNOWN:
		return s->pid || s->tid ? forget_paths(path_calls__of(p, s)) : forget_all(p);
	case STEP_OMITTED:
		return forget_all(p);
	case STEP_EXEC:
	case STEP_EXIT:
		return path_calls__end(p, s);
	default:
		return;
	}
}

/* ---- begin and end ---- */

void path_counts__plan_extended(struct path_counts *p)
{
	size_t n = p->plan->functions.len;

	acyclic__free(p->ways);
	free(p->jumped_into);
	p->ways = acyclic__new(p->plan);
	p->jumped_into = plan__is_jumped_into(p->plan);
	p->functions = xextend(p->functions, p->nfunctions, n, sizeof(*p->functions));
	p->nfunctions = n;
}

void path_counts__init(struct path_counts *p, const struct plan *plan)
{
	*p = (struct path_counts){.plan = plan};
	path_counts__plan_extended(p);
}

/* Compares by the times without tracing, if these are known for the function. */
static int by_cost(const struct path_counts *p, const struct path_row *x, const struct path_row *y)
{
	uint64_t m = x->ns, n = y->ns;

	if (p->functions[x->function].net) {
		stats_net__state(&x->net, &m);
		stats_net__state(&y->net, &n);
	}
	return m == n ? 0 : m < n ? 1 : -1;
}

static int costliest_first(const void *a, const void *b, void *ctx)
{
	const struct path_row *x = a, *y = b;
	int order;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	order = by_cost(ctx, x, y);
	if (order)
		return order;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void find_costs(struct path_counts *p)
{
	const struct path_row *r;
	uint64_t ns;

	for (size_t i = 0; i < p->nfunctions; i++)
		p->functions[i].net = true;
	vec__each (r, &p->rows) {
		p->functions[r->function].ns += r->ns;
		if (stats_net__state(&r->net, &ns) != NET_KNOWN || r->net.calls < r->count)
			p->functions[r->function].net = false;
	}
}

void path_counts__end(struct path_counts *p)
{
	struct path_row *r;

	path_calls__end_all(p);
	find_costs(p);
	vec__sort_by(&p->rows, costliest_first, p);
	vec__each (r, &p->rows) {
		struct paths_function *f = &p->functions[r->function];

		f->first = f->n ? f->first : r - p->rows.data;
		f->n++;
		r->number = path__number(p, r);
	}
}

void path_counts__free(struct path_counts *p)
{
	path_calls__end_all(p);
	acyclic__free(p->ways);
	free(p->jumped_into);
	free(p->functions);
	vec__free(&p->nodes);
	vec__free(&p->rows);
	map64__free(&p->children);
	map64__free(&p->begins);
	map64__free(&p->callees);
}
