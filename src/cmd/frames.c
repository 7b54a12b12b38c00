// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames: validates a recorded call stack. Frame pointers form a chain only if each function keeps
 * one; otherwise the register holds any value. So a user-mode frame is valid only if .eh_frame (for
 * Go: the code) shows that the previous function has set up its frame pointer. The stack ends
 * before the first invalid frame, with the reason.
 */
#include "code/code.h"
#include "frames.h"

/* Looks up the call before addr: a return address may be after its function's end. */
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

/* The first caller is from the top of the stack. *n: the number of valid frames. */
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

/* The kernel's unwinder uses tables (ORC). */
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
	entry->stack_end = plan__is_kernel_site(s->plan, e->site)
				   ? check_kernel(entry->nstack)
				   : check_user(s, e->pid, entry->stack, &entry->nstack);
	return &room->event;
}
