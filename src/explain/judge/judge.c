// SPDX-License-Identifier: BSD-2-Clause
/*
 * The branch that chose how a call ended: the last executed branch whose other side could have led
 * to another result, or past the end. A branch after which every path returns the same value, such
 * as the branches of an epilogue, chose nothing.
 *
 * The value is traced backward over the path to its origin (path.c). Then the branches are examined
 * from the last one backward; for each, origins.c has what the function may return from its other
 * side.
 */
#include <stdlib.h>
#include "explain/judge/judging.h"
#include "explain/judge/loops.h"
#include "plan/graph/meet.h"

bool value__is_error(uint64_t value)
{
	int32_t number = (int32_t)value;

	return number < 0 && number >= -4095 && (!(value >> 32) || value >> 32 == UINT32_MAX);
}

void verdict__free(struct verdict *v)
{
	if (!v || (v->shared && v->shared--))
		return;
	verdict__free(v->inner);
	verdict__free(v->cause);
	verdict__free(v->part);
	verdict__free(v->set);
	verdict__free(v->failing);
	verdict__free(v->way);
	free(v);
}

struct verdict *verdict__share(struct verdict *v)
{
	v->shared++;
	return v;
}

#define WAY_MOST 3 /* branches before the one that decided */

/* ---- whether other paths return the same value ---- */

/* Returns true if o, an origin seen from a block after the value came about, stands for the same
 * value. at: the last block of the path before that block. */
static bool same_origin_after(const struct judging *j, uint64_t o, size_t at)
{
	const struct value_origin *m = &j->v->origin;
	const struct tracked *t = &j->track[at];
	/* true if nothing has changed the constant since */
	bool is_const = m->kind == VALUE_CONST && m->mangled == t->mangled;
	bool zero = is_const && !(uint32_t)m->value;
	uint64_t chain = (uint64_t)t->mangled << ORIGIN_CHAIN;

	if (o & ORIGIN_ANDED && zero)
		return true;
	o &= ~ORIGIN_ANDED;
	if (j->of_value && o == ORIGIN(FROM_ELSEWHERE, 0))
		return true;
	if (o == (ORIGIN(FROM_PLACE, t->place) | chain))
		return true;
	return is_const && o == (ORIGIN(FROM_CONST, (uint32_t)m->value) | chain);
}

/* Returns true if o, an origin seen from a block before the value came about, is the value's. */
static bool same_origin_before(const struct judging *j, uint64_t o)
{
	const struct value_origin *m = &j->v->origin;
	uint64_t marks = m->mangled ? ORIGIN_MANGLED : 0;

	o &= ~ORIGIN_ANDED;
	if (j->of_value && o == ORIGIN(FROM_ELSEWHERE, 0))
		return true;
	switch (m->kind) {
	case VALUE_CONST:
		return o == (ORIGIN(FROM_CONST, (uint32_t)m->value) | (uint64_t)m->mangled
									      << ORIGIN_CHAIN);
	case VALUE_CALL:
		return o == (ORIGIN(FROM_CALL, j->v->call_site) | marks) ||
		       o == (ORIGIN(FROM_TAIL, j->v->call_site) | marks);
	case VALUE_NONE:
		return o == ORIGIN(FROM_END, 0);
	default:
		return o == (ORIGIN(FROM_CODE, m->vaddr) | marks);
	}
}

static bool has_origin(const origin_vec *v, uint64_t o)
{
	for (size_t i = 0; v && i < v->len; i++)
		if (v->data[i] == o)
			return true;
	return false;
}

/* Returns true if o is a constant other than 0, or a way out of the function which control could
 * have taken on its path, too. went: the block that control continued with. */
static bool is_failure(struct judging *j, uint64_t o, uint32_t went)
{
	enum origin_kind kind = origin__kind(o);

	if (kind == FROM_ELSEWHERE || kind == FROM_TAIL)
		return has_origin(code__origins(j->s.code, &j->ending, went), o);
	return kind == FROM_CONST && !origin__chain(o) && (uint32_t)o;
}

/* Returns true if every path from this block ends as the call did: with a value of the same origin;
 * or, if failures is set, with a constant other than 0. A block with no path to an end has no
 * origins, so it counts as the same. */
