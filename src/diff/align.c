// SPDX-License-Identifier: BSD-2-Clause
/*
 * Aligns the paths of two threads. While they are the same, one stack of calls is that of both.
 * Where they part, each continues alone until it reaches the place where all paths of that call
 * lead; if it leaves the call before that, they may meet in the call around it.
 */
#include <stdlib.h>
#include "diff/align.h"
#include "plan/graph/meet.h"

/* ---- items ---- */

static bool same(const struct aligning *a, const struct path_item *x, const struct path_item *y)
{
	return x->depth == y->depth && outcome__same(a->d->outcomes, x->outcome, y->outcome);
}

/* ---- the calls that both are in ---- */

static void set_depth(struct aligning *a, size_t depth)
{
	static const struct diff_frame unknown = {NO_FUNCTION, {UINT64_MAX, UINT64_MAX}};

	while (a->frames.len < depth)
		vec__push(&a->frames, unknown);
	a->frames.len = depth;
}

static void follow(struct aligning *a, const struct path_item *x, const struct path_item *y)
{
	const struct outcome *o = aligning__outcome(a, x);
	struct diff_frame *top;

	switch (o->type) {
	case OUTCOME_ENTRY:
		set_depth(a, x->depth);
		vec__push(&a->frames, (struct diff_frame){o->function, {x->index, y->index}});
		break;
	case OUTCOME_RETURN:
		set_depth(a, x->depth);
		break;
	case OUTCOME_BRANCH:
		set_depth(a, (size_t)x->depth + 1);
		top = vec__last(&a->frames);
		if (top->function == NO_FUNCTION)
			top->function = o->function;
		break;
	default:
		break;
	}
}

/* ---- each alone ---- */

enum where { AT_SITE, LEFT, ENDED };

/* Advances to the next execution of site in the call of this depth, or to what follows that
 * call. */
static enum where advance(struct aligning *a, int side, int64_t depth, uint32_t site)
{
	const struct path_item *i;

	while ((i = aligning__peek(a, &a->at[side]))) {
		const struct outcome *o = aligning__outcome(a, i);

		if (aligning__frame_of(a, i) < depth)
			return LEFT;
		if (i->depth == depth && o->type == OUTCOME_RETURN) {
			aligning__pass(a, side);
			return LEFT;
		}
		if (i->depth == depth && o->type == OUTCOME_BRANCH && o->site == site)
			return AT_SITE;
		aligning__pass(a, side);
	}
	return ENDED;
}

/* ---- where they meet ---- */

/* The block that control is in in this call: before an item, or after it. */
static uint32_t block_at(const struct aligning *a, const struct path_item *i, int64_t depth)
{
	const struct outcome *o = i ? aligning__outcome(a, i) : NULL;

	if (!o || o->type != OUTCOME_BRANCH || i->depth != depth)
		return NO_BLOCK;
	return a->d->outcomes->plan->sites.data[o->site].block;
}

static uint32_t block_after(const struct aligning *a, const struct path_item *i)
{
	const struct outcome *o = aligning__outcome(a, i);
	const struct outcome_target *t = &a->d->outcomes->targets.data[o->target];
	const struct plan *p = a->d->outcomes->plan;

	return plan__block_after(p, o->site, o->taken, t->vaddr);
}

/* Returns the branch to which all paths from these blocks lead. */
static uint32_t meeting_site(struct aligning *a, uint32_t x, uint32_t y)
{
	/* one is in code that isn't traced, which comes back to where the other is */
	if (x == NO_BLOCK)
		x = y;
	if (y == NO_BLOCK)
		y = x;
	return plan_meets__site(a->d->meets, x, y);
}

/* Both leave the call of this depth: returns the depth of the innermost call that both are in then;
 * -2 if a path has ended. */
static int64_t leave(struct aligning *a, int64_t depth)
{
	while (depth >= 0) {
		int64_t outer = depth - 1;

		for (int side = 0; side < SIDES; side++) {
			const struct path_item *i;

			if (advance(a, side, depth, NO_SITE) == ENDED)
				return -2;
			i = aligning__peek(a, &a->at[side]);
			if (!i)
				return -2;
			outer = min_of(outer, aligning__frame_of(a, i));
		}
		if (outer == depth - 1 || outer < 0)
			return max_of(outer, (int64_t)-1);
		/* one has left several calls at once: the other advances to where that is */
		depth = outer + 1;
	}
	return -1;
}

static bool at_same(struct aligning *a)
{
	const struct path_item *x = aligning__peek(a, &a->at[SIDE_A]),
			       *y = aligning__peek(a, &a->at[SIDE_B]);

	return x && y && same(a, x, y);
}

/* x, y: the blocks that they are in, in the call of this depth. by_place: also if they part again
 * and again, they meet where all paths lead, so iterations of a loop stay side by side. False: they
 * don't meet again. */
