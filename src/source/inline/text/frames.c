// SPDX-License-Identifier: BSD-2-Clause
/* Frames of handlers that are tracked: handlers whose return has to be seen. */
#include <stddef.h>
#include <ucontext.h>
#include "text.h"

/* ---- handlers that were left ---- */

static void end_restoring(struct thread *t, struct signal_frame *f)
{
	struct restoring which = f->restoring;

	f->restoring = (struct restoring){0};
	restore__end(t, &which);
}

void signals__drop_frame(struct thread *t, size_t n)
{
	struct restoring which = t->frames.data[n].restoring;

	t->frames.len--;
	memmove(t->frames.data + n, t->frames.data + n + 1,
		(t->frames.len - n) * sizeof(*t->frames.data));
	restore__end(t, &which);
}

/*
 * Returns true if it seems to have been left, by longjmp(3) and the like. It is a guess: the stack
 * pointer is above its frame, or not on the alternate stack any more. A handler that has changed
 * stacks looks the same.
 */
static bool seems_left(const struct signal_frame *f, uint64_t sp)
{
	if (f->alt_end)
		return sp < f->alt || sp >= f->alt_end;
	return sp > f->sp + 8;
}

/* Then no handler can return by it. */
static bool is_overwritten(const struct thread *t, const struct signal_frame *f)
{
	uint64_t word;

	return !space__read(t->process->space, f->sp, &word, sizeof(word)) || word != f->word;
}

/* If that is wrong, and the original can't be executed there, the handler's return has to be seen
 * all the same: then the frame stays until its memory is used for something else. */
static void leave_frame(struct thread *t, size_t n)
{
	struct signal_frame *f = &t->frames.data[n];

	if (f->left)
		return;
	if (!space__is_changed(t->process->space, f->original)) {
		signals__drop_frame(t, n);
		return;
	}
	f->left = true;
	end_restoring(t, f);
}

/* The frames from n on. */
void signals__leave_frames_from(struct thread *t, size_t n)
{
	for (size_t i = t->frames.len; i-- > n;)
		leave_frame(t, i);
}

void signals__drop_left_frames(struct thread *t, uint64_t sp)
{
	for (size_t i = t->frames.len; i-- > 0;) {
		const struct signal_frame *f = &t->frames.data[i];

		if (f->left && is_overwritten(t, f))
			signals__drop_frame(t, i);
		else if (!f->left && !seems_left(f, sp))
			break;
		else
			leave_frame(t, i);
	}
}

/* ---- handlers that begin ---- */

/* Their memory is this one's. */
static void drop_overlapping(struct thread *t, uint64_t sp)
{
	uint64_t size = t->tracer->tracee->frame_size;

	for (size_t i = t->frames.len; i-- > 0;) {
		uint64_t other = t->frames.data[i].sp;

		if (other < sp + size && sp < other + size)
			signals__drop_frame(t, i);
	}
}

/* The settings of the alternate stack are in the frame, whose context is there. */
void signals__push_frame(struct thread *t, struct signal_frame f, uint64_t context)
{
	uint64_t at = context + offsetof(ucontext_t, uc_stack);
	stack_t alt;

	if (space__read(t->process->space, at, &alt, sizeof(alt)) &&
	    f.sp - (uintptr_t)alt.ss_sp < alt.ss_size) {
		f.alt = (uintptr_t)alt.ss_sp;
		f.alt_end = f.alt + alt.ss_size;
	}
	space__read(t->process->space, f.sp, &f.word, sizeof(f.word));
	drop_overlapping(t, f.sp);
	vec__push(&t->frames, f);
}

void signals__track(struct thread *t, uint64_t frame, uint64_t original, uint64_t copy)
{
	signals__push_frame(t,
			    (struct signal_frame){.sp = frame, .original = original, .copy = copy},
			    frame + t->tracer->tracee->returned);
}

void signals__found(struct thread *t, uint64_t sp, uint64_t pc)
{
	const struct loaded *l = space__object_at(t->process->space, pc);
	struct signal_frame f = {.sp = sp, .original = pc};
	uint64_t copy;
	uint32_t offset;

	signals__push_frame(t, f, sp + t->tracer->tracee->returned);
	if (t->tracer->disarmed || !l || !copy_image__copy_at(l->image, pc - l->bias, &offset))
		return;
	copy = l->base + offset;
	if (space__write(t->process->space, sp + t->tracer->tracee->frame_pc, &copy, sizeof(copy)))
		vec__last(&t->frames)->rewritten = copy;
}

void signals__restore_frames(struct thread *t)
{
	const struct space *s = t->process->space;
	struct signal_frame *f;

	vec__each (f, &t->frames) {
		uint64_t at = f->sp + t->tracer->tracee->frame_pc, pc;

		if (f->rewritten && space__read(s, at, &pc, sizeof(pc)) && pc == f->rewritten)
			space__write(s, at, &f->original, sizeof(f->original));
		f->rewritten = 0;
	}
}

void signals__leave_frames(struct thread *t)
{
	while (t->frames.len)
		signals__drop_frame(t, t->frames.len - 1);
	t->awaited.len = 0;
	restore__end(t, &t->restoring);
	t->restoring = (struct restoring){0};
}