static bool ends_like(struct judging *j, uint32_t block, size_t at, bool failures)
{
	const struct value_origin *m = &j->v->origin;
	bool after = m->kind != VALUE_NONE && (m->kind == VALUE_ARGUMENT || at >= m->at) &&
		     j->track[at].place != PLACE_NONE;
	const struct plan *p = j->s.code->plan;
	const origin_vec *v;

	if (block == NO_BLOCK || p->blocks.data[block].function != j->ending.function)
		return false;
	v = code__origins(j->s.code, &j->ending, block);
	j->unread |= !v;
	for (size_t i = 0; v && i < v->len; i++)
		if (!(after ? same_origin_after(j, v->data[i], at)
			    : same_origin_before(j, v->data[i])) &&
		    !(failures && is_failure(j, v->data[i], j->path.data[at + 1].block)))
			return false;
	return v;
}

/* ---- which branch ---- */

/* Returns true if the block is a side of the branch at the end of the path's block at which the
 * call didn't take, and from which it could have ended in another way. */
static bool is_another_side(struct judging *j, uint32_t block, size_t at)
{
	const struct step_of_path *next = at + 1 < j->path.len ? &j->path.data[at + 1] : NULL;

	return !(next && next->block == block) && !ends_like(j, block, at, false);
}

/* Returns true if the branch that ends this block could have led to another end. */
static bool decides(struct judging *j, size_t at)
{
	const struct plan *p = j->s.code->plan;
	const struct plan_block *b = &p->blocks.data[j->path.data[at].block];
	const struct item *it = &j->s.call->items.data[j->path.data[at].item];
	const struct plan_site *s = &p->sites.data[it->site];

	if (plan_site__is_conditional(s))
		return b->taken != b->next &&
		       is_another_side(j, it->taken ? b->next : b->taken, at);
	if (s->kind != BRANCH_IJMP || b->leaves)
		return false;
	for (uint32_t i = 0; i < b->ntable; i++)
		if (is_another_side(j, p->table.data[b->table + i], at))
			return true;
	return false;
}

/* The branch has ended a loop: notes the last one in it that could have led to another end. */
static void find_last_test(struct judging *j, size_t exit)
{
	for (size_t at = exit; at-- > 0 && loops__left(&j->s, exit, at);) {
		int32_t n = j->path.data[at].item;

		if (n < 0 || j->s.call->items.data[n].site == j->v->branch.site || !decides(j, at))
			continue;
		j->v->last_test = j->s.call->items.data[n];
		j->v->last_test.results = (verdict_vec){0};
		return;
	}
}

static void take_branch(struct judging *j, size_t at)
{
	struct verdict *v = j->v;

	v->decided = true;
	v->branch = j->s.call->items.data[j->path.data[at].item];
	v->branch.results = (verdict_vec){0};
	v->block = j->path.data[at].block;
	if (at + 1 < j->path.len && loops__left(&j->s, at, at))
		find_last_test(j, at);
}

static void take_choice(struct verdict *v, const path_vec *path)
{
	v->choice = v->origin.choice.vaddr ? v->origin.choice.vaddr : v->origin.vaddr;
	v->block = path->data[v->origin.choice.vaddr ? v->origin.choice.at : v->origin.at].block;
}

/* Returns true if the branch has chosen one of several values, of which none is 0: that the call
 * failed was decided before. */
static bool chose_failure(struct judging *j, size_t at)
{
	const struct plan_block *b = &j->s.code->plan->blocks.data[j->path.data[at].block];
	const struct item *it = &j->s.call->items.data[j->path.data[at].item];

	if (!(uint32_t)j->v->value || at + 1 == j->path.len)
		return false;
	for (uint32_t i = 0; i < b->ntable; i++)
		if (!ends_like(j, j->s.code->plan->table.data[b->table + i], at, true))
			return false;
	return b->ntable || (b->next != NO_BLOCK && b->taken != NO_BLOCK &&
			     ends_like(j, it->taken ? b->next : b->taken, at, true));
}

/* Returns true if the branch only ended the loop in which the value was chosen before. */
static bool only_ended_loop(struct judging *j, size_t at)
{
	const struct value_origin *m = &j->v->origin;
	size_t chosen = m->choice.vaddr ? m->choice.at : m->at;

	return (m->choice.vaddr || m->kind == VALUE_CONST || m->kind == VALUE_FLAGS) &&
	       at >= chosen && loops__left(&j->s, at, chosen);
}

/* last: only branches before this index of the path can have chosen the end. Returns false if it
 * finds nothing. */
