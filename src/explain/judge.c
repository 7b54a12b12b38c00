// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which branch chose how a call ended: the last one that was executed whose other side may have
 * ended otherwise. A branch behind which all ways end alike, as those of an epilogue do, chose
 * nothing.
 */
#include <stdlib.h>
#include "explain/calls.h"
#include "plan/graph/meet.h"

bool value__is_error(uint64_t value)
{
	int32_t number = (int32_t)value;

	return number < 0 && number >= -4095 && (!(value >> 32) || value >> 32 == UINT32_MAX);
}

void verdict__free(struct verdict *v)
{
	if (!v)
		return;
	verdict__free(v->inner);
	verdict__free(v->cause);
	free(v);
}

struct judging {
	struct slicing s;
	path_vec path;
	struct ending ending;
	struct tracked *track; /* by index into path */
	struct verdict *v;
	bool unread; /* code that matters could not be read */
};

/* ---- does a way end alike? ---- */

static bool is_alike_behind(const struct judging *j, uint64_t o, size_t at)
{
	const struct made *m = &j->v->made;
	const struct tracked *t = &j->track[at];
	/* it is still as it was made */
	bool is_const = m->kind == MADE_CONST && m->mangled == t->mangled;
	bool zero = is_const && !(uint32_t)m->value;
	uint64_t chain = (uint64_t)t->mangled << ORIGIN_CHAIN;

	if (o & ORIGIN_ANDED && zero)
		return true;
	o &= ~ORIGIN_ANDED;
	if (o == (ORIGIN(FROM_PLACE, t->place) | chain))
		return true;
	return is_const && o == (ORIGIN(FROM_CONST, (uint32_t)m->value) | chain);
}

static bool is_alike_before(const struct judging *j, uint64_t o)
{
	const struct made *m = &j->v->made;
	uint64_t marks = m->mangled ? ORIGIN_MANGLED : 0;

	o &= ~ORIGIN_ANDED;
	switch (m->kind) {
	case MADE_CONST:
		return o == (ORIGIN(FROM_CONST, (uint32_t)m->value) | (uint64_t)m->mangled
									      << ORIGIN_CHAIN);
	case MADE_CALL:
		return o == (ORIGIN(FROM_CALL, j->v->call_site) | marks) ||
		       o == (ORIGIN(FROM_TAIL, j->v->call_site) | marks);
	case MADE_NONE:
		return o == ORIGIN(FROM_END, 0);
	default:
		return o == (ORIGIN(FROM_CODE, m->vaddr) | marks);
	}
}

/* Do all ways from a block on end as the call did? A set that is empty never ends. */
static bool ends_alike(struct judging *j, uint32_t block, size_t at)
{
	const struct made *m = &j->v->made;
	bool behind = m->kind != MADE_NONE && (m->kind == MADE_ARGUMENT || at >= m->at) &&
		      j->track[at].place != PLACE_NONE;
	const struct plan *p = j->s.code->plan;
	const origin_vec *v;

	if (block == NO_BLOCK || p->blocks.data[block].function != j->ending.function)
		return false;
	v = code__origins(j->s.code, &j->ending, block);
	j->unread |= !v;
	for (size_t i = 0; v && i < v->len; i++)
		if (!(behind ? is_alike_behind(j, v->data[i], at) : is_alike_before(j, v->data[i])))
			return false;
	return v;
}

/* ---- which branch ---- */

static bool is_another_side(struct judging *j, uint32_t block, size_t at)
{
	const struct step_of_path *next = at + 1 < j->path.len ? &j->path.data[at + 1] : NULL;

	return !(next && next->block == block) && !ends_alike(j, block, at);
}

/* Could the branch that ends this block have led to another end? */
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

static void take_branch(struct judging *j, size_t at)
{
	struct verdict *v = j->v;

	v->decided = true;
	v->branch = j->s.call->items.data[j->path.data[at].item];
	v->branch.results = (verdict_vec){0};
	v->block = j->path.data[at].block;
}

static void take_choice(struct verdict *v, const path_vec *path)
{
	v->choice = v->made.choice.vaddr ? v->made.choice.vaddr : v->made.vaddr;
	v->block = path->data[v->made.choice.vaddr ? v->made.choice.at : v->made.at].block;
}

