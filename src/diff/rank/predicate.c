// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include "predicate.h"

/* ---- information ---- */

void logs__init(struct logs *l, size_t most)
{
	l->n = most + 1;
	l->of = xcalloc(l->n, sizeof(*l->of));
	for (size_t i = 2; i < l->n; i++)
		l->of[i] = i * log(i);
}

void logs__free(struct logs *l)
{
	free(l->of);
}

double logs__all(const struct logs *l, const size_t *of)
{
	return l->of[of[0] + of[1]] - l->of[of[0]] - l->of[of[1]];
}

/* How much a predicate says about which runs failed, in nats over all these runs; 0 if it isn't
 * truer of failing ones. */
static double information_of(const struct logs *l, const size_t *runs, const size_t *of)
{
	size_t in = runs[0] + runs[1], all = of[0] + of[1];
	double left;

	if (runs[RANK_FAIL] * of[RANK_PASS] <= runs[RANK_PASS] * of[RANK_FAIL])
		return 0;
	left = l->of[in] - l->of[runs[0]] - l->of[runs[1]] + l->of[all - in] -
	       l->of[of[0] - runs[0]] - l->of[of[1] - runs[1]];
	return logs__all(l, of) - left;
}

/* ---- values ---- */

static int compare(const struct run_value *a, const struct run_value *b)
{
	unsigned __int128 x = (unsigned __int128)a->n * b->all,
			  y = (unsigned __int128)b->n * a->all;

	return x < y ? -1 : x > y;
}

static int by_share(const void *a, const void *b)
{
	return compare(a, b);
}

static int by_count(const void *a, const void *b)
{
	const struct run_value *x = a, *y = b;

	return x->n < y->n ? -1 : x->n > y->n;
}

void values__sort(struct run_value *values, size_t n, bool shares)
{
	if (n)
		qsort(values, n, sizeof(*values), shares ? by_share : by_count);
}

static bool begins(const struct run_value *values, size_t i, bool shares)
{
	return !i ||
	       (shares ? compare(&values[i - 1], &values[i]) != 0 : values[i - 1].n != values[i].n);
}

/* ---- the best one ---- */

struct search {
	const struct logs *logs;
	const size_t *of;
	struct predicate best;
};

/* Of equals, the one that was tried first is kept. */
static void try_one(struct search *s, enum rank_how how, size_t cut, const size_t *runs,
		    double cost)
{
	double nats = information_of(s->logs, runs, s->of);

	if (nats <= 0 || nats - cost <= s->best.nats + 1e-9)
		return;
	s->best = (struct predicate){how, cut, {runs[0], runs[1]}, nats - cost};
}

/* Tries all cuts: what is below, and what is not. */
static void try_cuts(struct search *s, const struct run_value *values, size_t n, bool shares,
		     double cost)
{
	size_t total[RANK_SETS] = {0}, below[RANK_SETS] = {0};

	for (size_t i = 0; i < n; i++)
		total[values[i].fails]++;
	for (size_t i = 0; i < n; i++) {
		size_t above[RANK_SETS] = {total[0] - below[0], total[1] - below[1]};
		bool executed = !shares && values[i].n && (!i || !values[i - 1].n);
		bool never = !shares && i && !values[i - 1].n;

		if (begins(values, i, shares)) {
			if (!executed && (shares || values[i].n))
				try_one(s, shares ? RANK_SHARE_AT_LEAST : RANK_AT_LEAST, i, above,
					cost);
			if (i && !never)
				try_one(s, shares ? RANK_SHARE_AT_MOST : RANK_AT_MOST, i - 1, below,
					cost);
		}
		below[values[i].fails]++;
	}
}

static size_t distinct(const struct run_value *values, size_t n, bool shares)
{
	size_t different = 0;

	for (size_t i = 0; i < n; i++)
		different += begins(values, i, shares);
	return different;
}

static void try_presence(struct search *s, const struct run_value *values, size_t n)
{
	size_t executed[RANK_SETS] = {0}, never[RANK_SETS] = {0}, first = 0;

	for (size_t i = 0; i < n; i++) {
		(values[i].n ? executed : never)[values[i].fails]++;
		first += !values[i].n;
	}
	try_one(s, RANK_EXECUTED, first, executed, 0);
	try_one(s, RANK_NEVER, first ? first - 1 : 0, never, M_LN2);
}

struct predicate predicate__of_counts(const struct logs *l, const struct run_value *values,
				      size_t n, const size_t *of, bool thresholds)
{
	struct search s = {l, of, {.nats = -INFINITY}};

	try_presence(&s, values, n);
	if (thresholds)
		try_cuts(&s, values, n, false, log(2.0 * distinct(values, n, false)));
	return s.best;
}

struct predicate predicate__of_shares(const struct logs *l, const struct run_value *values,
				      size_t n, const size_t *of)
{
	struct search s = {l, of, {.nats = -INFINITY}};

	try_cuts(&s, values, n, true, log(4.0 * distinct(values, n, true)));
	return s.best;
}

/* ---- a percentage ---- */

double predicate__percent(const struct predicate *p, const struct run_value *values, size_t n,
			  unsigned *decimals)
{
	bool least = p->how == RANK_SHARE_AT_LEAST;
	const struct run_value *in = &values[p->cut], *out = least ? p->cut ? in - 1 : NULL
							     : p->cut + 1 < n ? in + 1
									      : NULL;
	double inside = 100.0 * in->n / in->all, outside, scale = 1, value;

	if (!out)
		outside = least ? -1 : 101;
	else
		outside = 100.0 * out->n / out->all;
	for (*decimals = 0; *decimals < 9; (*decimals)++, scale *= 10) {
		value = least ? floor(inside * scale) / scale : ceil(inside * scale) / scale;
		if (least ? value > outside : value < outside)
			return value;
	}
	return inside;
}