static bool meet(struct aligning *a, int64_t depth, uint32_t x, uint32_t y, bool by_place)
{
	bool searched = false;

	for (;;) {
		uint32_t site = meeting_site(a, x, y);
		bool again = !by_place && a->last_depth == depth && a->since < SEARCH_SAME;

		/* no place nearby is common to all paths, or they parted right after it before */
		if (!searched && (again || !search__is_near(a, depth, site)) &&
		    search__meet(a, depth))
			return true;
		searched = true;
		if (site != NO_SITE && advance(a, SIDE_A, depth, site) == AT_SITE &&
		    advance(a, SIDE_B, depth, site) == AT_SITE)
			return true;
		depth = leave(a, depth);
		if (depth < -1)
			return false;
		if (at_same(a))
			return true;
		if (depth < 0)
			return search__meet(a, depth);
		x = block_at(a, aligning__peek(a, &a->at[SIDE_A]), depth);
		y = block_at(a, aligning__peek(a, &a->at[SIDE_B]), depth);
		searched = false;
	}
}

/* ---- partings ---- */

static bool is_noise(const struct diff *d, const struct parting *p)
{
	return p->kind == PART_BRANCH && d->noise && map64__get(d->noise, p->site + 1ull);
}

/* What is noise in a loop's body doesn't shift its iterations. A jump through a table may be that
 * of an interpreter, whose iterations correspond only where the same ones follow. */
static bool keeps_iterations(const struct diff *d, const struct parting *p)
{
	return p->kind == PART_BRANCH && (d->same_input || is_noise(d, p)) &&
	       plan_site__is_conditional(&d->outcomes->plan->sites.data[p->site]);
}

/* frames: the calls that lead there; NULL for none. */
static void keep(struct diff *d, struct parting *p, const diff_frames *frames)
{
	size_t at = d->partings.len;

	if (is_noise(d, p)) {
		d->noisy++;
		return;
	}
	d->found++;
	++*map64__put(&d->by_site, p->kind == PART_BRANCH ? p->site + 1ull : 0);
	while (at && d->partings.data[at - 1].time > p->time)
		at--;
	if (at >= d->most)
		return;
	for (size_t i = 0; frames && i < frames->len; i++)
		vec__push(&p->frames, frames->data[i]);
	vec__push(&d->partings, *p);
	memmove(&d->partings.data[at + 1], &d->partings.data[at],
		(d->partings.len - 1 - at) * sizeof(*p));
	d->partings.data[at] = *p;
	if (d->partings.len > d->most) {
		vec__free(&vec__last(&d->partings)->frames);
		d->partings.len--;
	}
}

static uint64_t time_of(const struct diff *d, int side, size_t thread, uint64_t index)
{
	uint64_t time = paths__time(d->runs[side], thread, index);

	return time > d->start[side] ? time - d->start[side] : 0;
}

static void describe(struct aligning *a, struct parting *p, const struct path_item *x,
		     const struct path_item *y)
{
	const struct path_item *items[SIDES] = {x, y};
	const struct outcome *ox = x ? aligning__outcome(a, x) : NULL,
			     *oy = y ? aligning__outcome(a, y) : NULL;

	p->kind = PART_PLACE;
	p->site = NO_SITE;
	if (!x || !y)
		p->kind = PART_END;
	else if (ox->type == OUTCOME_BRANCH && oy->type == OUTCOME_BRANCH && ox->site == oy->site &&
		 x->depth == y->depth)
		p->kind = PART_BRANCH;
	if (p->kind == PART_BRANCH)
		p->site = ox->site;
	p->threads = a->threads;
	p->same = a->same;
	for (int side = 0; side < SIDES; side++) {
		p->index[side] = items[side] ? items[side]->index : UINT64_MAX;
		p->outcome[side] = items[side] ? items[side]->outcome : NO_OUTCOME;
	}
	p->time = x ? time_of(a->d, SIDE_A, a->threads.a, x->index)
		    : time_of(a->d, SIDE_B, a->threads.b, y->index);
}

/* The call that both are in: an entry, or what ended one of them, is of it as well. */
static int64_t depth_of_both(const struct aligning *a, const struct path_item *x,
			     const struct path_item *y)
{
	int64_t depth = a->frames.len ? (int64_t)a->frames.len - 1 : INT32_MAX;

	if (x)
		depth = min_of(depth, aligning__frame_of(a, x));
	if (y)
		depth = min_of(depth, aligning__frame_of(a, y));
	return depth;
}

static void go_to_ends(struct aligning *a)
{
	for (int side = 0; side < SIDES; side++)
		while (aligning__peek(a, &a->at[side]))
			aligning__pass(a, side);
}

