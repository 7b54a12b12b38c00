// SPDX-License-Identifier: BSD-2-Clause
/* Which sites should carry a probe, by the events that were requested. */
#include "plan/plan_private.h"

static bool leaves_by(const struct plan_block *b, const struct plan_site *s)
{
	return (s->kind == BRANCH_JMP || s->kind == BRANCH_JCC || s->kind == BRANCH_IJMP ||
		s->kind == BRANCH_LOOP) &&
	       (b->leaves || b->unresolved);
}

/* Returns true for a jump to the start of a function, even the same one: without an event the call
 * would seem to have ended, and another one to have begun. */
static bool enters_by(const struct plan *p, const struct plan_block *b, const struct plan_site *s)
{
	bool falls = s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP;

	if ((falls && plan__is_entry_block(p, b->next)) ||
	    ((falls || s->kind == BRANCH_JMP) && plan__is_entry_block(p, b->taken)))
		return true;
	for (uint32_t i = 0; i < b->ntable; i++)
		if (plan__is_entry_block(p, p->table.data[b->table + i]))
			return true;
	return false;
}

bool site__is_wanted(const struct plan *p, const struct plan_site *s,
		     const struct plan_options *options)
{
	unsigned flags = p->functions.data[s->function].flags, events = options->events;
	const struct plan_block *b = &p->blocks.data[s->block];
	bool ends = !options->return_probes &&
		    (s->kind == BRANCH_RET || leaves_by(b, s) || enters_by(p, b, s));

	if (flags & FUNCTION_HELPER)
		return events & PLAN_RETURN && ends && s->kind != BRANCH_JCC;
	if (s->entry && !(flags & FUNCTION_RANGE))
		return true;
	if (s->role == ROLE_ENTRY)
		return false;
	if (events & PLAN_BRANCH)
		return true;
	return events & PLAN_RETURN && ends && !(flags & FUNCTION_RANGE);
}
