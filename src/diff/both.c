// SPDX-License-Identifier: BSD-2-Clause
/* What both runs do around a parting: steps of the one next to those of the other, as far as they
 * are known to be the same. */
#include "diff/view.h"

static bool is_left_out(const struct outcomes *o, const struct step *s)
{
	return s->type == STEP_BRANCH && outcomes__is_changed(o, s->function);
}

/* Returns the step at an index, or the nearest one in this direction that has a counterpart, and
 * its index; NULL if it isn't known. */
static const struct step *find(const struct diff_view *v, const struct parting *p, int side,
			       uint64_t *index, int by)
{
	const struct step *s;

	while ((s = parting__step(v, p, side, *index)) && is_left_out(v->d->outcomes, s))
		*index += by;
	return s;
}

static bool are_same(const struct diff_view *v, const struct step_pair *p)
{
	struct outcomes *o = v->d->outcomes;
	uint32_t a = outcomes__of(o, p->of[SIDE_A]), b = outcomes__of(o, p->of[SIDE_B]);

	return a != NO_OUTCOME && b != NO_OUTCOME && o->rows.data[a].type != OUTCOME_GAP &&
	       p->of[SIDE_A]->depth == p->of[SIDE_B]->depth && outcome__same(o, a, b);
}

/* Follows both from these indices on, in this direction. */
static void follow(const struct diff_view *v, const struct parting *p, const uint64_t *from, int by,
		   uint64_t most, step_pairs *out)
{
	uint64_t at[SIDES] = {from[SIDE_A], from[SIDE_B]};

	for (uint64_t n = 0; n < most; n++) {
		struct step_pair pair;

		for (int side = 0; side < SIDES; side++) {
			pair.of[side] = find(v, p, side, &at[side], by);
			if (!pair.of[side])
				return;
		}
		if (!are_same(v, &pair))
			return;
		vec__push(out, pair);
		at[SIDE_A] += by;
		at[SIDE_B] += by;
	}
}

void both__before(const struct diff_view *v, const struct parting *p, uint64_t most,
		  step_pairs *out)
{
	uint64_t from[SIDES];

	if (p->kind == PART_THREAD)
		return;
	for (int side = 0; side < SIDES; side++)
		from[side] =
			min_of(p->index[side],
			       paths__thread(v->d->runs[side], parting__thread(p, side))->steps) -
			1;
	follow(v, p, from, -1, most, out);
	for (size_t i = 0; i < out->len / 2; i++) {
		struct step_pair other = out->data[out->len - 1 - i];

		out->data[out->len - 1 - i] = out->data[i];
		out->data[i] = other;
	}
}

void both__after(const struct diff_view *v, const struct parting *p, uint64_t most, step_pairs *out)
{
	if (p->meets)
		follow(v, p, p->meet, 1, most, out);
}
