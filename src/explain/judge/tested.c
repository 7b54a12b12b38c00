// SPDX-License-Identifier: BSD-2-Clause
/* What the branch that decided has tested, or the instruction that chose without a branch: the
 * result of a function, what was loaded, what a thread returned, what a loop computed. */
#include <stdlib.h>
#include "explain/judge/judging.h"
#include "explain/judge/loops.h"
#include "object/lookup/lookup.h"

/* Returns true if the location is the PLT stub of a function, which another object has. */
static bool is_stub_of(const struct location *l, const struct plan_function *f)
{
	autofree char *full = NULL;
	const char *shown;

	if (!l->symbol || !f->raw || !strchr(l->symbol, '@'))
		return false;
	shown = full = name__demangle(f->raw, DEMANGLE_FULL);
	return location__among(l, shown ? &shown : &f->raw, 1);
}

bool verdict__is_of_callee(const struct plan *p, const struct item *it, const struct verdict *v)
{
	const struct plan_function *f = &p->functions.data[v->function];

	return !it->to_known || !it->to.object || is_stub_of(&it->to, f) ||
	       plan__function_at(p, f->object, it->to.vaddr) == v->function;
}

static struct verdict *take_cause(const struct plan *p, struct item *it, uint64_t value)
{
	for (size_t i = it->results.len; i-- > 0;)
		if ((uint32_t)it->results.data[i]->value == (uint32_t)value &&
		    verdict__is_of_callee(p, it, it->results.data[i]))
			return verdict__share(it->results.data[i]);
	return NULL;
}

/* Returns the slot that the branch of this block tested, and sets the number of instructions before
 * the one that did; PLACE_NONE if it tested none. */
static place_t tested_slot(struct judging *j, uint32_t block, size_t *n)
{
	uint64_t setter = code__setter(j->s.code, block,
				       j->s.code->plan->sites.data[j->v->branch.site].vaddr);
	const struct block_ops *ops = code__ops(j->s.code, block);

	for (size_t i = 0; i < ops->n; i++)
		if (ops->ops[i].vaddr == setter) {
			*n = i;
			return ops->ops[i].tests;
		}
	return PLACE_NONE;
}

static bool is_join(const struct item *it)
{
	static const char *const joins[] = {"pthread_join", "__pthread_join", "thrd_join"};

	return it->to_known && location__among(&it->to, joins, ARRAY_SIZE(joins));
}

/* pthread_join(3) is the last function that may have stored what the branch tested, since it got
 * the address of that slot. */
static void take_joined(struct judging *j, const struct value_origin *m, unsigned operand)
{
	if (!is_join(&j->s.call->items.data[j->path.data[m->at].item]) ||
	    !(j->v->branch.tested.flags & TESTED))
		return;
	j->v->tests_thread = true;
	j->v->joined = j->v->branch.tested.value[operand];
}

/* The value is one that pthread_join(3) may have stored: the last call of it is the one that
 * counts, of those that may. */
void judging__find_joined(struct judging *j)
{
	for (size_t at = j->path.len; at-- > 0;) {
		int32_t n = j->path.data[at].item;

		if (n < 0 || !is_join(&j->s.call->items.data[n]))
			continue;
		j->v->tests_thread = true;
		j->v->joined = j->v->value;
		return;
	}
}

/* Sets what the branch tests, by its code, if its operands could not be read when it was executed:
 * something was stored in between. Returns NULL if that isn't known. */
static const struct test *test_of(struct judging *j, struct test *out)
{
	const struct plan_site *s = &j->s.code->plan->sites.data[j->v->branch.site];
	uint64_t setter = code__setter(j->s.code, j->v->block, s->vaddr);

	if (s->test)
		return s->test;
	return code__test(j->s.code, s->object, setter, out) ? out : NULL;
}

static struct item item_at(const struct judging *j, size_t at)
{
	struct item it = j->s.call->items.data[j->path.data[at].item];

	it.results = (verdict_vec){0};
	return it;
}

void judging__note_loop(struct judging *j, size_t at)
{
	if (j->v->loop_exit.site == NO_SITE)
		j->v->loop_exit = item_at(j, at);
}

/* Notes the loop that computed what was tested, or in which that stayed as it was. track: its place
 * at the end of each block. */