/* Notes where the two differ. */
static void part(struct aligning *a, bool certain)
{
	const struct path_item *x = aligning__peek(a, &a->at[SIDE_A]),
			       *y = aligning__peek(a, &a->at[SIDE_B]);
	bool cut = (!x && a->d->cut[SIDE_A]) || (!y && a->d->cut[SIDE_B]);
	int64_t depth = depth_of_both(a, x, y);
	struct parting p = {0};
	uint32_t bx, by;
	bool by_place;

	describe(a, &p, x, y);
	by_place = keeps_iterations(a->d, &p);
	a->parting = &p;
	if (p.kind == PART_BRANCH) {
		bx = block_after(a, x);
		by = block_after(a, y);
		path_cursor__skip(&a->at[SIDE_A]);
		path_cursor__skip(&a->at[SIDE_B]);
	} else {
		bx = block_at(a, x, depth);
		by = block_at(a, y, depth);
	}
	p.meets = x && y && meet(a, depth, bx, by, by_place);
	if (!p.meets)
		go_to_ends(a);
	for (int side = 0; side < SIDES; side++) {
		const struct path_item *i = aligning__peek(a, &a->at[side]);

		p.meet[side] = i ? i->index : UINT64_MAX;
	}
	if (by_place)
		a->last_depth = -2;
	else if (p.meets)
		a->last_depth = aligning__frame_of(a, aligning__peek(a, &a->at[SIDE_A]));
	a->since = 0;
	a->parting = NULL;
	if (certain && !cut)
		keep(a->d, &p, &a->frames);
	else
		a->d->uncertain += certain;
}

/* What follows a gap may be anything: it is aligned as after a parting, but shows nothing. */
static bool pass_gaps(struct aligning *a)
{
	bool found = false;

	for (int side = 0; side < SIDES; side++) {
		const struct path_item *i;

		while ((i = aligning__peek(a, &a->at[side])) &&
		       aligning__outcome(a, i)->type == OUTCOME_GAP) {
			path_cursor__skip(&a->at[side]);
			found = true;
		}
	}
	return found;
}

static void align_pair(struct aligning *a)
{
	for (;;) {
		bool gap = pass_gaps(a);
		const struct path_item *x = aligning__peek(a, &a->at[SIDE_A]),
				       *y = aligning__peek(a, &a->at[SIDE_B]);

		a->d->uncertain += gap;
		if (!x && !y)
			return;
		if (!x || !y || !same(a, x, y)) {
			part(a, !gap);
			continue;
		}
		follow(a, x, y);
		a->same++;
		a->since++;
		a->d->matched++;
		path_cursor__skip(&a->at[SIDE_A]);
		path_cursor__skip(&a->at[SIDE_B]);
	}
}

/* A thread that only one run has. */
static void lone(struct diff *d, struct thread_pair t)
{
	int side = t.a == SIZE_MAX ? SIDE_B : SIDE_A;
	size_t thread = side == SIDE_A ? t.a : t.b;
	struct parting p = {.kind = PART_THREAD,
			    .threads = t,
			    .site = NO_SITE,
			    .index = {UINT64_MAX, UINT64_MAX},
			    .outcome = {NO_OUTCOME, NO_OUTCOME},
			    .meet = {UINT64_MAX, UINT64_MAX}};

	p.index[side] = 0;
	p.time = time_of(d, side, thread, 0);
	p.own[side] = paths__thread(d->runs[side], thread)->steps;
	if (d->cut[!side]) {
		d->uncertain++;
		return;
	}
	d->only[side]++;
	keep(d, &p, NULL);
}

/* The first step of a run, by the clock. */
static void find_start(struct diff *d, int side)
{
	for (size_t i = 0; i < d->runs[side]->threads.len; i++) {
		uint64_t time = paths__time(d->runs[side], i, 0); /* 0: not known */

		if (time && (!d->start[side] || time < d->start[side]))
			d->start[side] = time;
	}
}

int diff__find(struct diff *d)
{
	const struct thread_pair *t;

	d->meets = plan_meets__new(d->outcomes->plan);
	threads__match(d->runs[SIDE_A], d->runs[SIDE_B], &d->pairs);
	find_start(d, SIDE_A);
	find_start(d, SIDE_B);
	vec__each (t, &d->pairs) {
		struct aligning a = {.d = d, .threads = *t, .last_depth = -2};

		if (t->a == SIZE_MAX || t->b == SIZE_MAX) {
			lone(d, *t);
			continue;
		}
		path_cursor__init(&a.at[SIDE_A], d->runs[SIDE_A], t->a);
		path_cursor__init(&a.at[SIDE_B], d->runs[SIDE_B], t->b);
		align_pair(&a);
		vec__free(&a.frames);
	}
	return d->runs[SIDE_A]->error ? d->runs[SIDE_A]->error : d->runs[SIDE_B]->error;
}

void diff__free(struct diff *d)
{
	struct parting *p;

	vec__each (p, &d->partings)
		vec__free(&p->frames);
	vec__free(&d->partings);
	vec__free(&d->pairs);
	map64__free(&d->by_site);
	plan_meets__free(d->meets);
}
