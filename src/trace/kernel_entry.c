// SPDX-License-Identifier: BSD-2-Clause
/* Entries in the kernel: the record of such an entry has the program's registers at the entry to
 * the kernel, so the program's own calls are advanced to that place first. */
#include "calls.h"

/* A place in a block, relative to the probe of its entry or witness. */
enum in_block {
	BEFORE_MARK, /* That probe was not hit yet, or there is none. */
	PAST_MARK,   /* That probe was hit. */
	AT_PROBE,    /* The place is at a probe whose event is still to come. */
};

/* During a trap the instruction pointer is after the breakpoint: at + 1. */
static enum in_block place_in(const struct plan *p, const struct plan_block *b, uint64_t vaddr)
{
	enum in_block place = BEFORE_MARK;

	for (size_t i = plan__sites_from(p, b->object, b->start); i < p->sites_by_address.len;
	     i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];
		uint64_t at = s->vaddr + s->probe_at;

		if (s->object != b->object || s->vaddr > vaddr)
			break;
		if ((s->probe == PROBE_TRAP || s->probe == PROBE_CHANGING) &&
		    (at == vaddr || at + 1 == vaddr))
			return AT_PROBE;
		if (plan_site__has_events(s) && s->role != ROLE_BRANCH && at < vaddr)
			place = PAST_MARK;
	}
	return place;
}

/* Advances the program's call that has this stack pointer to the block. */
static int bring_to(struct event_context *n, uint32_t block, bool past)
{
	const struct plan *p = n->t->plan;
	const struct plan_block *b = &p->blocks.data[block];
	const struct plan_site here = {.object = b->object,
				       .function = b->function,
				       .block = block,
				       .role = ROLE_WITNESS,
				       .sp_delta = SP_UNKNOWN};
	struct call *c = calls__enclosing(n->th, b->function, n->e->sp);
	int err = 0;

	if (!c || c->dormant || (p->functions.data[b->function].flags & FUNCTION_HELPER))
		return 0;
	n->s = &here;
	n->site = NO_SITE;
	n->block = b;
	c = replay__call_of_event(n, &err);
	if (!err)
		err = replay__walk_to(n, c, block, false);
	/* The position holds even if fn wants no more steps. */
	c->signals = n->th->signals;
	c->in_call = false;
	c->state = CALL_AT;
	c->block = block;
	c->past = past;
	return err;
}

int kernel_side__enter(struct event_context *n)
{
	struct thread *key = thread__shown(n->th);
	struct event at = *n->e;
	struct event_context u = {.t = n->t, .th = key, .e = &at};
	const struct plan *plan = n->t->plan;
	uint32_t object, block;
	enum in_block place;
	uint64_t vaddr;
	int err;

	/* The stack of a goroutine moves, so user_sp doesn't identify its calls. */
	if (!n->entry->user_ip || !calls__depth(key) || key->goroutine)
		return 0;
	at.sp = n->entry->user_sp;
	at.entry = NULL;
	err = replay__end_below(&u, at.sp);
	if (err || !locate__in_object(n->t, key->pid, at.time, n->entry->user_ip, &object, &vaddr))
		return err;
	block = plan__block_holding(plan, object, vaddr);
	if (block == NO_BLOCK || plan->blocks.data[block].function == NO_FUNCTION)
		return 0;
	place = place_in(plan, &plan->blocks.data[block], vaddr);
	return place == AT_PROBE ? 0 : bring_to(&u, block, place == PAST_MARK);
}
