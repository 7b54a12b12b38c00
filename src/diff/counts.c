// SPDX-License-Identifier: BSD-2-Clause
/* Which functions and branches two runs executed how often, the most conspicuous difference first.
 */
#include "diff/diff.h"

static uint64_t count_of(const struct paths *p, size_t outcome)
{
	return outcome < p->counts.len ? p->counts.data[outcome] : 0;
}

/* (a - b)^2 / (a + b): how far apart, by what chance alone would do. */
static double score_of(const uint64_t *n)
{
	double a = n[SIDE_A], b = n[SIDE_B];

	return a + b > 0 ? (a - b) * (a - b) / (a + b) : 0;
}

static int by_score(const void *a, const void *b)
{
	const struct count_change *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->outcome < y->outcome ? -1 : x->outcome > y->outcome;
}

/* By site: in some cases its target isn't known, so no target's count is. */
static bool *find_hazy(const struct outcomes *o)
{
	bool *hazy = xcalloc(o->plan->sites.len + 1, sizeof(*hazy));
	const struct outcome *r;

	vec__each (r, &o->rows) {
		const struct plan_site *s =
			r->site < o->plan->sites.len ? &o->plan->sites.data[r->site] : NULL;

		if (s && !s->target && !plan_site__is_conditional(s))
			hazy[r->site] |= r->target == NO_TARGET;
	}
	return hazy;
}

void counts__compare(const struct outcomes *o, const struct paths *a, const struct paths *b,
		     count_changes *functions, count_changes *branches)
{
	VEC(struct count_change) rows = {0};
	struct count_change *row;
	autofree bool *hazy = find_hazy(o);
	autofree uint32_t *of_site = xcalloc(o->plan->sites.len + 1, sizeof(*of_site));

	for (uint32_t i = 0; i < o->rows.len; i++)
		vec__push(&rows, (struct count_change){.outcome = i});
	for (uint32_t i = 0; i < o->rows.len; i++) {
		uint32_t to = outcome__first(o, i), site = o->rows.data[i].site;

		if (site < o->plan->sites.len && hazy[site]) {
			if (!of_site[site])
				of_site[site] = to + 1;
			to = of_site[site] - 1;
		}
		rows.data[to].n[SIDE_A] += count_of(a, i);
		rows.data[to].n[SIDE_B] += count_of(b, i);
	}
	vec__each (row, &rows) {
		const struct outcome *r = &o->rows.data[row->outcome];

		row->score = score_of(row->n);
		if (row->n[SIDE_A] == row->n[SIDE_B])
			continue;
		if (r->type == OUTCOME_ENTRY)
			vec__push(functions, *row);
		else if (r->type == OUTCOME_BRANCH && !outcomes__is_changed(o, r->function))
			vec__push(branches, *row);
	}
	vec__free(&rows);
	vec__sort(functions, by_score);
	vec__sort(branches, by_score);
}
