// SPDX-License-Identifier: BSD-2-Clause
/* The functions that ran, with their counts and times; of two runs with the differences. */
#include "screens.h"

struct function_row {
	struct function_pair function;
	bool ran[RUNS];
	struct output_function f[RUNS];
};

struct functions {
	struct screen screen;
	VEC(struct function_row) rows;
	size_t by; /* column */
	bool reverse;
};

/* ---- columns ---- */

typedef int64_t (*value_fn)(const struct model *m, const struct function_row *r);

static int64_t calls_of(const struct function_row *r, size_t run)
{
	return r->f[run].calls == COUNT_UNKNOWN ? 0 : (int64_t)r->f[run].calls;
}

static int64_t calls(const struct model *m, const struct function_row *r)
{
	return calls_of(r, 0);
}

static int64_t calls_b(const struct model *m, const struct function_row *r)
{
	return calls_of(r, 1);
}

static int64_t more_calls(const struct model *m, const struct function_row *r)
{
	return calls_of(r, 1) - calls_of(r, 0);
}

static int64_t total(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[0].total;
}

static int64_t total_b(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[1].total;
}

static int64_t more_total(const struct model *m, const struct function_row *r)
{
	return total_b(m, r) - total(m, r);
}

static int64_t self(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[0].self;
}

static int64_t longest(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[0].max;
}

static int64_t branches(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[0].branches;
}

static int64_t more_branches(const struct model *m, const struct function_row *r)
{
	return (int64_t)r->f[1].branches - branches(m, r);
}

static int64_t only_a(const struct model *m, const struct function_row *r)
{
	return (int64_t)m->only.data[r->function.of[0]].n[0];
}

static int64_t only_b(const struct model *m, const struct function_row *r)
{
	return (int64_t)m->only.data[r->function.of[1]].n[1];
}

enum cell_kind { CELL_COUNT, CELL_TIME, CELL_MORE, CELL_MORE_TIME, CELL_NAME };
struct function_column {
	struct table_column table;
	value_fn value;
	enum cell_kind kind;
};

static const struct function_column one_run[] = {
	{{"calls", 9, 0}, calls, CELL_COUNT},	     {{"total", 8, 5}, total, CELL_TIME},
	{{"self", 8, 3}, self, CELL_TIME},	     {{"max", 8, 1}, longest, CELL_TIME},
	{{"branches", 10, 2}, branches, CELL_COUNT}, {{"function", 8, 0}, NULL, CELL_NAME},
};

static const struct function_column two_runs[] = {
	{{"calls A", 9, 6}, calls, CELL_COUNT},
	{{"calls B", 9, 6}, calls_b, CELL_COUNT},
	{{"+calls", 9, 0}, more_calls, CELL_MORE},
	{{"+branches", 10, 4}, more_branches, CELL_MORE},
	{{"paths A", 8, 5}, only_a, CELL_COUNT},
	{{"paths B", 8, 5}, only_b, CELL_COUNT},
	{{"total A", 8, 2}, total, CELL_TIME},
	{{"total B", 8, 2}, total_b, CELL_TIME},
	{{"+total", 8, 3}, more_total, CELL_MORE_TIME},
	{{"function", 8, 0}, NULL, CELL_NAME},
};
#define NAME_ROOM 12

static const struct function_column *columns_of(const struct screen *s, size_t *n)
{
	*n = s->model->nruns > 1 ? ARRAY_SIZE(two_runs) : ARRAY_SIZE(one_run);
	return s->model->nruns > 1 ? two_runs : one_run;
}

static unsigned omit(const struct screen *s, unsigned width)
{
	struct table_column table[ARRAY_SIZE(two_runs)];
	size_t n;
	const struct function_column *c = columns_of(s, &n);

	for (size_t i = 0; i < n - 1; i++)
		table[i] = c[i].table;
	return cells__omit(table, n - 1, width, NAME_ROOM);
}

/* ---- rows ---- */

/* Events that are missing make counts lower bounds. */
static const char *more_of(const struct model *m)
{
	for (size_t i = 0; i < m->nruns; i++)
		if (totals__are_low(&m->totals[i]))
			return "+";
	return "";
}

