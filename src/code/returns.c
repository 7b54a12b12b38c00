// SPDX-License-Identifier: BSD-2-Clause
/*
 * Return probes: on which entries they do no harm. The kernel replaces the return address on top of
 * the stack, so there has to be one, and nobody but ret may want it.
 */
#include "plan.h"

const char *const return_refusal_text[RETURN_REFUSALS] = {
	[RETURN_NO_ENTRY] = "its entry can carry no probe",
	[RETURN_CAUGHT] = "it catches exceptions, which end the program at a return probe",
	[RETURN_REENTERED] = "control may come back to its entry with another stack",
};

/* From b, where the stack is not as it was at an entry, control may come to this block. */
static void refuse_at(struct plan *p, uint32_t to)
{
	struct plan_function *f;

	if (to == NO_BLOCK || p->blocks.data[to].function == NO_FUNCTION)
		return;
	f = &p->functions.data[p->blocks.data[to].function];
	if (f->entry_block == to && !(f->flags & FUNCTION_RANGE) && !f->return_refusal)
		f->return_refusal = RETURN_REENTERED;
}

void returns__check(struct plan *p)
{
	const struct plan_block *b;

	vec__each (b, &p->blocks) {
		if (b->pad && b->function != NO_FUNCTION)
			p->functions.data[b->function].return_refusal = RETURN_CAUGHT;
		if (b->site != NO_SITE && p->sites.data[b->site].sp_delta == 0)
			continue;
		refuse_at(p, b->taken);
		refuse_at(p, b->next);
		for (uint32_t i = 0; i < b->ntable; i++)
			refuse_at(p, p->table.data[b->table + i]);
	}
}

enum return_refusal plan__return_refusal(const struct plan *p, uint32_t function)
{
	const struct plan_function *f = &p->functions.data[function];
	const struct plan_site *s = f->entry_site == NO_SITE ? NULL : &p->sites.data[f->entry_site];

	if (!s || !s->entry || !s->probe || s->repeats ||
	    f->flags & (FUNCTION_SILENT | FUNCTION_RANGE))
		return RETURN_NO_ENTRY;
	return f->return_refusal;
}
