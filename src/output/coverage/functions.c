// SPDX-License-Identifier: BSD-2-Clause
/* What of the functions of the source ran: of their code, and of the copies that were inlined. */
#include <stdlib.h>
#include "coverage.h"

static int by_name(const void *a, const void *b, void *rank)
{
	const struct coverage_function *x = a, *y = b;
	int n = coverage__order(rank, x->file, x->line, y->file, y->line);

	return n ? n : strcmp(x->name, y->name);
}

static int by_place(const void *a, const void *b, void *rank)
{
	const struct coverage_line *x = a, *y = b;

	return coverage__order(rank, x->file, x->line, y->file, y->line);
}

/* ---- functions of the plan ---- */

/* For a selection, its hottest block. Where the counts leave it open, the entry's block decides. */
static uint64_t calls_of(const struct coverage *c, uint32_t function)
{
	const struct plan_function *f = &c->plan->functions.data[function];
	uint64_t calls = c->runs.stats->functions[function].calls;

	if (f->flags & FUNCTION_RANGE)
		return c->runs.most[function];
	if (c->runs.known && calls == COUNT_UNKNOWN && f->entry_block < c->plan->blocks.len)
		return c->runs.blocks[f->entry_block];
	return calls;
}

/* Returns where the function that vaddr is in is declared, if that is known; else the line
 * there. */
static struct coverage_function declared(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	uint32_t scope = plan__scope_at(p, object, vaddr);
	struct coverage_function row = {0};

	while (scope != NO_SCOPE && p->scopes.data[scope].parent != NO_SCOPE)
		scope = p->scopes.data[scope].parent;
	if (scope == NO_SCOPE || !p->scopes.data[scope].line || !p->scopes.data[scope].name) {
		coverage__set_line(plan__line_at(p, object, vaddr), &row.file, &row.line);
		return row;
	}
	row.name =
		p->scopes.data[scope].raw ? p->scopes.data[scope].raw : p->scopes.data[scope].name;
	row.file = p->scopes.data[scope].file;
	row.line = p->scopes.data[scope].line;
	return row;
}

static void add_functions(struct coverage *c)
{
	for (uint32_t i = 0; i < c->plan->functions.len; i++) {
		const struct plan_function *f = &c->plan->functions.data[i];
		const char *symbol = f->raw ? f->raw : f->name;
		struct coverage_function row;

		if (!coverage__has_function(c, i) || !f->nranges)
			continue;
		row = declared(c->plan, f->object, f->ranges[0].vaddr);
		row.name = row.name ? row.name : symbol;
		row.calls = row.rest = RUNS_UNKNOWN;
		*(name__part_owner_len(symbol) ? &row.rest : &row.calls) = calls_of(c, i);
		vec__push(&c->by_function, row);
	}
}

/* ---- inlined copies ---- */

/* How often control came into code of each scope from elsewhere, by jumps and falling through. */
struct inflow {
	const struct coverage *c;
	uint64_t *scopes;
};

static bool is_within(const struct plan *p, uint32_t scope, uint32_t outer)
{
	while (scope != NO_SCOPE && scope != outer)
		scope = p->scopes.data[scope].parent;
	return scope == outer;
}

/* Control went n times from the end of block a to the start of b. */
static void come(struct inflow *in, uint32_t a, uint32_t b, uint64_t n)
{
	const struct plan *p = in->c->plan;
	const struct plan_block *from = &p->blocks.data[a], *to = &p->blocks.data[b];
	uint32_t left = plan__scope_at(p, from->object, from->end - 1);
	uint32_t scope = plan__scope_at(p, to->object, to->start);

	for (; n && n != RUNS_UNKNOWN && scope != NO_SCOPE && !is_within(p, left, scope);
	     scope = p->scopes.data[scope].parent)
		in->scopes[scope] = coverage__sum(in->scopes[scope], n);
}

static void leave(struct inflow *in, uint32_t block)
{
	const struct runs *r = &in->c->runs;
	const struct plan_block *b = &in->c->plan->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &in->c->plan->sites.data[b->site];
	const struct stats_target *t;
	uint64_t next = runs__next(r, block);

	if (b->next != NO_BLOCK)
		come(in, block, b->next,
		     next == RUNS_UNKNOWN ? min_of(r->blocks[block], r->blocks[b->next]) : next);
	if (!s || s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL)
		return;
	if (b->taken != NO_BLOCK)
		come(in, block, b->taken, r->stats->sites[b->site].taken);
	if (s->kind != BRANCH_IJMP)
		return;
	vec__each (t, &r->stats->sites[b->site].targets) {
		uint32_t to = runs__block_of(in->c->plan, &t->to);

		if (to != NO_BLOCK)
			come(in, block, to, t->count);
	}
}

/*
 * An inlined copy that has code at its entry runs as often as that. If it was never entered there,
 * a compiler may have added further entries, past a check whose outcome it knows: then as often as
 * control came from elsewhere.
 */
