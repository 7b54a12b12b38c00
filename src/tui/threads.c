// SPDX-License-Identifier: BSD-2-Clause
/* The threads, each of which leads to all its steps. */
#include "screens.h"

enum { BY_START, BY_STEPS, BY_CALLS, BY_NAME, ORDERS };
static const char *const orders[ORDERS] = {"start", "steps", "calls", "number"};

struct thread_ref {
	uint32_t run, thread;
};

struct threads {
	struct screen screen;
	VEC(struct thread_ref) refs;
	size_t by;
	bool reverse;
};

static const struct thread *thread_at(const struct model *m, const struct thread_ref *ref)
{
	return &m->run[ref->run].threads.data[ref->thread];
}

static size_t threads__count(const struct screen *s)
{
	return ((const struct threads *)s)->refs.len;
}

static void threads__title(const struct screen *s, struct str *out)
{
	const struct threads *t = (const struct threads *)s;

	str__printf(out, "Threads, by %s%s", orders[t->by], t->reverse ? ", reversed" : "");
}

static void threads__heads(const struct screen *s, unsigned width, struct str *out)
{
	str__puts(out, s->model->nruns > 1 ? "in       steps      calls   gaps  thread"
					   : "      steps      calls   gaps  thread");
}

static void threads__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	const struct thread_ref *ref = &((struct threads *)s)->refs.data[row];
	const struct thread *t = thread_at(s->model, ref);

	if (s->model->nruns > 1)
		str__puts(out, ref->run ? " B " : " A ");
	str__printf(out, "%11llu %10llu %s%6llu\033[0m  ", (unsigned long long)t->steps,
		    (unsigned long long)t->calls, t->missing ? "\033[1;31m" : "",
		    (unsigned long long)t->missing);
	model__put_thread(&s->model->run[ref->run], ref->thread, out);
}

static uint64_t value_of(const struct threads *t, const struct thread_ref *ref)
{
	const struct thread *at = thread_at(t->screen.model, ref);

	return t->by == BY_STEPS   ? ~at->steps
	       : t->by == BY_CALLS ? ~at->calls
	       : t->by == BY_START ? at->started
				   : at->key;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct thread_ref *x = a, *y = b;
	const struct threads *t = ctx;
	uint64_t p = value_of(t, x), q = value_of(t, y);
	int order = p < q ? -1 : p > q;

	if (!order)
		order = x->run < y->run ? -1 : x->run > y->run;
	if (!order)
		order = x->thread < y->thread ? -1 : 1;
	return t->reverse ? -order : order;
}

static void threads__sort(struct screen *s, int column)
{
	struct threads *t = (struct threads *)s;

	t->reverse = !column && !t->reverse;
	t->by = (t->by + ORDERS + column) % ORDERS;
	vec__sort_by(&t->refs, compare, t);
}

static struct screen *threads__enter(struct screen *s, size_t row)
{
	const struct thread_ref *ref = &((struct threads *)s)->refs.data[row];

	return steps__open_thread(s->model, ref->run, ref->thread);
}

static void threads__free(struct screen *s)
{
	vec__free(&((struct threads *)s)->refs);
}

static const struct screen_ops ops = {
	.keys = "Enter, Right  all steps of the thread\n",
	.count = threads__count,
	.title = threads__title,
	.heads = threads__heads,
	.row = threads__row,
	.enter = threads__enter,
	.sort = threads__sort,
	.free = threads__free,
};

struct screen *threads__open(struct model *m)
{
	struct threads *t = screen__new(&ops, m, sizeof(*t));

	for (uint32_t i = 0; i < m->nruns; i++)
		for (uint32_t k = 0; k < m->run[i].threads.len; k++)
			vec__push(&t->refs, (struct thread_ref){i, k});
	vec__sort_by(&t->refs, compare, t);
	return &t->screen;
}
