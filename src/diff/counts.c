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

static bool is_asked(const struct outcomes *o, const struct outcome *r, bool entries)
{
	if (entries)
		return r->type == OUTCOME_ENTRY;
	/* its branches don't correspond to those of the other build */
	return r->type == OUTCOME_BRANCH &&
	       !(r->function < o->nfunctions && o->changed[r->function]);
}

/* Outcomes that outcome__same() takes for one are added up in the first one. */
static uint32_t representative(const struct outcomes *o, uint32_t outcome)
{
	const struct outcome *r = &o->rows.data[outcome];
	const uint64_t *known;
	struct outcome first = *r;

	if (r->type == OUTCOME_BRANCH || r->function >= o->nfunctions)
		return outcome;
	first.function = o->same[r->function];
	for (uint64_t hash = map64__hash(&first, sizeof(first));; hash++) {
		known = map64__get(&o->by_row, hash);
		if (!known)
			return outcome;
		if (!memcmp(&o->rows.data[*known - 1], &first, sizeof(first)))
			return *known - 1;
	}
}

void counts__compare(const struct outcomes *o, const struct paths *a, const struct paths *b,
		     bool entries, count_changes *out)
{
	VEC(struct count_change) rows = {0};
	struct count_change *row;

	for (uint32_t i = 0; i < o->rows.len; i++)
		vec__push(&rows, (struct count_change){.outcome = i});
	for (uint32_t i = 0; i < o->rows.len; i++) {
		uint32_t to = representative(o, i);

		rows.data[to].n[SIDE_A] += count_of(a, i);
		rows.data[to].n[SIDE_B] += count_of(b, i);
	}
	vec__each (row, &rows) {
		row->score = score_of(row->n);
		if (row->n[SIDE_A] != row->n[SIDE_B] &&
		    is_asked(o, &o->rows.data[row->outcome], entries))
			vec__push(out, *row);
	}
	vec__free(&rows);
	vec__sort(out, by_score);
}
