// SPDX-License-Identifier: BSD-2-Clause
/*
 * Return probes. In programs: which entries can carry one safely. The kernel replaces the return
 * address on top of the stack, so there must be one, and only a ret may use it. In the kernel,
 * where they are always safe: which functions need one.
 */
#include <stdlib.h>
#include "plan/plan_private.h"

const char *const return_refusal_text[RETURN_REFUSALS] = {
	[RETURN_NO_ENTRY] = "its entry can carry no probe",
	[RETURN_CAUGHT] = "it catches exceptions, which end the program at a return probe",
	[RETURN_REENTERED] = "control may come back to its entry with another stack",
	[RETURN_TWICE] = "it keeps its return address for later",
	[RETURN_UNPROVED] = "nothing shows that it is called and returns",
};

/* Control may reach this block from one where the stack isn't that of an entry. */
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
		if (twice__returns(p->objects.data[f->object].object, p->arch,
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

/* Calls may begin in these functions, or be in them without an entry of their own. */
static bool is_recorded(const struct plan *p, uint32_t function)
{
	return function != NO_FUNCTION && !plan__is_kernel_function(p, function) &&
	       plan__return_refusal(p, function) == RETURN_OK;
}

bool *returns__unseen_ends(const struct plan_flow *flow)
{
	const struct plan *p = flow->plan;
	bool *unseen = xcalloc(p->blocks.len + 1, sizeof(*unseen));
	VEC(uint32_t) work = {0};

	for (uint32_t b = 0; b < p->blocks.len; b++) {
		unseen[b] = !is_recorded(p, p->blocks.data[b].function);
		if (unseen[b])
			vec__push(&work, b);
	}
	while (work.len) {
		uint32_t b = work.data[--work.len];

		for (uint32_t i = flow->out[b]; i < flow->out[b + 1]; i++) {
			if (unseen[flow->successors[i]])
				continue;
			unseen[flow->successors[i]] = true;
			vec__push(&work, flow->successors[i]);
		}
	}
	vec__free(&work);
	return unseen;
}

bool plan__probe_rets(struct plan *p)
{
	struct plan_flow flow;
	struct plan_site *s;
	bool any = false;
	bool *unseen;

	plan_flow__init(&flow, p);
	unseen = returns__unseen_ends(&flow);
	vec__each (s, &p->sites) {
		if (s->kind != BRANCH_RET || s->probe != PROBE_NONE || s->refusal != PROBE_OK ||
		    !unseen[s->block] || p->functions.data[s->function].flags & FUNCTION_HELPER)
			continue;
		s->probe = PROBE_TRAP;
		p->probes++;
		p->functions.data[s->function].unprobed--;
		any = true;
	}
	free(unseen);
	plan_flow__free(&flow);
	return any;
}

/* ---- tail calls through pointers ---- */

/* A slot of the GOT, which names its function, is addressed relative to the jump. */
static bool leaves_by_pointer(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	return s && s->kind == BRANCH_IJMP && b->function != NO_FUNCTION && b->leaves &&
	       b->taken == NO_BLOCK &&
	       !(s->operand.kind == OPERAND_MEM && s->operand.base == REG_IP);
}

uint32_t *plan__pointer_tails(const struct plan *p)
{
	uint32_t *n = xcalloc(p->functions.len + 1, sizeof(*n));
	const struct plan_block *b;

	vec__each (b, &p->blocks)
		n[b->function == NO_FUNCTION ? p->functions.len : b->function] +=
			leaves_by_pointer(p, b);
	return n;
}

/* ---- kernel functions that end in a tail call ---- */

static bool leaves_plan(const struct plan_block *b)
{
	return b->function != NO_FUNCTION && ((b->leaves && b->taken == NO_BLOCK) || b->unresolved);
}

/* kernel/kprobes.c, kprobe_on_func_entry(): only at the start of a symbol */
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
