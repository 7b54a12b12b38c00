// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel side of a thread: its calls in the kernel. The kernel has its own stack, so these
 * calls are kept apart from those of the thread's program. In the steps they are nested in the
 * program's innermost open call. An entry's record has the program's registers at entry to the
 * kernel: the program's own calls are advanced to that place first.
 */
#include <stdlib.h>
#include "calls.h"

static struct thread *make(struct thread *th)
{
	struct thread *side = th->kernel_side;

	if (!side) {
		side = th->kernel_side = xcalloc(1, sizeof(*side));
		side->user_side = th;
	}
	return side;
}

/* An event in the program shows that the thread has left the kernel: its open calls there become
 * dormant. (Calls in the handler of that event's own trap resume at their next event.) */
static struct thread *back_in_program(struct thread *th)
{
	struct thread *kernel = th->kernel_side;

	if (kernel && calls__depth(kernel))
		calls__suspend_below(kernel, UINT64_MAX);
	return th->other ? th->other : th;
}

struct thread *kernel_side__of(struct trace *t, struct thread *th, uint32_t site)
{
	return plan__is_kernel_site(t->plan, site) ? make(th) : back_in_program(th);
}

struct thread *kernel_side__if_any(struct thread *th)
{
	if (th->user_side)
		return th;
	/* the thread that runs the goroutine has the kernel side */
	th = th->goroutine ? th->other : th;
	return th ? th->kernel_side : NULL;
}

struct thread *kernel_side__innermost(struct thread *th)
{
	struct thread *current = th->other ? th->other : th;

	if (th->kernel_side && (calls__depth(th->kernel_side) || !current->seen))
		return th->kernel_side;
	return current;
}

void kernel_side__move(struct thread *to, struct thread *from)
{
	struct thread *side = make(to), *old = from->kernel_side;

	calls__copy(side, old);
	side->seen |= old->seen;
	old->calls.len = old->ndormant = 0;
}

/* ---- where the program is ---- */

/* A place in a block, relative to the probe of its entry or witness. */
enum in_block {
	BEFORE_MARK, /* that probe was not hit yet, or there is none */
	PAST_MARK,   /* it was hit */
	AT_PROBE,    /* at a probe whose event is still to come */
};

/* During a trap the instruction pointer is behind the breakpoint: at + 1. */
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
	/* it is there, even if no more steps are wanted */
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

	/* a goroutine's stack moves: user_sp doesn't identify its calls */
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