static bool find_decision_before(struct judging *j, size_t last, bool loops)
{
	struct verdict *v = j->v;
	const struct value_origin *m = &v->origin;

	for (size_t at = last; at-- > 0;) {
		if (m->choice.vaddr && at + 1 == m->choice.at)
			return take_choice(v, &j->path), true;
		if (m->kind == VALUE_FLAGS && at + 1 == m->at)
			return take_choice(v, &j->path), true;
		if (j->path.data[at].item < 0 || !decides(j, at))
			continue;
		if (!loops && only_ended_loop(j, at)) {
			judging__note_loop(j, at);
			continue;
		}
		j->chose_failure = chose_failure(j, at);
		if (!j->fails || !j->chose_failure)
			return take_branch(j, at), true;
	}
	if ((m->choice.vaddr && !m->choice.at) || (m->kind == VALUE_FLAGS && !m->at))
		take_choice(v, &j->path);
	return v->choice;
}

static void find_decision(struct judging *j, size_t last)
{
	struct item none = j->v->loop_exit;

	if (find_decision_before(j, last, false) || j->v->loop_exit.site == NO_SITE)
		return;
	j->v->loop_exit = none;
	find_decision_before(j, last, true);
}

/* ---- the callee ---- */

static void take_callee(struct judging *j)
{
	struct verdict *v = j->v;
	struct item *it = &j->s.call->items.data[j->path.data[v->origin.at].item];
	struct verdict **inner;

	v->call_site = it->site;
	v->callee = it->to;
	v->callee_known = it->to_known;
	v->callee_traced = it->enters;
	if (v->origin.place & PLACE_SLOT && v->origin.place != PLACE_NONE) {
		v->read_at = slice__slot_address(&j->s, v->origin.place);
		v->origin.kind = VALUE_UNKNOWN;
		v->origin.why = "a function may have stored it by a pointer";
		return;
	}
	for (size_t i = it->results.len; i-- > 0;) {
		inner = &it->results.data[i];
		if (j->s.has_wanted && !v->origin.mangled &&
		    (uint32_t)(*inner)->value != j->s.wanted)
			continue;
		v->inner = verdict__share(*inner);
		if (!verdict__is_of_callee(j->s.code->plan, it, v->inner))
			v->origin.assumed =
				"a function that isn't traced returned it: from the last "
				"function that it called and that returned the same value";
		return;
	}
}

/* Assumes, of a value that was passed by memory, that the last callee that returned the same value
 * is its origin. */
static void assume_callee(struct judging *j)
{
	struct verdict *v = j->v;

	for (size_t at = j->path.len; at-- > 0;) {
		int32_t n = j->path.data[at].item;
		struct item *it = n < 0 ? NULL : &j->s.call->items.data[n];

		for (size_t i = 0; it && i < it->results.len; i++) {
			if ((uint32_t)it->results.data[i]->value != (uint32_t)v->value)
				continue;
			v->origin.kind = VALUE_CALL;
			v->origin.at = at;
			v->origin.place = PLACE_NONE;
			v->origin.assumed =
				"the value was passed in memory: from the last function that "
				"returned the same value";
			take_callee(j);
			return;
		}
	}
}

/* ---- one call ---- */

#define PASSED_MOST 8 /* functions in a row that return their arguments */

static struct judging begin(struct code *code, const struct call *c)
{
	struct judging j = {.s = {.code = code, .call = c}, .v = xcalloc(1, sizeof(*j.v))};

	j.v->function = c->function;
	j.v->call_site = j.v->loop_exit.site = j.v->unchanged.site = j.v->last_test.site = NO_SITE;
	return j;
}

static struct verdict *end(struct judging *j)
{
	free(j->track);
	vec__free(&j->path);
	return j->v;
}

static struct verdict *unsure(struct judging *j, const char *why)
{
	j->v->unsure = why;
	j->v->origin = (struct value_origin){.kind = VALUE_UNKNOWN, .why = why};
	return end(j);
}

/* Returns how many stores were seen when control left this block of the path. */
static uint64_t stores_after(const struct judging *j, size_t at)
{
	while (at < j->path.len && j->path.data[at].item < 0)
		at++;
	return at < j->path.len ? j->s.call->items.data[j->path.data[at].item].stores : UINT64_MAX;
}

