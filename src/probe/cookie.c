// SPDX-License-Identifier: BSD-2-Clause
/* Encodes for the BPF program what a site's probe has to read: the probe word and the operand table
 * of wire.h. */
#include "session.h"

bool cookie__needs_operand(const struct plan_site *s)
{
	return (s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL) &&
	       s->operand.kind == OPERAND_MEM;
}

struct wire_operand cookie__operand(const struct plan_site *s)
{
	const struct operand *o = &s->operand;

	return (struct wire_operand){
		.disp = o->disp + (o->base == REG_IP ? s->len : 0),
		.base = o->base,
		.index = o->index,
		.scale = o->scale,
		.seg = o->seg,
		.addr32 = o->addr32,
		.size = o->size,
	};
}

/* x86: the counter of loop and jrcxz is rcx */
#define COUNTER_REG 1

static uint64_t action_of(const struct plan_site *s, uint32_t operand)
{
	switch (s->kind) {
	case BRANCH_RET:
		return (uint64_t)ACTION_RET << 28;
	case BRANCH_LOOP:
		return (uint64_t)ACTION_REG << 28 | (uint64_t)COUNTER_REG << 32;
	case BRANCH_IJMP:
	case BRANCH_ICALL:
		if (s->operand.kind == OPERAND_REG)
			return (uint64_t)ACTION_REG << 28 | (uint64_t)s->operand.base << 32;
		return (uint64_t)ACTION_MEM << 28 | (uint64_t)operand << 32;
	default:
		return (uint64_t)ACTION_FLAGS << 28;
	}
}

/* Does a hit of this ret end a call for sure? Not one that is used as a jump; and where return
 * probes tell the returns, they do. */
static bool returns(const struct plan *plan, const struct plan_site *s)
{
	return s->kind == BRANCH_RET && !s->sp_delta && !plan->return_probes &&
	       !(plan->functions.data[s->function].flags & FUNCTION_RANGE);
}

/* What is lost for sure with a hit that finds the ring full: plan__is_told_singly() says when that
 * is all. */
static uint64_t events_of(const struct plan *plan, const struct plan_site *s, unsigned events)
{
	if (plan->functions.data[s->function].flags & FUNCTION_HELPER)
		return 0;
	return (s->entry && !s->repeats && (events & PLAN_ENTRY)) +
	       (s->kind != BRANCH_NONE && (events & PLAN_BRANCH)) +
	       (returns(plan, s) && (events & PLAN_RETURN));
}

const struct object *cookie__go(const struct plan *plan)
{
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		if (o->object && o->object->go && o->object->go_g)
			return o->object;
	return NULL;
}

/* Programs of Go that differ in where they keep it can't be told apart at once: the first one
 * counts. */
bool cookie__is_go(const struct plan *plan, const struct object *o)
{
	const struct object *go = cookie__go(plan);

	return go && o && o->go && o->go_g == go->go_g && o->go_goid == go->go_goid;
}

uint64_t cookie__of_site(const struct plan *plan, uint32_t site, uint32_t operand, unsigned events)
{
	const struct plan_site *s = &plan->sites.data[site];
	uint64_t word =
		site | action_of(s, operand) | events_of(plan, s, events) << PROBE_EVENTS_SHIFT;

	if (cookie__is_go(plan, plan->objects.data[s->object].object))
		word |= PROBE_GO;
	if (s->entry)
		word |= PROBE_ENTRY;
	if (s->entry && (plan->functions.data[s->function].flags & FUNCTION_SYSCALL))
		word |= plan->functions.data[s->function].flags & FUNCTION_IA32
				? PROBE_SYSCALL | PROBE_IA32
				: PROBE_SYSCALL;
	return word;
}

uint64_t cookie__of_return(const struct plan *plan, uint32_t site)
{
	/* it may be one of several for a call that came back to its entry */
	return site | (uint64_t)ACTION_RETURN << 28;
}
