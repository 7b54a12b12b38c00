// SPDX-License-Identifier: BSD-2-Clause
/* The calls of a function. */
#include "screens.h"

#define MOST (16u << 20)

enum { BY_TIME, BY_DURATION, BY_BRANCHES, BY_THREAD, ORDERS };

struct calls {
	struct screen screen;
	struct function_pair function;
	call_refs refs;
	size_t by;
	bool reverse, cut; /* cut: there are more */
};

static const struct table_column columns[ORDERS] = {
	[BY_TIME] = {"time", 12, 3},
	[BY_DURATION] = {"duration", 8, 0},
	[BY_BRANCHES] = {"branches", 9, 2},
	[BY_THREAD] = {"thread", 16, 1},
};
#define CALL_ROOM 20

static const struct call *call_at(const struct calls *c, size_t row)
{
	const struct call_ref *ref = &c->refs.data[row];

	return run__call(&c->screen.model->run[ref->run], ref->call);
}

static size_t calls__count(const struct screen *s)
{
	return ((const struct calls *)s)->refs.len;
}

static void calls__title(const struct screen *s, struct str *out)
{
	const struct calls *c = (const struct calls *)s;

	str__printf(out, "Calls of ");
	text__put_name(out, s->model->plan->functions.data[c->function.of[0]].name, s->width / 2);
	str__printf(out, ", by %s%s%s", columns[c->by].head, c->reverse ? ", reversed" : "",
		    c->cut ? ", the first of them" : "");
}

static void calls__heads(const struct screen *s, unsigned width, struct str *out)
{
	const struct calls *c = (const struct calls *)s;
	unsigned omit = cells__omit(columns, ORDERS, width, CALL_ROOM);

	if (s->model->nruns > 1)
		str__puts(out, "in ");
	for (size_t i = 0; i < ORDERS; i++)
		if (cells__shows(&columns[i], omit))
			cells__put_head(out, &columns[i], i == c->by);
	str__puts(out, "call");
}

static void put_since(struct str *out, const struct run *r, uint64_t time)
{
	uint64_t ns = time - min_of(time, r->start);

	str__printf(out, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
		    (unsigned long long)(ns % 1000000000));
}

static void put_column(const struct run *r, const struct call *c, size_t column, struct str *out)
{
	if (column == BY_TIME)
		put_since(out, r, c->time);
	else if (column == BY_BRANCHES)
		str__dec(out, c->branches);
	else if (column == BY_THREAD)
		model__put_thread(r, c->thread, out);
	else if (c->flags & CALL_TIMED)
		put_duration(out, c->duration);
	else
		str__putc(out, '-');
}

static void calls__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	const struct calls *c = (const struct calls *)s;
	const struct call_ref *ref = &c->refs.data[row];
	const struct run *r = &s->model->run[ref->run];
	unsigned omit = cells__omit(columns, ORDERS, width, CALL_ROOM);

	if (s->model->nruns > 1)
		str__puts(out, ref->run ? " B " : " A ");
	for (size_t i = 0; i < ORDERS; i++) {
		autofree struct str cell = {0};

		if (!cells__shows(&columns[i], omit))
			continue;
		put_column(r, call_at(c, row), i, &cell);
		cells__put(out, &columns[i], cell.data);
	}
	model__put_call(s->model, r, ref->call, out);
	model__put_state(call_at(c, row), out);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct call_ref *x = a, *y = b;
	const struct calls *c = ctx;
	const struct model *m = c->screen.model;
	const struct call *p = run__call(&m->run[x->run], x->call);
	const struct call *q = run__call(&m->run[y->run], y->call);
	int order = 0;

	if (c->by == BY_DURATION)
		order = p->duration < q->duration ? 1 : p->duration > q->duration ? -1 : 0;
	else if (c->by == BY_BRANCHES)
		order = p->branches < q->branches ? 1 : p->branches > q->branches ? -1 : 0;
	else if (c->by == BY_THREAD)
		order = p->thread < q->thread ? -1 : p->thread > q->thread;
	if (!order)
		order = x->run < y->run ? -1 : x->run > y->run;
	if (!order)
		order = x->call < y->call ? -1 : 1;
	return c->reverse ? -order : order;
}

static void calls__sort(struct screen *s, int column)
{
	struct calls *c = (struct calls *)s;

	c->reverse = !column && !c->reverse;
	c->by = (c->by + ORDERS + column) % ORDERS;
	vec__sort_by(&c->refs, compare, c);
}

static struct screen *calls__enter(struct screen *s, size_t row)
{
	const struct calls *c = (const struct calls *)s;
	call_refs refs = {0};

	vec__append(&refs, &c->refs);
	return steps__open_call(s->model, refs, row);
}

static bool calls__key(struct screen *s, size_t row, int key, struct screen **next)
{
	const struct calls *c = (const struct calls *)s;

	if (key != 'p')
		return false;
	*next = paths__open(s->model, c->function);
	return true;
}

static void calls__free(struct screen *s)
{
	vec__free(&((struct calls *)s)->refs);
}

static const struct screen_ops ops = {
	.keys = "Enter, Right  the path of the call: each of its steps\n"
		"p             the paths of this function\n",
	.count = calls__count,
	.title = calls__title,
	.heads = calls__heads,
	.row = calls__row,
	.enter = calls__enter,
	.sort = calls__sort,
	.key = calls__key,
	.free = calls__free,
};

static void add_calls(struct calls *c, uint32_t run, const uint64_t *path)
{
	const struct run *r = &c->screen.model->run[run];
	uint32_t function = c->function.of[run];
	uint32_t next = function < r->functions.len ? r->functions.data[function].first : 0;

	for (; next; next = run__call(r, next - 1)->next) {
		if (path && run__call(r, next - 1)->path != *path)
			continue;
		if (c->refs.len >= MOST) {
			c->cut = true;
			return;
		}
		vec__push(&c->refs, (struct call_ref){run, next - 1});
	}
}

struct screen *calls__open(struct model *m, struct function_pair function, const uint64_t *path)
{
	struct calls *c = screen__new(&ops, m, sizeof(*c));

	c->function = function;
	for (uint32_t i = 0; i < m->nruns; i++)
		add_calls(c, i, path);
	return &c->screen;
}
