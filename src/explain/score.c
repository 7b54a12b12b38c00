// SPDX-License-Identifier: BSD-2-Clause
/* Which of the branches that led to a message is its most likely reason. */
#include "explain/message.h"

#define MADE_SCORE 150 /* who makes a text has a reason; who writes it often has none */

static bool tests_memory(const struct plan *p, const struct verdict *v)
{
	const struct test *t = p->sites.data[v->branch.site].test;

	for (unsigned i = 0; t && i < t->n; i++)
		if (t->operand[i].kind == OPERAND_MEM && t->operand[i].at.base == REG_IP)
			return true;
	return false;
}

/* The branch found that a function had returned a pointer, as memory that it allocated. */
static bool found_pointer(const struct verdict *v)
{
	const struct tested *t = &v->branch.tested;

	return v->tests_call && t->flags >> TESTED_SIZE_SHIFT == 3 && t->value[0] > UINT16_MAX &&
	       (!t->value[1] || t->value[1] == t->value[0]);
}

#define STRAIGHT_MOST 16 /* blocks */

/* The branch's other side leads straight to where the program would have ended, or thrown: it was a
 * check, which was passed. */
static bool is_passed_check(const struct plan *p, const struct verdict *v)
{
	const struct plan_block *b = &p->blocks.data[v->block];
	uint32_t at = v->branch.taken ? b->next : b->taken;

	if (!plan_site__is_conditional(&p->sites.data[v->branch.site]))
		return false;
	for (unsigned n = 0; n < STRAIGHT_MOST && at != NO_BLOCK; n++) {
		b = &p->blocks.data[at];
		if (b->noreturn)
			return true;
		if (b->site == NO_SITE || p->sites.data[b->site].kind == BRANCH_CALL)
			at = b->next;
		else if (p->sites.data[b->site].kind == BRANCH_JMP)
			at = b->taken;
		else
			return false;
	}
	return false;
}

/* The order among a message's branches; more is better. The result of a call that succeeded is no
 * better reason than anything else that is tested. */
int reached__score(const struct explain_state *s, const struct explaining *e,
		   const struct message *m, const struct reached *r)
{
	const struct verdict *v = r->verdict;
	bool failed = v->failed.result || (v->cause && value__is_error(v->cause->value));
	int score = 0;
	unsigned went;

	if (passing__went(e->passing, s->code.plan, v->branch.site, &went) && went)
		score += went == (v->branch.taken ? WENT_ON : WENT_TAKEN) ? 60
			 : went == WENT_TAKEN || went == WENT_ON	  ? -40
									  : 0;

	if (message__has_error(m, v->failed.result))
		score += 100;
	if (v->cause && verdict__deciding(v->cause))
		score += failed ? 20 : 4;
	if (v->tests_call)
		score += failed ? 12 : found_pointer(v) ? -12 : 4;
	/* an option; but not what a call's result is compared with, as the size of a write */
	if (tests_memory(s->code.plan, v) && !(v->cause && verdict__deciding(v->cause)))
		score -= 25;
	if (v->decided && is_passed_check(s->code.plan, v))
		score -= 45;
	if (r->frame < m->printing.len)
		score -= 200;
	if (r->made)
		score += MADE_SCORE;
	return score - 10 * (int)r->before -
	       15 * (int)(r->frame - min_of((size_t)r->frame, m->printing.len));
}

const struct reached *message__because(const struct message *m)
{
	const struct reached *best = NULL, *r;

	vec__each (r, &m->reached)
		if (!best || r->score > best->score)
			best = r;
	return best;
}

bool message__is_same(const struct message *a, const struct message *b)
{
	const struct reached *x = message__because(a), *y = message__because(b);

	return x && y && x->verdict->function == y->verdict->function &&
	       x->verdict->branch.site == y->verdict->branch.site;
}