static void find_loop(struct judging *j, const struct value_origin *m, size_t at, size_t n,
		      place_t place, const struct tracked *track)
{
	bool computed = m->kind == VALUE_CODE || m->kind == VALUE_LOAD || m->kind == VALUE_CONST;
	size_t exit, last;

	if (!computed || j->v->loop_exit.site != NO_SITE ||
	    !loops__exit(&j->s, at, n, place, &exit))
		return;
	if (m->kind == VALUE_CONST && !m->mangled && exit < m->at)
		return; /* it was set after that */
	j->v->loop_exit = item_at(j, exit);
	if (m->kind == VALUE_CONST && !loops__left(&j->s, exit, m->at) &&
	    loops__unchanged(&j->s, exit, track[exit].place, &last))
		j->v->unchanged = item_at(j, last);
}

/* Notes the last result of a traced function that what was tested, or the value, was computed from.
 */
static void find_part(struct judging *j, size_t at, size_t n, place_t place)
{
	const struct item *it;
	size_t part;

	if (j->v->part || !loops__part(&j->s, at, n, place, &part))
		return;
	it = &j->s.call->items.data[j->path.data[part].item];
	j->v->part = verdict__share(*vec__last(&it->results));
}

#define NESTED_MOST 3

/* What was tested is a constant: judges the call up to the branch at this index of the path for why
 * it was this one. place NONE: for why control reached the instruction that has it. */
static void judge_set(struct judging *j, const struct value_origin *m, size_t at, place_t place)
{
	bool reached = place == PLACE_NONE;
	struct call before = *j->s.call;
	struct verdict *v;

	if (m->kind != VALUE_CONST || m->mangled || j->v->set || j->v->unchanged.site != NO_SITE ||
	    j->path.data[at].item < 0 || j->s.code->nested == NESTED_MOST)
		return;
	before.items.len = (size_t)j->path.data[at].item + 1;
	j->s.code->nested++;
	v = judge__end(j->s.code, &before, reached, reached ? m->vaddr : 0, place, !reached,
		       reached ? 0 : (uint32_t)m->value);
	j->s.code->nested--;
	if (v->decided && (reached || !v->passed))
		j->v->set = v;
	else
		verdict__free(v);
}

/* Likewise of what a choice has tested. */
static void judge_set_before(struct judging *j, const struct value_origin *m)
{
	size_t at = m->kind == VALUE_CONST ? m->at : 0;

	while (at && j->path.data[at - 1].item < 0)
		at--;
	if (at)
		judge_set(j, m, at - 1, PLACE_NONE);
}

/* The value is the result of this call. */
static struct item *take_call(struct judging *j, const struct value_origin *m)
{
	struct item *it = &j->s.call->items.data[j->path.data[m->at].item];

	j->v->failed = it->failed;
	j->v->failed_in = it->to;
	j->v->tests_call = true;
	return it;
}

/* Notes where what was tested was read from memory that a function may have changed by a pointer.
 */
static void note_read(struct judging *j, const struct value_origin *m)
{
	if (j->v->read_at)
		return;
	if (m->kind == VALUE_LOAD)
		j->v->read_at = slice__address(&j->s, m->at, m->vaddr);
	else if ((m->kind == VALUE_CALL || m->kind == VALUE_UNKNOWN) && m->place != PLACE_NONE &&
		 m->place & PLACE_SLOT)
		j->v->read_at = slice__slot_address(&j->s, m->place);
}