/* last: the branch that ends this part of the path is no choice any more. */
static void find_decision(struct judging *j, size_t last)
{
	struct verdict *v = j->v;
	const struct made *m = &v->made;

	for (size_t at = last; at-- > 0;) {
		if (m->choice.vaddr && at + 1 == m->choice.at)
			return take_choice(v, &j->path);
		if (m->kind == MADE_FLAGS && at + 1 == m->at)
			return take_choice(v, &j->path);
		if (j->path.data[at].item >= 0 && decides(j, at))
			return take_branch(j, at);
	}
	if ((m->choice.vaddr && !m->choice.at) || (m->kind == MADE_FLAGS && !m->at))
		take_choice(v, &j->path);
}

/* ---- the callee ---- */

/* Is it of the function that was called, not of one that this has called? */
static bool is_of_callee(const struct plan *p, const struct item *it, const struct verdict *v)
{
	const struct plan_function *f = &p->functions.data[v->function];

	return !it->to_known || !it->to.object ||
	       plan__function_at(p, f->object, it->to.vaddr) == v->function;
}

static void take_callee(struct judging *j)
{
	struct verdict *v = j->v;
	struct item *it = &j->s.call->items.data[j->path.data[v->made.at].item];
	struct verdict **inner;

	v->call_site = it->site;
	v->callee = it->to;
	v->callee_known = it->to_known;
	v->callee_traced = it->enters;
	if (v->made.place & PLACE_SLOT && v->made.place != PLACE_NONE) {
		v->made.kind = MADE_UNKNOWN;
		v->made.why = "a function may have stored it by a pointer";
		return;
	}
	for (size_t i = it->results.len; i-- > 0;) {
		inner = &it->results.data[i];
		if (j->s.has_wanted && !v->made.mangled && (uint32_t)(*inner)->value != j->s.wanted)
			continue;
		v->inner = *inner;
		if (!is_of_callee(j->s.code->plan, it, v->inner))
			v->made.assumed = "a function that isn't traced returned it; the last one "
					  "that it called and that returned the same is taken for "
					  "its maker";
		*inner = *vec__last(&it->results);
		it->results.len--;
		return;
	}
}

/* The value came by memory: the last callee that returned the same is taken for its maker. */
static void assume_callee(struct judging *j)
{
	struct verdict *v = j->v;

	for (size_t at = j->path.len; at-- > 0;) {
		int32_t n = j->path.data[at].item;
		struct item *it = n < 0 ? NULL : &j->s.call->items.data[n];

		for (size_t i = 0; it && i < it->results.len; i++) {
			if ((uint32_t)it->results.data[i]->value != (uint32_t)v->value)
				continue;
			v->made.kind = MADE_CALL;
			v->made.at = at;
			v->made.place = PLACE_NONE;
			v->made.assumed = "the value came by memory; the last function that "
					  "returned the same is taken for its maker";
			take_callee(j);
			return;
		}
	}
}

/* ---- what the branch tested ---- */

static struct verdict *take_cause(const struct plan *p, struct item *it, uint64_t value)
{
	for (size_t i = it->results.len; i-- > 0;)
		if ((uint32_t)it->results.data[i]->value == (uint32_t)value &&
		    is_of_callee(p, it, it->results.data[i])) {
			struct verdict *v = it->results.data[i];

			it->results.data[i] = *vec__last(&it->results);
			it->results.len--;
			return v;
		}
	return NULL;
}

static void find_failure(struct judging *j)
{
	const struct plan *p = j->s.code->plan;
	const struct plan_site *s = &p->sites.data[j->v->branch.site];
	const struct test *t = s->test;
	struct tracked *room;
	size_t at = j->path.len;

	while (at-- > 0 &&
	       !(j->path.data[at].item >= 0 &&
		 j->s.call->items.data[j->path.data[at].item].site == j->v->branch.site))
		;
	if (!t || at == SIZE_MAX)
		return;
	room = xcalloc(j->path.len, sizeof(*room));
	for (unsigned i = 0; i < t->n && !j->v->failed.result && !j->v->cause; i++) {
		const struct test_operand *o = &t->operand[i];
		struct item *it;
		struct made m;

		if (o->kind != OPERAND_REG || o->at.base >= EVENT_REGS)
			continue;
		j->s.has_wanted = false;
		m = slice__of(&j->s, at, code__ops(j->s.code, j->path.data[at].block)->n,
			      (struct tracked){o->at.base, false}, room);
		if (m.kind != MADE_CALL || m.place != code__result(j->s.code))
			continue;
		it = &j->s.call->items.data[j->path.data[m.at].item];
		j->v->failed = it->failed;
		j->v->failed_in = it->to;
		j->v->cause = m.mangled ? NULL : take_cause(p, it, j->v->branch.tested.value[i]);
	}
	free(room);
}

