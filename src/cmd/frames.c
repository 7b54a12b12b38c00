// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames: what of a recorded call stack is true. Frame pointers lead from frame to frame only where
 * each function keeps one; elsewhere the register holds anything, and what looks like frames is
 * none. So a program's frame counts if .eh_frame (of Go: the code) says of the one before it that
 * the frame pointer is its own there. In place of the first that doesn't: why.
 */
#include "code/code.h"
#include "frames.h"

/* The call before it: a return address may lie behind its function's end. */
static enum frame_link link_at(struct show *s, uint32_t pid, uint64_t addr)
{
	struct mapped_place place;
	enum frame_link link;

	spaces__find(s->spaces, pid, addr - 1, &place);
	if (!place.object)
		return FRAME_UNKNOWN;
	link = object__frame_link(place.object, place.vaddr);
	return link == FRAME_UNKNOWN ? prologue__frame_link(place.object, place.vaddr) : link;
}

/* The caller is what was on top of the stack. *n: how many are true. */
static enum stack_end check_user(struct show *s, uint32_t pid, const uint64_t *stack, unsigned *n)
{
	unsigned frames = *n;

	for (*n = 1; *n < frames;) {
		enum frame_link link = link_at(s, pid, stack[(*n)++]);

		if (link != FRAME_POINTER)
			return link == FRAME_OUTERMOST ? STACK_WHOLE : STACK_NO_POINTER;
	}
	return frames == STACK_FRAMES ? STACK_LIMIT : STACK_UNREADABLE;
}

/* Its own unwinder goes by tables (ORC). */
static enum stack_end check_kernel(unsigned n)
{
	return n == STACK_FRAMES ? STACK_LIMIT : n ? STACK_WHOLE : STACK_UNREADABLE;
}

const struct event *frames__check(struct show *s, const struct event *e, struct checked_event *room)
{
	struct event_entry *entry = &room->entry;

	if (e->type != EVENT_ENTRY || !e->entry->stack)
		return e;
	room->event = *e;
	*entry = *e->entry;
	room->event.entry = entry;
	entry->stack_end = s->plan->kernel ? check_kernel(entry->nstack)
					   : check_user(s, e->pid, entry->stack, &entry->nstack);
	return &room->event;
}