static void put_cell(const struct screen *s, const struct function_column *c,
		     const struct function_row *r, struct str *out)
{
	int64_t v = c->value(s->model, r);
	bool timed = r->f[0].timed || r->f[1].timed;

	if (c->kind == CELL_MORE)
		put_difference(out, v);
	else if (c->kind == CELL_MORE_TIME)
		put_time_difference(out, v);
	else if (c->kind == CELL_TIME && !timed)
		str__putc(out, '-');
	else if (c->kind == CELL_TIME)
		put_duration(out, (uint64_t)v);
	else if (c->value == calls && r->f[0].calls == COUNT_UNKNOWN)
		str__putc(out, '?');
	else
		str__printf(out, "%lld%s", (long long)v,
			    c->value == only_a || c->value == only_b ? "" : more_of(s->model));
}

static size_t functions__count(const struct screen *s)
{
	return ((const struct functions *)s)->rows.len;
}

static void functions__heads(const struct screen *s, unsigned width, struct str *out)
{
	const struct functions *f = (const struct functions *)s;
	unsigned left_out = omit(s, width);
	size_t n;
	const struct function_column *c = columns_of(s, &n);

	for (size_t i = 0; i < n; i++)
		if (cells__shows(&c[i].table, left_out))
			cells__put_head(out, &c[i].table, i == f->by);
}

static void functions__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	const struct function_row *r = &((struct functions *)s)->rows.data[row];
	unsigned left_out = omit(s, width);
	size_t n;
	const struct function_column *c = columns_of(s, &n);

	for (size_t i = 0; i < n - 1; i++) {
		autofree struct str cell = {0};

		if (!cells__shows(&c[i].table, left_out))
			continue;
		put_cell(s, &c[i], r, &cell);
		cells__put(out, &c[i].table, cell.data);
	}
	if (s->model->nruns > 1 && r->ran[0] != r->ran[1])
		str__puts(out, r->ran[0] ? "\033[1;31m[only A] " : "\033[1;31m[only B] ");
	else
		str__puts(out, "\033[32m");
	str__shown(out, s->model->plan->functions.data[r->function.of[0]].name);
	str__puts(out, "\033[0m");
}

static void functions__title(const struct screen *s, struct str *out)
{
	const struct model *m = s->model;
	size_t n;
	const struct function_column *c = columns_of(s, &n);

	str__puts(out, "Functions of ");
	for (size_t i = 0; i < m->nruns; i++) {
		str__puts(out, !i ? m->nruns > 1 ? "A " : "" : " and B ");
		text__put_name(out, m->run[i].name, s->width / (2 * (unsigned)m->nruns));
	}
	str__printf(out, ", by %s%s", c[((const struct functions *)s)->by].table.head,
		    ((const struct functions *)s)->reverse ? ", reversed" : "");
}

/* ---- sorting ---- */

static int compare(const void *a, const void *b, void *ctx)
{
	const struct functions *f = ctx;
	const struct function_row *x = a, *y = b;
	const struct model *m = f->screen.model;
	size_t n;
	const struct function_column *c = &columns_of(&f->screen, &n)[f->by];
	int order = 0;

	if (c->value) {
		int64_t p = c->value(m, x), q = c->value(m, y);

		if (c->kind == CELL_MORE || c->kind == CELL_MORE_TIME) {
			p = p < 0 ? -p : p;
			q = q < 0 ? -q : q;
		}
		order = p < q ? 1 : p > q ? -1 : 0;
	}
	if (!order)
		order = strcmp(m->plan->functions.data[x->function.of[0]].name,
			       m->plan->functions.data[y->function.of[0]].name);
	if (!order)
		order = x->function.of[0] < y->function.of[0] ? -1 : 1;
	return f->reverse ? -order : order;
}

static void functions__sort(struct screen *s, int column)
{
	struct functions *f = (struct functions *)s;
	size_t n;

	columns_of(s, &n);
	if (column)
		f->reverse = false;
	else
		f->reverse = !f->reverse;
	f->by = (f->by + n + column) % n;
	vec__sort_by(&f->rows, compare, f);
}

/* ---- what a row leads to ---- */

static struct screen *functions__enter(struct screen *s, size_t row)
{
	struct function_pair function = ((struct functions *)s)->rows.data[row].function;