/* ---- one call ---- */

static struct judging begin(struct code *code, const struct call *c)
{
	struct judging j = {.s = {.code = code, .call = c}, .v = xcalloc(1, sizeof(*j.v))};

	j.v->function = c->function;
	j.v->call_site = NO_SITE;
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
	j->v->made = (struct made){.kind = MADE_UNKNOWN, .why = why};
	return end(j);
}

static void conclude(struct judging *j, size_t last)
{
	const struct made *m = &j->v->made;

	if ((m->kind == MADE_LOAD || m->kind == MADE_CODE) && value__is_error(j->v->value))
		assume_callee(j);
	if (m->kind == MADE_CONST && j->s.has_wanted && !m->mangled &&
	    (uint32_t)m->value != j->s.wanted) {
		j->v->made = (struct made){.kind = MADE_UNKNOWN};
		j->v->made.why = j->v->unsure = "another value was stored there in a way that "
						"isn't followed";
		return;
	}
	if (m->kind == MADE_CODE && !m->assumed)
		j->v->made.assumed = "the value was computed: what it was computed from is not "
				     "followed";
	if (m->kind == MADE_LOAD && !m->assumed)
		j->v->made.assumed = "the value was loaded from memory: what stored it there is "
				     "not followed";
	if (m->kind == MADE_CALL)
		take_callee(j);
	if (m->kind == MADE_UNKNOWN && !m->choice.vaddr) {
		j->v->unsure = m->why;
		return;
	}
	find_decision(j, last);
	if (j->unread) {
		j->v->decided = false;
		j->v->choice = 0;
		j->v->unsure = "code of the function can't be read";
		return;
	}
	if (j->v->decided)
		find_failure(j);
}

static bool leaves(const struct plan *p, const struct item *it)
{
	const struct plan_site *s = &p->sites.data[it->site];
	const struct plan_block *b = &p->blocks.data[s->block];
	uint32_t to = plan__block_after(p, it->site, it->taken, it->to.vaddr);

	return s->kind != BRANCH_RET && s->kind != BRANCH_CALL && s->kind != BRANCH_ICALL &&
	       (to == NO_BLOCK || p->blocks.data[to].function != b->function);
}

struct verdict *judge__result(struct code *code, const struct call *c, uint64_t value)
{
	struct judging j = begin(code, c);
	const struct plan *p = code->plan;
	const char *why = path__of(p, c, false, &j.path);
	const struct item *last = c->items.len ? vec__last(&c->items) : NULL;
	size_t n = j.path.len;

	j.v->value = value;
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
		j.v->made = (struct made){.kind = MADE_CALL, .at = n - 1, .place = j.ending.place};
	else if (p->sites.data[last->site].kind == BRANCH_RET)
		j.v->made = slice__of(&j.s, n - 1, SIZE_MAX,
				      (struct tracked){j.ending.place, false}, j.track);
	else
		return unsure(&j, "how it returned isn't known");
	conclude(&j, n);
	return end(&j);
}

/* Of the blocks behind the last branch: those up to the one of the fault. */
static const char *end_at(const struct plan *p, const struct call *c, uint64_t at, path_vec *path)
{
	size_t first = path->len;

	while (first && path->data[first - 1].item < 0)
		first--;
	if (!at)
		return path->len - first > 1 ? "where behind its last branch it ended isn't known"
					     : NULL;
	for (size_t i = first; i < path->len; i++) {
		const struct plan_block *b = &p->blocks.data[path->data[i].block];

		if (at < b->start || at >= b->end)
			continue;
		path->len = i + 1;
		return NULL;
	}
	return "it ended at a place that isn't behind its last branch";
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
	j.v->made = (struct made){.kind = MADE_NONE};
	if (place != PLACE_NONE)
		j.v->made = slice__of(&j.s, n - 1, code__ops(code, vec__last(&j.path)->block)->n,
				      (struct tracked){place, false}, j.track);
	/* whatever the value is from, control came there */
	if (j.v->made.kind == MADE_UNKNOWN && !j.v->made.choice.vaddr) {
		j.ending.place = PLACE_NONE;
		j.v->made = (struct made){.kind = MADE_NONE};
	}
	conclude(&j, n - 1);
	return end(&j);
}