static void add_copies(struct coverage *c)
{
	const struct plan *p = c->plan;
	struct inflow in = {c, xcalloc(p->scopes.len + 1, sizeof(*in.scopes))};

	for (uint32_t i = 0; i < p->blocks.len && p->scopes.len && c->runs.known; i++)
		leave(&in, i);
	for (size_t i = 0; i < p->scopes.len; i++) {
		const struct plan_scope *s = &p->scopes.data[i];
		uint32_t block = s->entry ? plan__block_holding(p, s->object, s->entry) : NO_BLOCK;

		if (s->parent == NO_SCOPE || !s->line || !s->name || block == NO_BLOCK ||
		    !coverage__has_block(c, block))
			continue;
		vec__push(&c->by_function,
			  (struct coverage_function){.name = s->raw ? s->raw : s->name,
						     .file = s->file,
						     .line = s->line,
						     .calls = c->runs.blocks[block]
								      ? c->runs.blocks[block]
								      : in.scopes[i],
						     .rest = RUNS_UNKNOWN});
	}
	free(in.scopes);
}

/* ---- the functions of the source ---- */

/* Joins the rows of the same function of the source. */
static void join_functions(struct coverage *c)
{
	struct coverage_function *all = c->by_function.data;
	size_t n = 0;

	vec__sort_by(&c->by_function, by_name, c->rank);
	for (size_t i = 0; i < c->by_function.len; i++) {
		struct coverage_function *last = n ? &all[n - 1] : NULL;

		if (!last || !last->line || by_name(last, &all[i], c->rank)) {
			all[n++] = all[i];
			continue;
		}
		last->calls = coverage__sum(last->calls, all[i].calls);
		last->rest = coverage__sum(last->rest, all[i].rest);
	}
	c->by_function.len = n;
	for (size_t i = 0; i < n; i++)
		if (all[i].calls == RUNS_UNKNOWN)
			all[i].calls = all[i].rest; /* what is inlined is not known */
}

static int by_file_and_name(const void *a, const void *b)
{
	const struct coverage_function *x = *(struct coverage_function *const *)a;
	const struct coverage_function *y = *(struct coverage_function *const *)b;

	return x->file != y->file ? (x->file < y->file ? -1 : 1) : strcmp(x->name, y->name);
}

/* Finds those without a linkage name that are inlined everywhere, like overloads and functions of
 * unnamed namespaces. */
static void find_shared(struct coverage *c)
{
	VEC(struct coverage_function *) rows = {0};
	struct coverage_function *f;

	vec__each (f, &c->by_function)
		if (f->line)
			vec__push(&rows, f);
	vec__sort(&rows, by_file_and_name);
	for (size_t i = 1; i < rows.len; i++)
		if (!by_file_and_name(&rows.data[i - 1], &rows.data[i]))
			rows.data[i - 1]->shared = rows.data[i]->shared = true;
	vec__free(&rows);
}

void coverage__find_functions(struct coverage *c)
{
	add_functions(c);
	add_copies(c);
	join_functions(c);
	find_shared(c);
}

/* ---- lines of functions ---- */

/* Returns true if none of its lines shows that the function ran. They end where the next function
 * begins. [line, n): rows from the function's line on. */
static bool is_bare(const struct coverage *c, const struct coverage_function *f, size_t line,
		    size_t n, uint32_t end)
{
	for (; line < n; line++) {
		const struct coverage_line *l = &c->by_line.data[line];

		if (l->file != f->file || l->line >= end)
			break;
		if (l->count)
			return false;
	}
	return true;
}

/* Returns the calls of all functions of this line; *next is the one after these. */
static uint64_t calls_at(const struct coverage *c, const struct coverage_function *f,
			 const struct coverage_function **next)
{
	const struct coverage_function *all = vec__end(&c->by_function);
	uint64_t calls = RUNS_UNKNOWN;

	for (*next = f; *next < all && (*next)->file == f->file && (*next)->line == f->line;
	     ++*next)
		calls = coverage__sum(calls, (*next)->calls);
	return calls;
}

/* Compares the place of a row with that of a function. */
static int order_of(const struct coverage *c, size_t line, const struct coverage_function *f)
{
	const struct coverage_line *l = &c->by_line.data[line];

	return coverage__order(c->rank, l->file, l->line, f->file, f->line);
}

void coverage__fill_lines(struct coverage *c)
{
	const struct coverage_function *f, *next, *all = vec__end(&c->by_function);
	size_t n = c->by_line.len, line = 0;

	for (f = c->by_function.data; f < all && f->line; f = next) {
		uint64_t calls = calls_at(c, f, &next);
		bool last = next == all || !next->line || next->file != f->file;

		for (; line < n && order_of(c, line, f) < 0; line++)
			;
		if (calls == RUNS_UNKNOWN)
			continue;
		if (line == n || order_of(c, line, f))
			vec__push(&c->by_line, (struct coverage_line){f->file, f->line, calls});
		else if (is_bare(c, f, line, n, last ? UINT32_MAX : next->line))
			c->by_line.data[line].count = calls;
	}
	vec__sort_by(&c->by_line, by_place, c->rank);
}
