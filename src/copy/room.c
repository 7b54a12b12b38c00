// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much room the stack has below the functions of a Go program. A compiled function first
 * compares its stack pointer with a bound, so that LIMIT bytes are left when its frame is made.
 * Chains of functions that don't compare share this room. The linker makes sure that no chain takes
 * more (cmd/link/internal/ld/stackcheck.go). This file computes in the same way how much remains:
 * by the longest path of calls, over all of the program's code. Like the linker, it assumes that a
 * function which is called through a pointer compares: any such function may be called. Before a
 * function has compared, it has what its caller has left, and so has morestack, which it calls if
 * that is too little. If a function changes to another stack, that stack has room. It jumps through
 * a pointer only on that stack, too: systemstack, if it is there already.
 *
 * A function that the runtime injects wherever it has interrupted a thread has no caller.
 */
#include <stdlib.h>
#include "copy/copying.h"

/* StackGuard - StackSmall: internal/abi/stack.go; 800 since Go 1.16 */
#define LIMIT 752
#define DEEP  (64 * LIMIT)

struct call_out {
	uint32_t to; /* the called function */
	int32_t depth;
	bool elsewhere; /* on another stack */
	bool before;	/* the call is before the frame was made, to make the stack grow */
};

struct room {
	uint64_t start, end;
	int32_t frame, depth; /* the size of its frame; its greatest depth at entry, below a
				 function that has compared */
	/* The depth, below its entry, at which it calls through a pointer; 0 if it doesn't. */
	int32_t indirect;
	bool compares, grows, waits;
	VEC(struct call_out) calls;
};

struct rooms {
	VEC(struct room) all; /* ascending */
	id_vec waiting;
	int32_t indirect; /* the depth of the deepest call through a pointer */
};

/* A debugger's calls (debugCall) are missing: no debugger can be there. */
static const char *const injected[] = {"runtime.asyncPreempt", "runtime.sigpanic"};

static bool is_injected(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(injected); i++)
		if (!strncmp(name, injected[i], strlen(injected[i])) &&
		    strcmp(name, "runtime.asyncPreempt2"))
			return true;
	return false;
}

/* Returns true if a function that has compared calls this one to make the stack grow. */
static bool is_morestack(const char *name)
{
	static const char prefix[] = "runtime.morestack";

	return !strncmp(name, prefix, sizeof(prefix) - 1);
}

static struct room *room_at(const struct rooms *r, uint64_t vaddr)
{
	size_t lo = 0, hi = r->all.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->all.data[mid].end <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->all.len && r->all.data[lo].start <= vaddr ? &r->all.data[lo] : NULL;
}

static void add_functions(struct rooms *r, const struct object *o, int32_t pushes)
{
	const struct symbol *s, *end = vec__end(&o->symbols);
	size_t avail;

	for (s = o->symbols.data; s < end; s++) {
		struct room *last = r->all.len ? vec__last(&r->all) : NULL;
		const uint8_t *bytes = object__bytes(o, s->vaddr, &avail);

		if (!s->size || !bytes || (last && last->start == s->vaddr))
			continue;
		if (last && last->end > s->vaddr)
			last->end = s->vaddr;
		vec__push(&r->all, (struct room){.start = s->vaddr,
						 .end = s->vaddr + min_of(s->size, avail),
						 .depth = is_injected(s->name) ? LIMIT : pushes,
						 .grows = is_morestack(s->name)});
	}
}

/* ---- one function ---- */

struct scan {
	struct rooms *rooms;
	const struct arch *arch;
	struct room *f;
	bool switched; /* it runs on another stack from here on */
};

static void note_stack(struct scan *s, const struct insn *insn)
{
	switch (insn->sp_effect) {
	case SP_ADD:
	case SP_FP_LOST:
		s->f->frame += insn->sp_value < 0 ? -insn->sp_value : 0;
		break;
	case SP_LOST:
	case SP_LOADED:
	case SP_ADD_REG:
	case SP_SUB_REG:
		s->switched = true;
		break;
	default:
		break;
	}
}

