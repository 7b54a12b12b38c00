// SPDX-License-Identifier: BSD-2-Clause
/*
 * The paths of a function: calls that took the same branches in the same order, however often loops
 * repeated them, are one row. Of two runs, those that only one has are first.
 */
#include "screens.h"

struct path_row {
	uint64_t path, calls[RUNS], total[RUNS], branches;
	struct call_ref first;
	bool uncertain;
};

enum { BY_ONLY, BY_CALLS, BY_BRANCHES, ORDERS };

struct paths {
	struct screen screen;
	struct function_pair function;
	VEC(struct path_row) rows;
	size_t by;
	bool reverse;
};

static size_t paths__count(const struct screen *s)
{
	return ((const struct paths *)s)->rows.len;
}

static const char *const orders[ORDERS] = {"difference", "calls", "branches"};

static void paths__title(const struct screen *s, struct str *out)
{
	const struct paths *p = (const struct paths *)s;

	str__puts(out, "Paths of ");
	text__put_name(out, s->model->plan->functions.data[p->function.of[0]].name, s->width / 2);
	str__printf(out, ", by %s%s", orders[p->by], p->reverse ? ", reversed" : "");
}

static void paths__heads(const struct screen *s, unsigned width, struct str *out)
{
	str__puts(out, s->model->nruns > 1 ? "  calls A   calls B  " : "    calls  ");
	if (width >= 60)
		str__puts(out, "    mean  ");
	str__puts(out, "branches  first of them");
}

static void put_mean(const struct path_row *r, struct str *out)
{
	static const struct table_column column = {"mean", 8, 0};
	autofree struct str cell = {0};
	uint64_t n = r->calls[0] + r->calls[1];

	put_duration(&cell, (r->total[0] + r->total[1]) / max_of(n, (uint64_t)1));
	cells__put(out, &column, cell.data);
}

static void paths__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	const struct path_row *r = &((struct paths *)s)->rows.data[row];
	const struct model *m = s->model;

	str__printf(out, "%9llu  ", (unsigned long long)r->calls[0]);
	if (m->nruns > 1)
		str__printf(out, "%8llu  ", (unsigned long long)r->calls[1]);
	if (width >= 60)
		put_mean(r, out);
	str__printf(out, "%8llu  ", (unsigned long long)r->branches);
	if (m->nruns > 1 && (!r->calls[0] || !r->calls[1]))
		str__puts(out, r->calls[0] ? "\033[1;31m[only A]\033[0m "
					   : "\033[1;31m[only B]\033[0m ");
	model__put_call(s->model, &m->run[r->first.run], r->first.call, out);
	if (r->uncertain)
		str__puts(out, "  \033[1;31m-- events are missing in some --\033[0m");
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct path_row *x = a, *y = b;
	const struct paths *p = ctx;
	uint64_t m = x->calls[0] + x->calls[1], n = y->calls[0] + y->calls[1];
	int order = 0;

	if (p->by == BY_ONLY && p->screen.model->nruns > 1)
		order = (x->calls[0] && x->calls[1]) - (y->calls[0] && y->calls[1]);
	if (p->by == BY_BRANCHES)
		order = x->branches < y->branches ? 1 : x->branches > y->branches ? -1 : 0;
	if (!order)
		order = m < n ? 1 : m > n ? -1 : 0;
	if (!order)
		order = x->first.run < y->first.run ? -1 : x->first.run > y->first.run ? 1 : 0;
	if (!order)
		order = x->first.call < y->first.call ? -1 : 1;
	return p->reverse ? -order : order;
}

static void paths__sort(struct screen *s, int column)
{
	struct paths *p = (struct paths *)s;

	p->reverse = !column && !p->reverse;
	p->by = (p->by + ORDERS + column) % ORDERS;
	vec__sort_by(&p->rows, compare, p);
}

static struct screen *paths__enter(struct screen *s, size_t row)
{
	const struct paths *p = (const struct paths *)s;

	return calls__open(s->model, p->function, &p->rows.data[row].path);
}

static void paths__free(struct screen *s)
{
	vec__free(&((struct paths *)s)->rows);
}

static const struct screen_ops ops = {
	.keys = "Enter, Right  the calls on this path\n",
	.count = paths__count,
	.title = paths__title,
	.heads = paths__heads,
	.row = paths__row,
	.enter = paths__enter,
	.sort = paths__sort,
	.free = paths__free,
};

static void add_call(struct paths *p, struct map64 *known, uint32_t run, uint32_t i)
{
	const struct call *c = run__call(&p->screen.model->run[run], i);
	uint64_t *at = map64__put(known, c->path);
	struct path_row *r;

	if (!*at) {
		*vec__add(&p->rows) = (struct path_row){
			.path = c->path, .first = {run, i}, .branches = c->branches};
		*at = p->rows.len;
	}
	r = &p->rows.data[*at - 1];
	r->calls[run]++;
	r->total[run] += c->duration;
	r->uncertain |= c->flags & CALL_UNCERTAIN;
}

struct screen *paths__open(struct model *m, struct function_pair function)
{
	struct paths *p = screen__new(&ops, m, sizeof(*p));
	struct map64 known = {0};

	p->function = function;
	p->by = m->nruns > 1 ? BY_ONLY : BY_CALLS;
	for (uint32_t i = 0; i < m->nruns; i++) {
		const struct run *r = &m->run[i];
		uint32_t of = function.of[i];
		uint32_t next = of < r->functions.len ? r->functions.data[of].first : 0;

		for (; next; next = run__call(r, next - 1)->next)
			add_call(p, &known, i, next - 1);
	}
	map64__free(&known);
	vec__sort_by(&p->rows, compare, p);
	return &p->screen;
}