static void conclude(struct judging *j, size_t last)
{
	const struct value_origin *m = &j->v->origin;

	if (m->kind == VALUE_FLAGS || m->kind == VALUE_LOAD) {
		j->v->origin_block = j->path.data[m->at].block;
		j->v->stores = stores_after(j, m->at);
	}
	if (m->choice.vaddr)
		j->v->stores = stores_after(j, m->choice.at);
	if (m->kind == VALUE_LOAD)
		j->v->read_at = slice__address(&j->s, m->at, m->vaddr);
	if ((m->kind == VALUE_LOAD || m->kind == VALUE_CODE) && value__is_error(j->v->value))
		assume_callee(j);
	if (m->kind == VALUE_CONST && j->s.has_wanted && !m->mangled &&
	    (uint32_t)m->value != j->s.wanted) {
		j->v->origin = (struct value_origin){.kind = VALUE_UNKNOWN};
		j->v->origin.why = j->v->unsure = "another value was stored there in a way that "
						  "isn't followed";
		return;
	}
	if (m->kind == VALUE_CODE && !m->assumed)
		j->v->origin.assumed = "the value was computed: what it was computed from is not "
				       "followed";
	if (m->kind == VALUE_LOAD && !m->assumed)
		j->v->origin.assumed = "the value was loaded from memory: what stored it there is "
				       "not followed";
	if (m->kind == VALUE_CALL)
		take_callee(j);
	if (m->kind == VALUE_UNKNOWN && !m->choice.vaddr) {
		j->v->unsure = m->why;
		return;
	}
	j->of_value = j->of_value && m->kind == VALUE_CONST;
	find_decision(j, last);
	if (j->of_value && !j->v->decided && !j->v->choice) {
		j->of_value = false;
		find_decision(j, last);
	}
	if (j->unread) {
		j->v->decided = false;
		j->v->choice = 0;
		j->v->unsure = "code of the function can't be read";
		return;
	}
	judging__find_tested(j);
}

static bool leaves(const struct plan *p, const struct item *it)
{
	const struct plan_site *s = &p->sites.data[it->site];
	const struct plan_block *b = &p->blocks.data[s->block];
	uint32_t to = plan__block_after(p, it->site, it->taken, it->to.vaddr);

	return s->kind != BRANCH_RET && s->kind != BRANCH_CALL && s->kind != BRANCH_ICALL &&
	       (to == NO_BLOCK || p->blocks.data[to].function != b->function);
}

/* The value that the callee returned is one that it got as an argument: returns where that is from.
 */
static struct value_origin through_callees(struct judging *j, struct value_origin m)
{
	const struct plan *p = j->s.code->plan;

	for (unsigned n = 0;
	     m.kind == VALUE_CALL && m.place == code__result(j->s.code) && n < PASSED_MOST; n++) {
		const struct item *it = &j->s.call->items.data[j->path.data[m.at].item];
		const struct verdict *v = it->results.len ? *vec__last(&it->results) : NULL;
		const struct value_origin *of = v ? &v->origin : NULL;

		if (!of || v->inner || of->kind != VALUE_ARGUMENT || of->mangled || m.mangled ||
		    of->place & PLACE_SLOT || (uint32_t)v->value != j->s.wanted ||
		    !verdict__is_of_callee(p, it, v))
			break;
		m = slice__of(&j->s, m.at, code__ops(j->s.code, j->path.data[m.at].block)->n,
			      (struct tracked){of->place, 0}, j->track);
	}
	return m;
}

/* Of a result that could not be followed. */
static void find_what_else(struct judging *j)
{
	const struct value_origin *m = &j->v->origin;

	if (j->v->unsure && m->kind != VALUE_UNKNOWN)
		return;
	if (m->kind == VALUE_CODE || m->kind == VALUE_UNKNOWN)
		judging__find_part(j);
	if (m->kind == VALUE_UNKNOWN && !j->v->tests_thread && !j->v->part)
		judging__find_joined(j);
}

static struct verdict *judge_result(struct code *code, const struct call *c, uint64_t value,
				    bool fails, bool *chose_failure)
{
	struct judging j = begin(code, c);
	const struct plan *p = code->plan;
	const char *why = path__of(p, c, false, &j.path);
	const struct item *last = c->items.len ? vec__last(&c->items) : NULL;
	size_t n = j.path.len;

	j.v->value = value;
	j.fails = fails;
	j.s.path = &j.path;
	j.s.has_wanted = true;
	j.s.wanted = (uint32_t)value;
	j.ending = (struct ending){c->function, NO_SITE, code__result(code), NO_BLOCK};
	if (why)
		return unsure(&j, why);
	j.track = xcalloc(n + 1, sizeof(*j.track));
	for (size_t i = 0; i < n; i++)
		j.track[i].place = PLACE_NONE;
	if (leaves(p, last))
		j.v->origin = through_callees(&j, (struct value_origin){.kind = VALUE_CALL,
									.at = n - 1,
									.place = j.ending.place});
	else if (p->sites.data[last->site].kind == BRANCH_RET)
		j.v->origin = through_callees(&j, slice__of(&j.s, n - 1, SIZE_MAX,
							    (struct tracked){j.ending.place, false},
							    j.track));
	else
		return unsure(&j, "how it returned isn't known");
	conclude(&j, n);
	find_what_else(&j);
	*chose_failure = j.v->decided && j.chose_failure;
	return end(&j);
}

