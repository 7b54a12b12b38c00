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
		return FRAME_UNTOLD;
	link = object__frame_link(place.object, place.vaddr);
	return link == FRAME_UNTOLD ? prologue__frame_link(place.object, place.vaddr) : link;
}

/* The caller is what was on top of the stack. *n: how many are true. */
static enum stack_end check_user(struct show *s, uint32_t pid, const uint64_t *stack, uint64_t *n)
{
	uint64_t frames = *n;

	for (*n = 1; *n < frames;) {
		enum frame_link link = link_at(s, pid, stack[(*n)++]);

		if (link != FRAME_POINTER)
			return link == FRAME_OUTERMOST ? STACK_WHOLE : STACK_NO_POINTER;
	}
	return frames == WIRE_STACK ? STACK_LIMIT : STACK_UNREADABLE;
}

/* Its own unwinder goes by tables (ORC). */
static enum stack_end check_kernel(uint64_t n)
{
	return n == WIRE_STACK ? STACK_LIMIT : n ? STACK_WHOLE : STACK_UNREADABLE;
}

const void *frames__check(struct show *s, const void *record, size_t size,
			  struct wire_entry_stack *room)
{
	const struct wire_event *e = record;
	enum stack_end end;
	uint64_t n;

	if (e->site_type >> WIRE_SITE_BITS != WIRE_ENTRY || size < sizeof(*room))
		return record;
	*room = *(const struct wire_entry_stack *)record;
	n = min_of((uint64_t)room->frames, (uint64_t)WIRE_STACK);
	end = s->plan->kernel ? check_kernel(n)
			      : check_user(s, e->pid, (const uint64_t *)room->stack, &n);
	if (end != STACK_WHOLE) {
		n = min_of(n, (uint64_t)WIRE_STACK - 1);
		room->stack[n++] = WIRE_STACK_CUT(end);
	}
	room->frames = n;
	return room;
}
