// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much room the stack has below the functions of a Go program. A compiled function compares its
 * stack pointer with a bound first, so that LIMIT bytes are left when its frame is made; the others
 * are chains of functions that do without. The linker sees to it that no chain takes more than
 * that (cmd/link/internal/ld/stackcheck.go); here it is told how much remains, the same way: the
 * longest path of calls, over all of the program's code. As the linker does, it takes what is
 * called through a pointer for a function that compares. Where a function changes to another stack,
 * that has room.
 *
 * A function that the runtime makes a thread call wherever it has interrupted it has no caller.
 */
#include <stdlib.h>
#include "copy/copying.h"

#define LIMIT 800 /* StackGuard - StackSmall, since Go 1.16: internal/abi/stack.go */
#define DEEP  (64 * LIMIT)

struct call_out {
	uint32_t to; /* a function */
	int32_t depth;
	bool elsewhere; /* on another stack */
};

struct room {
	uint64_t start, end;
	int32_t frame, depth; /* of its own; at its entry, below a function that has compared */
	bool compares, waits;
	VEC(struct call_out) calls;
};

struct rooms {
	VEC(struct room) all; /* ascending */
	id_vec waiting;
};

static const char *const injected[] = {"runtime.asyncPreempt", "runtime.sigpanic",
				       "runtime.debugCall"};

static bool is_injected(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(injected); i++)
		if (!strncmp(name, injected[i], strlen(injected[i])) &&
		    strcmp(name, "runtime.asyncPreempt2"))
			return true;
	return false;
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

static void add_functions(struct rooms *r, const struct object *o)
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
						 .depth = is_injected(s->name) ? LIMIT : 0});
	}
}

/* ---- one function ---- */

struct scan {
	struct rooms *rooms;
	const struct arch *arch;
	struct room *f;
	bool switched; /* it runs on another stack from here on */
};

static void see_stack(struct scan *s, const struct insn *insn)
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

static void see_call(struct scan *s, const struct insn *insn, int32_t pushes)
{
	bool call = insn->kind == BRANCH_CALL || insn->kind == BRANCH_ICALL;
	bool elsewhere = call && s->switched;
	int32_t depth = (elsewhere ? 0 : s->f->frame) + (call ? pushes : 0);
	struct room *to = insn->target ? room_at(s->rooms, insn->target) : NULL;

	if (to && to != s->f)
		vec__push(&s->f->calls,
			  (struct call_out){(uint32_t)(to - s->rooms->all.data), depth, elsewhere});
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
		see_stack(&s, &insn);
		if (insn.flow == FLOW_BRANCH)
			see_call(&s, &insn, arch->call_pushes);
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

static void follow(struct rooms *r, struct room *f)
{
	const struct call_out *c;

	vec__each (c, &f->calls) {
		int32_t above = c->elsewhere ? 0 : f->compares ? -f->frame : f->depth;

		deepen(r, &r->all.data[c->to], above + c->depth);
	}
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
	add_functions(r, c->g->object);
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
