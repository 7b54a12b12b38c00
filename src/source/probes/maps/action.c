// SPDX-License-Identifier: BSD-2-Clause
/* Encodes for the BPF program what to do at each site: the array of site actions and the operand
 * table of wire.h. */
#include "source/probes/session.h"

bool action__needs_operand(const struct plan_site *s)
{
	return (s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL) &&
	       s->operand.kind == OPERAND_MEM;
}

/* after: what base REG_IP stands for, from the site's address on. */
static struct wire_operand wire_operand(const struct operand *o, uint8_t after)
{
	return (struct wire_operand){
		.disp = o->disp + (o->base == REG_IP ? after : 0),
		.base = o->base,
		.index = o->index,
		.scale = o->scale,
		.seg = o->seg,
		.addr32 = o->addr32,
		.size = o->size,
	};
}

struct wire_operand action__operand(const struct plan_site *s)
{
	return wire_operand(&s->operand, s->len);
}

struct wire_test action__test(const struct plan_site *s)
{
	static const uint8_t kinds[] = {[OPERAND_REG] = TESTED_REG, [OPERAND_MEM] = TESTED_MEM};
	struct wire_test t = {0};

	for (unsigned i = 0; i < s->test->n; i++) {
		t.of[i] = wire_operand(&s->test->operand[i].at, 0);
		t.kind[i] = kinds[s->test->operand[i].kind];
	}
	return t;
}

static uint64_t action(enum probe_action action, uint64_t argument)
{
	return (uint64_t)action << SITE_ACTION_SHIFT | argument << SITE_ARG_SHIFT;
}

static uint64_t register_and(uint8_t reg, int32_t disp)
{
	return reg | (uint64_t)(disp & 0xfff) << (SITE_DISP_SHIFT - SITE_ARG_SHIFT);
}

static uint64_t action_of(const struct plan *plan, const struct plan_site *s, uint32_t operand)
{
	switch (s->kind) {
	case BRANCH_RET:
		if (plan->placement == PLACEMENT_COUNT && !plan->counts_all)
			return action(ACTION_NONE, 0); /* most rets aren't looked at */
		return action(ACTION_RET, s->operand.kind == OPERAND_REG ? s->operand.base : 0);
	case BRANCH_JCC:
	case BRANCH_LOOP:
		return action(s->test && plan->tests ? ACTION_TEST : ACTION_CONDITION, s->cond);
	case BRANCH_IJMP:
	case BRANCH_ICALL:
		if (s->operand.kind == OPERAND_REG)
			return action(ACTION_REG, register_and(s->operand.base, s->operand.disp));
		return action(ACTION_MEM, operand);
	default:
		return action(ACTION_NONE, 0);
	}
}

/* Returns true if each hit of this ret ends a call. Not if it is used as a jump, or if return
 * probes record the returns. */
static bool returns(const struct plan *plan, const struct plan_site *s)
{
	return s->kind == BRANCH_RET && !s->sp_delta && !plan->return_probes &&
	       !(plan->functions.data[s->function].flags & FUNCTION_RANGE);
}

/* The least number of events that are lost with a hit that finds the ring full; exact if
 * plan__has_record_per_event(). */
static uint64_t events_of(const struct plan *plan, const struct plan_site *s, unsigned events)
{
	if (plan->functions.data[s->function].flags & FUNCTION_HELPER)
		return 0;
	return (s->entry && !s->repeats && (events & PLAN_ENTRY)) +
	       (s->kind != BRANCH_NONE && (events & PLAN_BRANCH)) +
	       (returns(plan, s) && (events & PLAN_RETURN));
}

const struct object *action__go(const struct plan *plan)
{
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		if (o->object && o->object->go && o->object->go_g)
			return o->object;
	return NULL;
}

/* Only one set of offsets is supported at a time: that of the first Go program counts. */
bool action__is_go(const struct plan *plan, const struct object *o)
{
	const struct object *go = action__go(plan);

	return go && o && o->go && o->go_g == go->go_g && o->go_goid == go->go_goid;
}

/* Returns true if it may be a jump to the entry of a function that is traced. For an indirect jump,
 * the target is checked. */
static bool leaves(const struct plan *p, const struct plan_site *s)
{
	const struct plan_block *b = &p->blocks.data[s->block];

	switch (s->kind) {
	case BRANCH_IJMP:
		return true;
	case BRANCH_JCC:
	case BRANCH_LOOP:
	case BRANCH_JMP:
		return plan__is_entry_block(p, b->taken) ||
		       (s->kind != BRANCH_JMP && plan__is_entry_block(p, b->next)) ||
		       plan__stub_leads_in(p, s->object, s->target);
	default:
		return false;
	}
}

uint64_t action__of_site(const struct plan *plan, uint32_t site, uint32_t operand, unsigned events)
{
	const struct plan_site *s = &plan->sites.data[site];
	uint64_t word = site | action_of(plan, s, operand) |
			events_of(plan, s, events) << SITE_EVENTS_SHIFT;

	if (plan->conditions.len && leaves(plan, s))
		word |= SITE_LEAVES;
	if (action__is_go(plan, plan->objects.data[s->object].object))
		word |= SITE_GO;
	if (s->entry)
		word |= SITE_ENTRY | (uint64_t)s->lowered / 8 << SITE_LOWERED_SHIFT;
	if (s->entry && (plan->functions.data[s->function].flags & FUNCTION_SYSCALL))
		word |= plan->functions.data[s->function].flags & FUNCTION_SYSCALL32
				? SITE_SYSCALL | SITE_SYSCALL32
				: SITE_SYSCALL;
	return word;
}