	return s->model->nruns > 1 ? paths__open(s->model, function)
				   : calls__open(s->model, function, NULL);
}

static bool functions__key(struct screen *s, size_t row, int key, struct screen **next)
{
	const struct functions *f = (const struct functions *)s;

	if (key == 'T' || key == '\t') {
		*next = threads__open(s->model);
		return true;
	}
	if ((key != 'p' && key != 'c') || row >= f->rows.len)
		return false;
	*next = key == 'p' ? paths__open(s->model, f->rows.data[row].function)
			   : calls__open(s->model, f->rows.data[row].function, NULL);
	return true;
}

static void free_functions(struct screen *s)
{
	vec__free(&((struct functions *)s)->rows);
}

static const struct screen_ops ops = {
	.keys = "Enter, Right  the calls of the function (of two traces: its paths)\n"
		"c             its calls\n"
		"p             its paths: calls that took the same branches\n"
		"T, Tab        the threads\n"
		"+total, +calls, +branches: B minus A. paths A: paths that only A has\n",
	.count = functions__count,
	.title = functions__title,
	.heads = functions__heads,
	.row = functions__row,
	.enter = functions__enter,
	.sort = functions__sort,
	.key = functions__key,
	.free = free_functions,
};

/* Two builds of a function that changed are two functions of the plan: each ran in one of the
 * runs, and they have the same name. */
static bool is_other_build(const struct model *m, const struct function_row *a,
			   const struct function_row *b)
{
	const struct plan_function *f = m->plan->functions.data;

	return a->ran[0] && !a->ran[1] && b->ran[1] && !b->ran[0] &&
	       !strcmp(f[a->function.of[0]].name, f[b->function.of[1]].name);
}

/* Those of A before those of B. */
static int by_name(const void *a, const void *b, void *ctx)
{
	const struct function_row *x = a, *y = b;
	const struct plan_function *f = ((const struct model *)ctx)->plan->functions.data;
	int order = strcmp(f[x->function.of[0]].name, f[y->function.of[0]].name);

	return order			? order
	       : x->ran[0] != y->ran[0] ? y->ran[0] - x->ran[0]
					: x->ran[1] - y->ran[1];
}

/* Of several functions of one name in a run it isn't known which of them is meant: the last of A
 * and the first of B are paired only if there are no others. */
static bool is_pair(const struct functions *f, size_t i)
{
	const struct model *m = f->screen.model;
	const struct function_row *r = f->rows.data;

	return i + 1 < f->rows.len && is_other_build(m, &r[i], &r[i + 1]) &&
	       !(i && is_other_build(m, &r[i - 1], &r[i + 1])) &&
	       !(i + 2 < f->rows.len && is_other_build(m, &r[i], &r[i + 2]));
}

static void pair_builds(struct functions *f)
{
	struct function_row *rows = f->rows.data;
	size_t n = f->rows.len, left = 0;

	vec__sort_by(&f->rows, by_name, f->screen.model);
	for (size_t i = 0; i < n; i++) {
		if (!is_pair(f, i))
			continue;
		rows[i].function.of[1] = rows[i + 1].function.of[1];
		rows[i].ran[1] = true;
		rows[i].f[1] = rows[i + 1].f[1];
		rows[i + 1].ran[1] = false; /* it has no row */
	}
	for (size_t i = 0; i < n; i++)
		if (rows[i].ran[0] || rows[i].ran[1])
			rows[left++] = rows[i];
	f->rows.len = left;
}

struct screen *functions__open(struct model *m)
{
	struct functions *f = screen__new(&ops, m, sizeof(*f));
	size_t n = m->plan ? m->plan->functions.len : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct function_row r = {.function = {{i, i}}};

		for (size_t k = 0; k < m->nruns; k++)
			r.ran[k] = output__function(m->counts[k], i, &r.f[k]);
		if (r.ran[0] || r.ran[1])
			vec__push(&f->rows, r);
	}
	if (m->nruns > 1)
		pair_builds(f);
	f->by = m->nruns > 1 ? 2 : 1;
	vec__sort_by(&f->rows, compare, f);
	return &f->screen;
}