struct verdict *judge__result(struct code *code, const struct call *c, uint64_t value)
{
	bool chose = false, again;
	struct verdict *v = judge_result(code, c, value, false, &chose);

	if (!chose || plan__is_kernel_function(code->plan, c->function))
		return v;
	v->failing = judge_result(code, c, value, true, &again);
	if (v->failing->choice ||
	    (v->failing->decided && v->failing->branch.site != v->branch.site))
		return v;
	verdict__free(v->failing);
	v->failing = NULL;
	return v;
}

/* Cuts the path off after the block of the fault, which has to be after the last branch. Returns
 * NULL, or why that isn't possible. */
static const char *end_at(const struct plan *p, const struct call *c, uint64_t at, path_vec *path)
{
	size_t first = path->len;

	while (first && path->data[first - 1].item < 0)
		first--;
	if (!at)
		return path->len - first > 1 ? "it isn't known where after its last branch it ended"
					     : NULL;
	for (size_t i = first; i < path->len; i++) {
		const struct plan_block *b = &p->blocks.data[path->data[i].block];

		if (at < b->start || at >= b->end)
			continue;
		path->len = i + 1;
		return NULL;
	}
	return "it ended at a place that its last branch doesn't lead to";
}

struct verdict *judge__end(struct code *code, const struct call *c, bool fault, uint64_t at,
			   place_t place, bool has_wanted, uint32_t wanted)
{
	struct judging j = begin(code, c);
	const char *why = path__of(code->plan, c, fault, &j.path);
	size_t n;

	if (!why && fault)
		why = end_at(code->plan, c, at, &j.path);
	n = j.path.len;
	j.s.path = &j.path;
	j.s.has_wanted = has_wanted;
	j.s.wanted = wanted;
	if (why)
		return unsure(&j, why);
	j.ending = (struct ending){c->function, fault ? NO_SITE : vec__last(&c->items)->site, place,
				   fault ? vec__last(&j.path)->block : NO_BLOCK};
	j.track = xcalloc(n + 1, sizeof(*j.track));
	for (size_t i = 0; i < n; i++)
		j.track[i].place = PLACE_NONE;
	j.v->origin = (struct value_origin){.kind = VALUE_NONE};
	if (place != PLACE_NONE)
		j.v->origin = slice__of(&j.s, n - 1, code__ops(code, vec__last(&j.path)->block)->n,
					(struct tracked){place, false}, j.track);
	/* Even if the value's origin isn't known, control reached this end. */
	if (j.v->origin.kind == VALUE_UNKNOWN && !j.v->origin.choice.vaddr) {
		j.ending.place = PLACE_NONE;
		j.v->passed = true;
		j.v->origin = (struct value_origin){.kind = VALUE_NONE};
	}
	j.of_value = true;
	conclude(&j, n - 1);
	return end(&j);
}

struct verdict *judge__reached(struct code *code, const struct call *c, size_t n)
{
	struct call before = *c;

	before.items.len = n + 1;
	return judge__end(code, &before, false, 0, PLACE_NONE, false, 0);
}

static size_t last_item_of(const struct call *c, uint32_t site, size_t before)
{
	for (size_t i = before; i-- > 0;)
		if (c->items.data[i].site == site)
			return i;
	return SIZE_MAX;
}

void judge__find_way(struct code *code, const struct call *c, size_t before, struct verdict *v)
{
	size_t n = v->decided ? last_item_of(c, v->branch.site, before) : SIZE_MAX;

	for (unsigned i = 0; i < WAY_MOST && n != SIZE_MAX; i++) {
		struct verdict *way = judge__reached(code, c, n);

		if (!way->decided) {
			verdict__free(way);
			return;
		}
		v->way = way;
		v = way;
		n = last_item_of(c, v->branch.site, n);
	}
}
