// SPDX-License-Identifier: BSD-2-Clause
/* Where a stopped thread is: within a patch, in a copy or in the original; and how it is moved to
 * the other place without a step. */
#include "text.h"

static bool is_patched(const struct thread *t, const struct loaded *l, const struct copy_patch *p)
{
	uint8_t is[PATCH_MAX], put[PATCH_MAX];

	return space__read(t->process->space, p->vaddr + l->bias, is, p->len) &&
	       copy_image__patch(l->image, t->tracer->arch, p, l->bias, l->base, put) &&
	       !memcmp(is, put, p->len);
}

/* Returns the patch whose bytes the thread is within; NULL if none. */
const struct copy_patch *thread__find_patch(struct thread *t, const struct loaded **l)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	const struct copy_patch *p;

	*l = space__object_at(t->process->space, pc);
	if (!*l)
		return NULL;
	vaddr = pc - (*l)->bias;
	p = copy_image__patch_at((*l)->image, vaddr);
	return p && !copy_image__is_live((*l)->image, vaddr) && is_patched(t, *l, p) ? p : NULL;
}

void signals__leave_patch(struct thread *t)
{
	const struct loaded *l;
	const struct copy_patch *p = thread__find_patch(t, &l);
	uint32_t to;

	if (!p)
		return;
	to = copy_image__leads_to(l->image, p);
	thread__set(t, TRACEE_PC, to ? l->base + to : p->vaddr + l->bias);
	thread__store_regs(t);
}

uint64_t signals__leave_at_once(struct thread *t)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	const struct loaded *l = space__copies_at(t->process->space, pc);

	if (!l || (!copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr) &&
		   !copy_image__near(l->image, (uint32_t)(pc - l->base), &vaddr)))
		return 0;
	thread__set(t, TRACEE_PC, vaddr + l->bias);
	return pc;
}

void thread__back_to_copy(struct thread *t, const struct signal_frame *f)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__object_at(t->process->space, pc);
	uint32_t offset;

	if (t->tracer->disarmed)
		return;
	if (l && !loaded__may_enter(t->tracer, l, pc - l->bias))
		return;
	if (f && f->copy && f->original == pc && space__copies_at(t->process->space, f->copy)) {
		thread__set(t, TRACEE_PC, f->copy);
		return;
	}
	if (l && !copy_image__is_live(l->image, pc - l->bias) &&
	    copy_image__copy_at(l->image, pc - l->bias, &offset))
		thread__set(t, TRACEE_PC, l->base + offset);
}

void signals__to_copy(struct thread *t)
{
	thread__back_to_copy(t, NULL);
}
