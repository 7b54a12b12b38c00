// SPDX-License-Identifier: BSD-2-Clause
/* Recognises the end of a process by C's names, and by what the loader calls. */
#include <string.h>
#include "plan/plan.h"
#include "ending.h"

static unsigned flags_of(const struct step *s)
{
	return s->plan && s->function < s->plan->functions.len
		       ? s->plan->functions.data[s->function].flags
		       : 0;
}

static bool is_main(const struct step *s)
{
	return s->plan && s->function < s->plan->functions.len &&
	       plan__is_main(s->plan, s->function);
}

/* Destructors, and the functions of gcc's crtstuff.c and the linker, also without names. */
static bool is_final(const struct step *s)
{
	return flags_of(s) & FUNCTION_FINAL;
}

/* Returns true if a branch calls one of these functions, or its PLT stub. */
static bool calls(const struct step *s, const char *const *names, size_t n)
{
	uint8_t kind = s->plan ? s->plan->sites.data[s->site].kind : BRANCH_JCC;

	return s->to_known && !s->to.offset && (kind == BRANCH_CALL || kind == BRANCH_JMP) &&
	       location__among(&s->to, names, n);
}

static enum ending_state after(const struct step *s)
{
	static const char *const exits[] = {"exit", "quick_exit", "err", "errx", "verr", "verrx"};
	static const char *const may_exit[] = {"error", "error_at_line"};

	if (s->type == STEP_RETURN)
		return is_main(s) ? ENDING_SURE : ENDING_NOT;
	if (s->type != STEP_BRANCH)
		return ENDING_NOT;
	return calls(s, exits, ARRAY_SIZE(exits))	  ? ENDING_SURE
	       : calls(s, may_exit, ARRAY_SIZE(may_exit)) ? ENDING_CALL
							  : ENDING_NOT;
}

bool ending__refuted(struct ending *e, const struct step *s)
{
	bool runs = s->type == STEP_ENTRY || s->type == STEP_BRANCH || s->type == STEP_RETURN;
	bool refuted = s->type == STEP_EXEC;

	if (e->state == ENDING_CALL)
		refuted |= runs && s->depth <= e->depth;
	if (e->state == ENDING_FINAL)
		refuted |= runs && s->depth <= e->depth && !is_final(s);
	if (!refuted || e->state == ENDING_NOT)
		return false;
	e->state = ENDING_NOT;
	return true;
}

bool ending__has_begun(struct ending *e, const struct step *s)
{
	if (e->state != ENDING_NOT)
		return true;
	e->depth = s->depth;
	if (s->type == STEP_ENTRY && is_final(s)) {
		e->state = ENDING_FINAL;
		return true;
	}
	e->state = after(s);
	return false;
}