static void note_call(struct scan *s, const struct insn *insn, int32_t pushes)
{
	bool call = insn->kind == BRANCH_CALL || insn->kind == BRANCH_ICALL;
	bool elsewhere = s->switched && (call || insn->kind == BRANCH_IJMP);
	int32_t depth = (elsewhere ? 0 : s->f->frame) + (call ? pushes : 0);
	struct room *to = insn->target ? room_at(s->rooms, insn->target) : NULL;
	bool before = to && to->grows && s->f->compares;

	if ((insn->kind == BRANCH_ICALL || insn->kind == BRANCH_IJMP) && !elsewhere)
		s->f->indirect = max_of(s->f->indirect, depth);
	if (to && to != s->f)
		vec__push(&s->f->calls,
			  (struct call_out){(uint32_t)(to - s->rooms->all.data),
					    before ? pushes : depth, elsewhere, before});
}

static void scan(struct rooms *r, const struct object *o, const struct arch *arch, struct room *f)
{
	struct scan s = {.rooms = r, .arch = arch, .f = f};
	struct insn insn;
	size_t avail;
	const uint8_t *bytes = object__bytes(o, f->start, &avail);

	f->compares = arch->go_grows_stack(bytes, f->end - f->start);
	for (uint64_t at = f->start; at < f->end; at += insn.len) {
		const uint8_t *here = bytes + (at - f->start);

		if (arch->decode(here, f->end - at, at, false, &insn)) {
			insn.len = 1;
			continue;
		}
		note_stack(&s, &insn);
		if (insn.flow == FLOW_BRANCH)
			note_call(&s, &insn, arch->call_pushes);
	}
}

/* ---- the longest path ---- */

static void deepen(struct rooms *r, struct room *f, int32_t depth)
{
	if (depth <= f->depth || f->depth >= DEEP)
		return;
	f->depth = depth;
	if (f->waits)
		return;
	f->waits = true;
	vec__push(&r->waiting, (uint32_t)(f - r->all.data));
}

/* Below an injected function, only what ends the program is beyond the limit. */
static void call_any(struct rooms *r, int32_t depth)
{
	struct room *f;

	if (depth <= r->indirect || depth > LIMIT)
		return;
	r->indirect = depth;
	vec__each (f, &r->all)
		if (f->compares)
			deepen(r, f, depth);
}

static void follow(struct rooms *r, struct room *f)
{
	int32_t inside = f->compares ? -f->frame : f->depth;
	const struct call_out *c;

	if (f->indirect)
		call_any(r, inside + f->indirect);
	vec__each (c, &f->calls)
		deepen(r, &r->all.data[c->to],
		       c->depth + (c->elsewhere ? 0
				   : c->before	? f->depth
						: inside));
}

static void follow_all(struct rooms *r)
{
	struct room *f;

	vec__each (f, &r->all)
		follow(r, f);
	while (r->waiting.len) {
		f = &r->all.data[r->waiting.data[--r->waiting.len]];
		f->waits = false;
		follow(r, f);
	}
}

void copying__find_rooms(struct copying *c)
{
	struct rooms *r = xcalloc(1, sizeof(*r));
	struct room *f;

	c->rooms = r;
	add_functions(r, c->g->object, c->arch->call_pushes);
	vec__each (f, &r->all)
		scan(r, c->g->object, c->arch, f);
	follow_all(r);
}

bool copying__has_room(const struct copying *c, uint64_t entry)
{
	const struct room *f = room_at(c->rooms, entry);
	int32_t depth = f ? f->depth + (f->compares ? 0 : f->frame) : DEEP;

	return f && f->start == entry && depth + c->arch->copier->below <= LIMIT;
}

void copying__free_rooms(struct copying *c)
{
	struct room *f;

	if (!c->rooms)
		return;
	vec__each (f, &c->rooms->all)
		vec__free(&f->calls);
	vec__free(&c->rooms->all);
	vec__free(&c->rooms->waiting);
	free(c->rooms);
}
