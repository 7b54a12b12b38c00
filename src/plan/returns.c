// SPDX-License-Identifier: BSD-2-Clause
/*
 * Return probes. Programs: which entries can carry one safely. The kernel replaces the return
 * address on top of the stack, so there must be one, and only a ret may use it. Kernel, where they
 * are always safe: which functions need one.
 */
#include <stdlib.h>
#include "plan/build.h"

const char *const return_refusal_text[RETURN_REFUSALS] = {
	[RETURN_NO_ENTRY] = "its entry can carry no probe",
	[RETURN_CAUGHT] = "it catches exceptions, which end the program at a return probe",
	[RETURN_REENTERED] = "control may come back to its entry with another stack",
	[RETURN_TWICE] = "it keeps its return address for later",
	[RETURN_UNPROVED] = "nothing shows that it is called and returns",
};

/* Control may come to this block from one where the stack isn't as at an entry. */
static void refuse_at(struct plan *p, uint32_t to)
{
	struct plan_function *f;

	if (to == NO_BLOCK || p->blocks.data[to].function == NO_FUNCTION)
		return;
	f = &p->functions.data[p->blocks.data[to].function];
	if (f->entry_block == to && !(f->flags & FUNCTION_RANGE) && !f->return_refusal)
		f->return_refusal = RETURN_REENTERED;
}

/*
 * The top of the stack at an entry is a return address only if the function, or one that it jumps
 * to, returns to it. At _start it is argc, in a signal trampoline the context, in the dynamic
 * linker's resolver an argument.
 */
enum { ENDS_LEVEL = 1, ENDS_ELSEWHERE = 2 };

static uint8_t end_of(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	if (!s || (s->kind != BRANCH_RET && !b->leaves))
		return 0;
	if (s->sp_delta == 0)
		return ENDS_LEVEL;
	return s->kind == BRANCH_RET && s->sp_delta != SP_UNKNOWN ? ENDS_ELSEWHERE : 0;
}

static void refuse_odd(struct plan *p)
{
	uint8_t *ends = xcalloc(p->functions.len, 1);
	const struct plan_block *b;

	vec__each (b, &p->blocks)
		if (b->function != NO_FUNCTION)
			ends[b->function] |= end_of(p, b);
	for (uint32_t i = 0; i < p->functions.len; i++) {
		struct plan_function *f = &p->functions.data[i];

		if (f->entry_block == NO_BLOCK)
			continue;
		if (names__returns_twice(p->objects.data[f->object].object,
					 p->blocks.data[f->entry_block].start))
			f->return_refusal = RETURN_TWICE;
		else if (ends[i] != ENDS_LEVEL && !f->return_refusal)
			f->return_refusal = RETURN_UNPROVED;
	}
	free(ends);
}

void returns__check(struct plan *p)
{
	const struct plan_block *b;

	vec__each (b, &p->blocks) {
		if (b->abnormal == ABNORMAL_LANDING_PAD && b->function != NO_FUNCTION)
			p->functions.data[b->function].return_refusal = RETURN_CAUGHT;
		if (b->site != NO_SITE && p->sites.data[b->site].sp_delta == 0)
			continue;
		refuse_at(p, b->taken);
		refuse_at(p, b->next);
		for (uint32_t i = 0; i < b->ntable; i++)
			refuse_at(p, p->table.data[b->table + i]);
	}
	refuse_odd(p);
}

enum return_refusal plan__return_refusal(const struct plan *p, uint32_t function)
{
	const struct plan_function *f = &p->functions.data[function];
	const struct plan_site *s = f->entry_site == NO_SITE ? NULL : &p->sites.data[f->entry_site];

	if (!s || !s->entry || s->probe == PROBE_NONE || s->repeats ||
	    f->flags & (FUNCTION_HELPER | FUNCTION_RANGE))
		return RETURN_NO_ENTRY;
	return f->return_refusal;
}

/* ---- kernel functions that end in a tail call ---- */

static bool leaves_plan(const struct plan_block *b)
{
	return b->function != NO_FUNCTION && ((b->leaves && b->taken == NO_BLOCK) || b->unresolved);
}

/* kernel/kprobes.c, kprobe_on_func_entry(): only at the start of a symbol. */
static bool takes_return_probe(const struct plan *p, const struct plan_function *f)
{
	const struct plan_site *s = f->entry_site == NO_SITE ? NULL : &p->sites.data[f->entry_site];
	const struct object *o = p->objects.data[f->object].object;

	return s && p->objects.data[f->object].kernel && s->probe == PROBE_TRAP && !s->probe_at &&
	       !(f->flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       object__symbols_from(o, s->vaddr) < o->symbols.len;
}

bool *plan__ends_elsewhere(const struct plan *p)
{
	bool *ends = xcalloc(p->functions.len + 1, sizeof(*ends));
	const struct plan_block *b;

	vec__each (b, &p->blocks)
		if (leaves_plan(b))
			ends[b->function] = true;
	for (size_t i = 0; i < p->functions.len; i++)
		ends[i] = ends[i] && takes_return_probe(p, &p->functions.data[i]);
	return ends;
}
