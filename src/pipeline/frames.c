// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames: makes the call stack from a copied stack, by the unwind rules of the code that it returns
 * to, or validates a recorded one. Frame pointers form a chain only if each function keeps one;
 * otherwise the register holds any value. So a user-mode frame is valid only if .eh_frame (for Go:
 * the code) shows that the previous function has set up its frame pointer. The stack ends before
 * the first invalid frame, with the reason.
 */
#include "code/code.h"
#include "frames.h"

/* Looks up the call before addr: a return address may be after the end of its function. */
static enum frame_link link_at(struct show *s, uint32_t pid, uint64_t addr)
{
	struct mapped_place place;
	enum frame_link link;

	spaces__find(s->spaces, pid, addr - 1, &place);
	if (!place.object)
		return FRAME_UNKNOWN;
	/* the .debug_frame of Go's functions doesn't show that they keep one */
	link = prologue__frame_link(place.object, place.vaddr);
	return link == FRAME_POINTER || link == FRAME_OUTERMOST
		       ? link
		       : object__frame_link(place.object, place.vaddr);
}

/* Sets *n to the number of valid frames. The first caller is on top of the stack. */
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

/* Checks frames that the kernel found by frame pointers: the first one is where the program was,
 * the second one is from its frame pointer there. */
static enum stack_end check_named_user(struct show *s, uint32_t pid, struct event_named *e)
{
	const uint64_t *stack = e->stack + e->nkernel;
	unsigned frames = e->nuser;

	for (e->nuser = min_of(frames, 1u); e->nuser < frames; e->nuser++) {
		unsigned i = e->nuser - 1;
		enum frame_link link = link_at(s, pid, stack[i] + !i);

		if (link != FRAME_POINTER)
			return link == FRAME_OUTERMOST ? STACK_WHOLE : STACK_NO_POINTER;
	}
	return frames == NAMED_USER_FRAMES ? STACK_LIMIT : frames ? STACK_UNREADABLE : STACK_WHOLE;
}

/* The kernel's unwinder uses tables (ORC). */
static enum stack_end check_kernel(unsigned n)
{
	return n == STACK_FRAMES ? STACK_LIMIT : n ? STACK_WHOLE : STACK_UNREADABLE;
}

struct finder {
	struct show *show;
	uint32_t pid;
	/* the running address of the entered function's first instruction; 0 if the event is at
	 * another one */
	uint64_t entry;
};

/* Finds unwind rules. For Go's functions the code shows more than their .debug_frame: which one
 * is outermost. */
static void find_rules(void *ctx, uint64_t addr, struct unwind_rules *out)
{
	const struct finder *f = ctx;
	struct mapped_place place;

	out->entry = addr == f->entry;
	spaces__find(f->show->spaces, f->pid, addr, &place);
	out->no_code = !place.mapped;
	if (!place.object)
		return;
	out->link = prologue__frame_link(place.object, place.vaddr);
	if (out->link != FRAME_POINTER && out->link != FRAME_OUTERMOST)
		out->known = object__rules(place.object, place.vaddr, &out->row);
}

static bool follows_call(void *ctx, uint64_t addr)
{
	const struct finder *f = ctx;
	struct mapped_place place;

	spaces__find(f->show->spaces, f->pid, addr - 1, &place);
	return place.object && object__follows_call(place.object, place.vaddr + 1);
}

static bool is_first(const struct plan *plan, uint32_t site)
{
	const struct plan_site *s = &plan->sites.data[site];

	return s->vaddr == plan->functions.data[s->function].ranges[0].vaddr;
}

static void unwind(struct show *s, const struct event *e, uint64_t first, const uint64_t *regs,
		   const struct stack_copy *copy, struct unwound *out)
{
	struct finder f = {s, e->pid, first};
	const struct unwind_lookup lookup = {find_rules, follows_call, &f};

	unwind__stack(s->plan->arch, regs, copy, &lookup, out);
}

static void unwind_entry(struct show *s, const struct event *e, struct checked_event *room)
{
	struct event_entry *entry = &room->entry;

	unwind(s, e, is_first(s->plan, e->site) ? entry->ip : 0, entry->regs, &entry->copy,
	       &room->unwound);
	entry->stack = room->unwound.stack;
	entry->nstack = room->unwound.n;
	entry->exact = room->unwound.exact;
	entry->stack_end = room->unwound.end;
	entry->copy = (struct stack_copy){0};
}

/* Adds the program's frames from the copied stack, or as far as the chain of frame pointers is
 * known. */
static const struct event *check_named(struct show *s, const struct event *e,
				       struct checked_event *room)
{
	struct event_named *n = &room->named;

	*n = *e->named;
	room->event = *e;
	room->event.named = n;
	if (!n->copy.bytes) {
		n->user_end = check_named_user(s, e->pid, n);
		return &room->event;
	}
	unwind(s, e, 0, n->regs, &n->copy, &room->unwound);
	if (n->stack)
		memcpy(room->stack, n->stack, n->nkernel * sizeof(*n->stack));
	memcpy(room->stack + n->nkernel, room->unwound.stack, room->unwound.n * sizeof(*n->stack));
	n->stack = room->stack;
	n->nuser = room->unwound.n;
	n->exact = room->unwound.exact;
	n->user_end = room->unwound.end;
	n->copy = (struct stack_copy){0};
	return &room->event;
}

const struct event *frames__check(struct show *s, const struct event *e, struct checked_event *room)
{
	struct event_entry *entry = &room->entry;

	if (e->type == EVENT_NAMED && e->named->stack)
		return check_named(s, e, room);
	if (e->type != EVENT_ENTRY || !(e->entry->stack || e->entry->copy.bytes))
		return e;
	room->event = *e;
	*entry = *e->entry;
	room->event.entry = entry;
	if (entry->copy.bytes) {
		unwind_entry(s, e, room);
		return &room->event;
	}
	entry->stack_end = plan__is_kernel_site(s->plan, e->site)
				   ? check_kernel(entry->nstack)
				   : check_user(s, e->pid, entry->stack, &entry->nstack);
	return &room->event;
}
