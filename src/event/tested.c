// SPDX-License-Identifier: BSD-2-Clause
/* What a conditional tested, by what was recorded when it was executed. */
#include "event/event.h"
#include "plan/plan.h"

static uint64_t operand_value(const struct test_operand *o, uint64_t place)
{
	return o->kind == OPERAND_NONE ? o->constant : place >> o->shift;
}

void tested__take(struct tested *out, const struct plan *plan, const struct plan_site *s,
		  bool taken, const uint64_t place[2], unsigned known)
{
	const struct test *t = s->test;
	uint64_t value[2] = {0};
	uint8_t flags = TESTED;

	*out = (struct tested){0};
	for (unsigned i = 0; i < t->n; i++) {
		if (t->operand[i].kind != OPERAND_NONE && !(known >> i & 1))
			return;
		value[i] = operand_value(&t->operand[i], place[i]);
		flags |= t->operand[i].kind == OPERAND_MEM ? TESTED_AGAIN : 0;
	}
	/* memory may have changed, and some conditions don't follow from the operands */
	if (test__decide(t, plan->arch, s->kind, s->cond, value) != taken)
		return;
	flags |= t->n == 2 ? TESTED_TWO : t->result ? TESTED_RESULT : 0;
	out->flags = flags | (__builtin_ctz(t->bits) - 3) << TESTED_SIZE_SHIFT;
	out->value[0] = value[0];
	out->value[1] = value[1];
}
