// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does a call come back? By name, by the callee's own flow (does any path of it, landing pads among
 * them, reach a ret or a jump that can't be followed), and by the caller's shape: nothing of the
 * function follows a call that doesn't return.
 */
#include "code/code.h"

#define BUDGET                                                                                     \
	20000 /* instructions looked at for one question; past it the answer is that it returns */
#define DEPTH 32

enum { RETURNS = 1, NEVER, BUSY }; /* BUSY + depth */

struct search {
	VEC(uint64_t) paths; /* to be walked */
	VEC(uint64_t)
	calls; /* calls whose continuation has not been walked: addresses of the calls */
	struct map64 landed; /* frames whose landing pads are among the paths */
	uint32_t stamp, depth, lowest;
};

static bool ask(struct graph *g, uint64_t callee, uint32_t depth, uint32_t *lowest);

/* Known by name: as the object has it, or for a module the kernel. */
static bool is_named(const struct graph *g, uint64_t addr)
{
	return names__noreturn(g->object, addr, g->kernel) ||
	       (g->kernel_object && g->kernel_object != g->object &&
		names__noreturn(g->kernel_object, addr, g->kernel));
}

/* Is what follows at next no longer the function that addr belongs to? */
static bool leaves_function(const struct object *o, uint64_t addr, uint64_t next)
{
	const struct frame *f = object__frame_at(o, addr);
	size_t i;

	if (f)
		return next - f->vaddr >= f->size;
	i = object__symbols_from(o, next);
	return i < o->symbols.len && o->symbols.data[i].vaddr == next;
}

/* A call into the middle of the caller's own function plays with the return address, as retpolines
 * do: a ret there may be the caller's. */
static bool is_inward(const struct object *o, const struct insn *call)
{
	const struct symbol *s = object__symbol_at(o, call->addr);

	return s && call->target != s->vaddr && object__symbol_at(o, call->target) == s;
}

/* What a call throws is caught in the same frame, and that may return where nothing else does. */
static void land(struct graph *g, struct search *s, uint64_t call)
{
	const struct frame *f = object__frame_at(g->object, call);

	if (!f || !f->npads || map64__get(&s->landed, f->vaddr))
		return;
	*map64__put(&s->landed, f->vaddr) = 1;
	for (size_t i = 0; i < f->npads; i++)
		vec__push(&s->paths, f->pads[i]);
}

/* Where a path goes on behind a branch; 0: it ends here. *returns: it ends by returning. */
static uint64_t behind(struct graph *g, struct search *s, const struct insn *b, bool *returns)
{
	uint64_t next = b->addr + b->len;

	switch (b->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		vec__push(&s->paths, b->target);
		return next;
	case BRANCH_JMP:
		return is_named(g, b->target) ? 0 : b->target;
	case BRANCH_CALL:
		vec__push(&s->calls, b->addr);
		land(g, s, b->addr);
		return is_inward(g->object, b) ? b->target : 0;
	case BRANCH_ICALL:
		land(g, s, b->addr);
		return leaves_function(g->object, b->addr, next) ? 0 : next;
	default: /* ret, indirect jump, and what isn't understood */
		*returns = true;
		return 0;
	}
}

/* Walks one path until it ends or joins another; true: it returns. */
static bool walk(struct graph *g, struct search *s, uint64_t addr)
{
	bool returns = false;
	uint32_t before = 0;

	while (addr && !returns) {
		uint32_t i = graph__node(g, addr);
		uint64_t handler = i ? handler__installed(g, before, i) : 0;
		struct node *n = &g->nodes.data[i];

		/* out of the object, as from a module into the kernel, or into what is not
		 * understood: anything may follow */
		if (!i || !g->budget)
			return true;
		if (n->stamp == s->stamp || n->flow == FLOW_STOP)
			return false;
		g->budget--;
		n->stamp = s->stamp;
		before = n->branch ? 0 : i;
		if (handler)
			vec__push(&s->paths, handler);
		addr = n->branch ? behind(g, s, graph__branch(g, n), &returns) : node__next(n);
	}
	return returns;
}

/* Without going through a call first: that answers nearly always. */
static bool search(struct graph *g, struct search *s, uint64_t callee)
{
	vec__push(&s->paths, callee);
	for (;;) {
		const struct insn *call;
		uint64_t next, target;

		while (s->paths.len)
			if (walk(g, s, s->paths.data[--s->paths.len]))
				return true;
		if (!s->calls.len)
			return false;
		call = graph__branch(
			g, &g->nodes.data[graph__known(g, s->calls.data[--s->calls.len])]);
		next = call->addr + call->len;
		target = call->target;
		if (!leaves_function(g->object, call->addr, next) &&
		    ask(g, target, s->depth + 1, &s->lowest))
			vec__push(&s->paths, next);
	}
}

/*
 * A callee that is being asked about further up counts as not returning: if nothing but such calls
 * stands between an entry and a ret, none of them ever gets there. An answer that leans on one
 * further up isn't kept.
 */
static bool ask(struct graph *g, uint64_t callee, uint32_t depth, uint32_t *lowest)
{
	uint64_t *known = map64__put(&g->returns, callee);
	struct search s = {.depth = depth, .lowest = UINT32_MAX};
	bool returns;

	if (*known >= BUSY)
		*lowest = min_of(*lowest, (uint32_t)(*known - BUSY));
	if (*known)
		return *known == RETURNS;
	if (is_named(g, callee)) {
		*known = NEVER;
		return false;
	}
	if (depth >= DEPTH || !g->budget || !graph__node(g, callee)) {
		map64__del(&g->returns, callee);
		return true;
	}
	*known = BUSY + depth;
	s.stamp = ++g->stamp;
	returns = search(g, &s, callee);
	vec__free(&s.paths);
	vec__free(&s.calls);
	map64__free(&s.landed);
	if (!returns && s.lowest < depth) {
		*lowest = min_of(*lowest, s.lowest);
		map64__del(&g->returns, callee);
	} else {
		*map64__put(&g->returns, callee) = returns ? RETURNS : NEVER;
	}
	return returns;
}

bool graph__call_returns(struct graph *g, const struct insn *call)
{
	uint64_t addr = call->addr, next = addr + call->len, target = call->target;
	uint32_t lowest = UINT32_MAX, owner = graph__owner(g, addr);
	unsigned flags;

	if (owner == NO_FUNCTION)
		return false;
	flags = g->functions.data[owner].f.flags;
	if (flags & FUNCTION_RANGE ? graph__owner(g, next) == NO_FUNCTION
				   : !graph__holds(g, owner, next))
		return false;
	/* Go's runtime switches stacks: what never gets to a ret (morestack) comes back all the
	 * same */
	if (call->kind != BRANCH_CALL || target == next || g->object->go)
		return true;
	g->budget = BUDGET;
	return ask(g, target, 0, &lowest);
}
