// SPDX-License-Identifier: BSD-2-Clause
/*
 * For calls without a place that is common to all paths, as in an interpreter's loop: the nearest
 * outcomes from which on the next ones are the same. Only those of the call itself count, not what
 * it calls.
 */
#include <stdlib.h>
#include "diff/align.h"

#define WINDOW 32768 /* outcomes of the call */
#define NEAR   64

struct window {
	VEC(uint64_t) keys;
	VEC(uint64_t) indices;
	bool whole; /* up to the end of the call */
};

static uint64_t key_of(const struct aligning *a, const struct path_item *i)
{
	const struct outcome *r = aligning__outcome(a, i);
	uint32_t key[] = {r->site, r->taken};

	/* where it leads isn't known in each case, and shows by what follows */
	if (r->type == OUTCOME_BRANCH)
		return map64__hash(key, sizeof(key));
	return outcome__first(a->d->outcomes, i->outcome) | 1ull << 63;
}

/* Considers those of the call itself: its branches and return, and the calls that it makes. */
static void look_ahead(const struct aligning *a, int side, int64_t depth, struct window *w)
{
	struct path_cursor c = a->at[side];
	const struct path_item *i;

	while (w->keys.len < WINDOW) {
		i = aligning__peek(a, &c);
		w->whole = !i || aligning__frame_of(a, i) < depth;
		if (w->whole)
			return;
		if (aligning__frame_of(a, i) == depth &&
		    aligning__outcome(a, i)->type != OUTCOME_GAP) {
			vec__push(&w->keys, key_of(a, i));
			vec__push(&w->indices, i->index);
		}
		if (i->depth == depth && aligning__outcome(a, i)->type == OUTCOME_RETURN) {
			w->whole = true;
			return;
		}
		path_cursor__skip(&c);
	}
}

/* ---- a branch ---- */

static bool comes_to(const struct aligning *a, int side, int64_t depth, uint32_t site)
{
	struct path_cursor c = a->at[side];
	const struct path_item *i;

	for (unsigned n = 0; n < NEAR && (i = aligning__peek(a, &c)); path_cursor__skip(&c)) {
		const struct outcome *o = aligning__outcome(a, i);

		if (aligning__frame_of(a, i) < depth)
			return false;
		if (i->depth == depth && o->type == OUTCOME_BRANCH && o->site == site)
			return true;
		n += aligning__frame_of(a, i) == depth;
	}
	return false;
}

bool search__is_near(const struct aligning *a, int64_t depth, uint32_t site)
{
	return site != NO_SITE &&
	       (comes_to(a, SIDE_A, depth, site) || comes_to(a, SIDE_B, depth, site));
}

/* ---- the same outcomes ---- */

struct meeting {
	bool any;
	size_t at[SIDES];
};

static uint64_t run_at(const struct window *w, size_t i)
{
	return map64__hash(&w->keys.data[i], SEARCH_SAME * sizeof(*w->keys.data));
}

static bool same_run(const struct window *a, size_t i, const struct window *b, size_t k)
{
	return !memcmp(&a->keys.data[i], &b->keys.data[k], SEARCH_SAME * sizeof(uint64_t));
}

static void find_runs(const struct window *a, const struct window *b, struct meeting *f)
{
	struct map64 first = {0};
	size_t best = SIZE_MAX;

	for (size_t i = b->keys.len; i-- > 0;)
		if (i + SEARCH_SAME <= b->keys.len)
			*map64__put(&first, run_at(b, i)) = i + 1;
	for (size_t i = 0; i + SEARCH_SAME <= a->keys.len && i < best; i++) {
		const uint64_t *k = map64__get(&first, run_at(a, i));

		if (!k || i + *k - 1 >= best || !same_run(a, i, b, *k - 1))
			continue;
		best = i + *k - 1;
		*f = (struct meeting){true, {i, *k - 1}};
	}
	map64__free(&first);
}

/* The ends of the call, if they are the same. */
static void find_ends(const struct window *a, const struct window *b, struct meeting *f)
{
	size_t n = 0;

	if (!a->whole || !b->whole)
		return;
	while (n < a->keys.len && n < b->keys.len &&
	       a->keys.data[a->keys.len - 1 - n] == b->keys.data[b->keys.len - 1 - n])
		n++;
	if (n)
		*f = (struct meeting){true, {a->keys.len - n, b->keys.len - n}};
}

bool search__meet(struct aligning *a, int64_t depth)
{
	struct window w[SIDES] = {0};
	struct meeting f = {0};

	look_ahead(a, SIDE_A, depth, &w[SIDE_A]);
	look_ahead(a, SIDE_B, depth, &w[SIDE_B]);
	find_runs(&w[SIDE_A], &w[SIDE_B], &f);
	if (!f.any)
		find_ends(&w[SIDE_A], &w[SIDE_B], &f);
	for (int side = 0; f.any && side < SIDES; side++) {
		uint64_t to = w[side].indices.data[f.at[side]];
		const struct path_item *i;

		while ((i = aligning__peek(a, &a->at[side])) && i->index < to)
			aligning__pass(a, side);
	}
	for (int side = 0; side < SIDES; side++) {
		vec__free(&w[side].keys);
		vec__free(&w[side].indices);
	}
	return f.any;
}
