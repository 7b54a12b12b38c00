// SPDX-License-Identifier: BSD-2-Clause
/* The steps around partings. Paths have neither times nor registers: the files are read again for
 * them. */
#include <stdlib.h>
#include "diff/paths.h"

struct captured_step {
	struct kept_step kept;
	size_t thread;
	uint64_t index;
};

struct want {
	size_t thread;
	uint64_t index;
};
typedef VEC(struct want) want_vec;

/* ---- what is asked for ---- */

static void want(want_vec *wants, const struct paths *p, size_t thread, uint64_t first, uint64_t n)
{
	uint64_t all = paths__thread(p, thread)->steps;

	for (uint64_t i = first; i < all && i - first < n; i++)
		vec__push(wants, (struct want){thread, i});
}

static void want_around(want_vec *wants, const struct diff *d, const struct parting *p, int side,
			uint64_t context)
{
	size_t thread = side == SIDE_A ? p->threads.a : p->threads.b;
	uint64_t all = thread == SIZE_MAX ? 0 : paths__thread(d->runs[side], thread)->steps;
	uint64_t at = min_of(p->index[side], all), before = min_of(at, context);
	size_t first = p->frames.len > DIFF_CALLS ? p->frames.len - DIFF_CALLS : 0;

	if (thread == SIZE_MAX)
		return;
	want(wants, d->runs[side], thread, at - before, before + 1 + context);
	if (p->meets)
		want(wants, d->runs[side], thread, p->meet[side], 1 + context);
	for (size_t i = first; i < p->frames.len; i++)
		if (p->frames.data[i].entry[side] != UINT64_MAX)
			want(wants, d->runs[side], thread, p->frames.data[i].entry[side], 1);
}

static int by_place(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t key_of(size_t thread, uint64_t index)
{
	uint64_t key[] = {thread, index};

	return map64__hash(key, sizeof(key));
}

static int take(struct diff_steps *s, int side, size_t thread, uint64_t index,
		const struct step *step)
{
	struct captured_step *row = xcalloc(1, sizeof(*row));

	kept__take(&row->kept, step);
	kept__step(&row->kept);
	row->thread = thread;
	row->index = index;
	vec__push(&s->rows[side], row);
	*map64__put(&s->by_place[side], key_of(thread, index)) = s->rows[side].len;
	return 0;
}

static int take_a(void *ctx, size_t thread, uint64_t index, const struct step *step)
{
	return take(ctx, SIDE_A, thread, index, step);
}

static int take_b(void *ctx, size_t thread, uint64_t index, const struct step *step)
{
	return take(ctx, SIDE_B, thread, index, step);
}

void diff_steps__ask(struct diff_steps *s, const struct diff *d, uint64_t context)
{
	*s = (struct diff_steps){0};
	for (int side = 0; side < SIDES; side++) {
		want_vec wants = {0};
		const struct parting *p;
		const struct want *w;

		paths__init(&s->again[side], d->outcomes, NULL);
		s->again[side].captured = side == SIDE_A ? take_a : take_b;
		s->again[side].ctx = s;
		vec__each (p, &d->partings)
			want_around(&wants, d, p, side, context);
		vec__sort(&wants, by_place);
		vec__each (w, &wants)
			if (w == wants.data || by_place(w - 1, w) != 0)
				paths__want(&s->again[side], w->thread, w->index);
		vec__free(&wants);
	}
}

const struct step *diff_steps__at(const struct diff_steps *s, int side, size_t thread,
				  uint64_t index)
{
	const uint64_t *known = map64__get(&s->by_place[side], key_of(thread, index));
	const struct captured_step *row = known ? s->rows[side].data[*known - 1] : NULL;

	return row && row->thread == thread && row->index == index ? &row->kept.step : NULL;
}

void diff_steps__free(struct diff_steps *s)
{
	for (int side = 0; side < SIDES; side++) {
		struct captured_step **row;

		vec__each (row, &s->rows[side]) {
			kept__free(&(*row)->kept);
			free(*row);
		}
		vec__free(&s->rows[side]);
		map64__free(&s->by_place[side]);
		paths__free(&s->again[side]);
	}
}