static void find_tested_by_branch(struct judging *j)
{
	const struct plan *p = j->s.code->plan;
	bool has_values = j->v->branch.tested.flags & TESTED;
	struct test by_code;
	const struct test *t = test_of(j, &by_code);
	struct tracked *room;
	size_t at = j->path.len;

	while (at-- > 0 &&
	       !(j->path.data[at].item >= 0 &&
		 j->s.call->items.data[j->path.data[at].item].site == j->v->branch.site))
		;
	if (!t || at == SIZE_MAX)
		return;
	room = xcalloc(j->path.len, sizeof(*room));
	for (unsigned i = 0; i < t->n && !j->v->tests_call; i++) {
		const struct test_operand *o = &t->operand[i];
		uint32_t block = j->path.data[at].block;
		size_t n = code__ops(j->s.code, block)->n;
		place_t place = o->kind == OPERAND_REG && o->at.base < EVENT_REGS ? o->at.base
				: o->kind == OPERAND_MEM ? tested_slot(j, block, &n)
							 : PLACE_NONE;
		struct item *it;
		struct value_origin m;

		j->v->tests_loaded |= o->kind == OPERAND_MEM && place == PLACE_NONE;
		if (place == PLACE_NONE && o->kind == OPERAND_MEM && !j->v->read_at)
			j->v->read_at = slice__address(
				&j->s, at,
				code__setter(j->s.code, block,
					     p->sites.data[j->v->branch.site].vaddr));
		if (place == PLACE_NONE)
			continue;
		j->s.has_wanted = false;
		m = slice__of(&j->s, at, n, (struct tracked){place, false}, room);
		find_loop(j, &m, at, n, place, room);
		judge_set(j, &m, at, place);
		if (m.kind == VALUE_CODE)
			find_part(j, at, n, place);
		if (m.kind == VALUE_LOAD)
			j->v->loaded = m.vaddr;
		note_read(j, &m);
		j->v->tests_loaded |=
			m.kind == VALUE_LOAD || m.kind == VALUE_CODE || m.kind == VALUE_UNKNOWN;
		if (m.kind == VALUE_CALL && m.place != PLACE_NONE && m.place & PLACE_SLOT) {
			j->v->tests_loaded = true; /* by a pointer */
			take_joined(j, &m, i);
		}
		if (m.kind != VALUE_CALL || m.place != code__result(j->s.code))
			continue;
		it = take_call(j, &m);
		if (!m.mangled && has_values)
			j->v->cause = take_cause(p, it, j->v->branch.tested.value[i]);
	}
	free(room);
}

/* Of what a choice tested the value isn't known: it is the callee's last error. */
static void take_tested_call(struct judging *j, const struct value_origin *m)
{
	struct item *it = take_call(j, m);

	for (size_t i = it->results.len; i-- > 0 && !j->v->cause;)
		if (verdict__is_of_callee(j->s.code->plan, it, it->results.data[i]))
			j->v->cause = verdict__share(it->results.data[i]);
}

/* What an instruction that chooses without a branch tested: a function's result, or what a loop
 * computed. */
static void find_tested_by_choice(struct judging *j)
{
	const struct value_origin *m = &j->v->origin;
	size_t at = m->choice.vaddr ? m->choice.at : m->at, n = 0;
	uint32_t block = j->path.data[at].block;
	const struct block_ops *ops = code__ops(j->s.code, block);
	uint64_t setter = code__setter(j->s.code, block, j->v->choice);
	autofree struct tracked *room = xcalloc(j->path.len, sizeof(*room));
	struct test t;

	if (!code__test(j->s.code, j->s.code->plan->blocks.data[block].object, setter, &t))
		return;
	while (n < ops->n && ops->ops[n].vaddr < setter)
		n++;
	for (unsigned i = 0; i < t.n && !j->v->tests_call; i++) {
		const struct test_operand *o = &t.operand[i];
		place_t place = o->kind == OPERAND_REG && o->at.base < EVENT_REGS ? o->at.base
				: o->kind == OPERAND_MEM && n < ops->n ? ops->ops[n].tests
								       : PLACE_NONE;
		struct value_origin from;

		if (place == PLACE_NONE)
			continue;
		j->s.has_wanted = false;
		from = slice__of(&j->s, at, n, (struct tracked){place, false}, room);
		note_read(j, &from);
		find_loop(j, &from, at, n, place, room);
		judge_set_before(j, &from);
		if (from.kind == VALUE_CODE)
			find_part(j, at, n, place);
		if (from.kind == VALUE_CALL && from.place == code__result(j->s.code))
			take_tested_call(j, &from);
	}
}

void judging__find_tested(struct judging *j)
{
	if (j->v->decided)
		find_tested_by_branch(j);
	else if (j->v->choice)
		find_tested_by_choice(j);
}

void judging__find_part(struct judging *j)
{
	size_t at = j->path.len - 1;

	find_part(j, at, SIZE_MAX, j->ending.place);
}
