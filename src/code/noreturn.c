// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether a call returns. This is decided by name; by the callee's flow: whether any path,
 * including landing pads, reaches a ret or a jump that can't be followed; and by the caller: no
 * code of the function follows a call that doesn't return.
 */
#include "code/code.h"

/*
 * Instructions examined per query; beyond that, the call is assumed to return. Earlier results save
 * some, so at the limit the answer depends on the order of queries: the limit is far from what real
 * programs need (46,154 in Mesa, 39,121 in LLVM).
 */
#define BUDGET (1u << 20)
#define DEPTH  256

enum { RETURNS = 1, NEVER, BUSY }; /* BUSY + depth */

struct search {
	VEC(uint64_t) paths; /* addresses to walk from */
	/* addresses of calls whose continuation has not been walked */
	VEC(uint64_t) calls;
	struct map64 landed; /* frames whose landing pads are among the paths */
	uint32_t stamp, depth, lowest;
};

static bool ask(struct graph *g, uint64_t callee, uint32_t depth, uint32_t *lowest);

/* Returns true if it is known by name, of the object or, for a module, of the kernel. */
static bool is_named(const struct graph *g, uint64_t addr)
{
	return names__noreturn(g->object, addr, g->kernel) ||
	       (g->kernel_object && g->kernel_object != g->object &&
		names__noreturn(g->kernel_object, addr, g->kernel));
}

/* Returns true if next is outside of the function that addr belongs to. */
static bool leaves_function(const struct object *o, uint64_t addr, uint64_t next)
{
	const struct frame *f = object__frame_at(o, addr);
	size_t i;

	if (f)
		return next - f->vaddr >= f->size;
	i = object__symbols_from(o, next);
	return i < o->symbols.len && o->symbols.data[i].vaddr == next;
}

/* A call into the middle of its own function manipulates the return address, as retpolines do: a
 * ret there may be the caller's. */
static bool is_inward(const struct object *o, const struct insn *call)
{
	const struct symbol *s = object__symbol_at(o, call->addr);

	return s && call->target != s->vaddr && object__symbol_at(o, call->target) == s;
}

/* An exception may be caught in the same frame, whose landing pads may lead to a ret. */
static void land(struct graph *g, struct search *s, uint64_t call)
{
	const struct frame *f = object__frame_at(g->object, call);

	if (!f || !f->npads || map64__get(&s->landed, f->vaddr))
		return;
	*map64__put(&s->landed, f->vaddr) = 1;
	for (size_t i = 0; i < f->npads; i++)
		vec__push(&s->paths, f->pads[i]);
}

/* Returns where a path continues after a branch; 0 if it ends. *returns: it ends by returning. */
static uint64_t next_after(struct graph *g, struct search *s, const struct insn *b, bool *returns)
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
	default: /* ret, indirect jump, and anything unknown */
		*returns = true;
		return 0;
	}
}

/* Walks one path until it ends or joins another. Returns true if it returns. */
static bool walk(struct graph *g, struct search *s, uint64_t addr)
{
	bool returns = false;
	uint32_t before = 0;

	while (addr && !returns) {
		uint32_t i = graph__node(g, addr);
		uint64_t handler = i ? handler__installed(g, before, i) : 0;
		struct node *n = &g->nodes.data[i];

		/* out of the object, as from a module into the kernel, or undecodable: assumed to
		 * return */
		if (!i || !g->budget)
			return true;
		if (n->stamp == s->stamp || n->flow == FLOW_STOP)
			return false;
		g->budget--;
		n->stamp = s->stamp;
		before = n->branch ? 0 : i;
		if (handler)
			vec__push(&s->paths, handler);
		addr = n->branch ? next_after(g, s, graph__branch(g, n), &returns) : node__next(n);
	}
	return returns;
}

/* Searches paths without calls first: that nearly always decides. */
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
 * Recursion: a callee whose query is in progress counts as not returning. If every path from an
 * entry to a ret has such calls, none of them ever returns. A result that depends on a query in
 * progress is not cached.
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
	/* Go's runtime switches stacks: functions without a path to a ret (morestack) still
	 * return. */
	if (call->kind != BRANCH_CALL || target == next || g->object->go)
		return true;
	g->budget = BUDGET;
	return ask(g, target, 0, &lowest);
}
