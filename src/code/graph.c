// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows control flow from the entries through all code of the traced functions, and finds the
 * starts of blocks. A cold part (own FDE, no symbol) that is reached becomes a range of its
 * function.
 */
#include <stdlib.h>
#include "code/code.h"

/* Adds an edge, unless it leads from another function to an entry: then it is a call, and the
 * registers may have any values. A helper function has no other callers. */
static void add_edge(struct graph *g, uint32_t function, uint32_t from, uint32_t to)
{
	uint64_t addr = g->nodes.data[to].addr;
	uint32_t owner = graph__owner(g, addr);

	if (owner == function || owner == NO_FUNCTION || !graph__is_entry(g, addr) ||
	    g->functions.data[owner].f.flags & FUNCTION_HELPER)
		graph__add_edge(g, from, to);
}

/* Notes that control leads from a node (0: none) to addr, where no instruction is known. */
static void note_undecodable(struct graph *g, uint32_t from, uint64_t addr)
{
	uint32_t owner = graph__owner(g, addr);

	if (from && owner != NO_FUNCTION && graph__in_batch(g, owner))
		vec__push(&g->undecodable, addr);
}

/* Adds an edge from a node (0: none) to addr, whose code is to be followed. Returns the node at
 * addr, 0: no instruction. */
static uint32_t reach(struct graph *g, uint32_t from, uint64_t addr, unsigned flags)
{
	uint32_t function = from ? graph__owner(g, g->nodes.data[from].addr) : NO_FUNCTION;
	uint32_t to = graph__crosses(g, function, addr) ? 0 : graph__node(g, addr);
	struct node *n;

	if (!to) {
		note_undecodable(g, from, addr);
		return 0;
	}
	graph__set_state(g, addr, 0);
	if (from)
		add_edge(g, function, from, to);
	n = &g->nodes.data[to];
	n->flags |= flags;
	if (!(n->flags & NODE_REACHED)) {
		graph__mark_reached(g, n);
		vec__push(&g->work, to);
	}
	return to;
}

bool graph__root(struct graph *g, uint64_t addr, unsigned flags)
{
	return reach(g, 0, addr, NODE_LEADER | NODE_ROOT | flags);
}

bool graph__is_entry(struct graph *g, uint64_t addr)
{
	uint32_t owner = graph__owner(g, addr);

	return owner != NO_FUNCTION && g->functions.data[owner].f.entry == addr &&
	       !(g->functions.data[owner].f.flags & (FUNCTION_RANGE | FUNCTION_HIDDEN));
}

/* A cold part's unwinding rules start with a frame already set up. */
const struct frame *graph__part_at(struct graph *g, uint64_t addr)
{
	const struct frame *f = object__frame_at(g->object, addr);

	return f && f->part && !object__symbol_at(g->object, addr) ? f : NULL;
}

/* Returns the traced function that a direct branch of a cold part leads back into; NO_FUNCTION if
 * there is none. */
static uint32_t returns_into(struct graph *g, uint32_t i)
{
	const struct insn *b = graph__branch(g, &g->nodes.data[i]);
	uint32_t owner = graph__owner(g, b->target);

	if (owner == NO_FUNCTION ||
	    g->functions.data[owner].f.flags &
		    (FUNCTION_RANGE | FUNCTION_HIDDEN | FUNCTION_HELPER) ||
	    b->kind == BRANCH_CALL || graph__part_at(g, b->target) || graph__is_entry(g, b->target))
		return NO_FUNCTION;
	return owner;
}

/* Returns the function of a cold part that is reached from an address: the one that it leads back
 * into, since functions may share code; else the one that leads there. */
static uint32_t part_owner(struct graph *g, const struct frame *f, uint64_t from)
{
	uint32_t owner = NO_FUNCTION, i;

	for (uint64_t addr = f->vaddr; addr - f->vaddr < f->size && owner == NO_FUNCTION;) {
		i = graph__node(g, addr);
		if (!i)
			break;
		if (g->nodes.data[i].branch)
			owner = returns_into(g, i);
		addr = node__next(&g->nodes.data[i]);
	}
	return owner == NO_FUNCTION ? graph__owner(g, from) : owner;
}

bool graph__take_part(struct graph *g, uint64_t from, uint64_t addr)
{
	const struct frame *f = graph__part_at(g, addr);
	uint32_t owner = f ? part_owner(g, f, from) : NO_FUNCTION;

	if (owner == NO_FUNCTION)
		return false;
	graph__share(g, owner, f->vaddr);
	graph__share(g, graph__owner(g, from), f->vaddr);
	if (!map64__get(&g->parts, f->vaddr)) {
		*map64__put(&g->parts, f->vaddr) = 1;
		graph__add_range(g, owner, f->vaddr, f->size);
	}
	return true;
}

void graph__jump(struct graph *g, uint32_t from, uint64_t target)
{
	if (graph__owner(g, target) != NO_FUNCTION)
		reach(g, from, target, NODE_LEADER);
	else
		vec__push(&g->outs, from);
}

/* Code that is called, but is not a function's entry, has an unknown stack depth. */
static void call_inside(struct graph *g, uint64_t from, uint64_t target)
{
	uint32_t owner = graph__owner(g, from);

	if (graph__holds(g, owner, target) && graph__owner(g, target) == owner &&
	    g->functions.data[owner].f.entry != target)
		graph__root(g, target, NODE_UNKNOWN_SP);
}

static void continue_after(struct graph *g, uint32_t i, uint64_t next)
{
	if (graph__owner(g, next) != NO_FUNCTION)
		reach(g, i, next, NODE_LEADER);
	else
		vec__push(&g->ends, i);
}

/* A conditional ret or indirect jump may not be taken. */
static void go_past(struct graph *g, uint32_t i, const struct insn *b)
{
	if (b->conditional)
		continue_after(g, i, b->addr + b->len);
}

static void follow_branch(struct graph *g, uint32_t i)
{
	struct insn b = *graph__branch(g, &g->nodes.data[i]);
	uint64_t next = b.addr + b.len;

	if (b.flow == FLOW_UNSUPPORTED && !b.target)
		return;
	switch (b.kind) {
	case BRANCH_RET:
		go_past(g, i, &b);
		return;
	case BRANCH_IJMP:
		vec__push(&g->jumps, i);
		go_past(g, i, &b);
		return;
	case BRANCH_JMP:
		graph__jump(g, i, b.target);
		return;
	case BRANCH_CALL:
		call_inside(g, b.addr, b.target);
		/* fallthrough */
	case BRANCH_ICALL:
		if (!b.conditional && !graph__call_returns(g, &b)) {
			g->nodes.data[i].flags |= NODE_NORETURN;
			return;
		}
		reach(g, i, next, NODE_LEADER);
		return;
	default:
		graph__jump(g, i, b.target);
		continue_after(g, i, next);
	}
}

/* Falls through to next, which is a leader if it has other predecessors or starts another
 * function. */
static uint32_t fall(struct graph *g, uint32_t i, uint64_t next)
{
	uint32_t owner = graph__owner(g, g->nodes.data[i].addr), to, now = graph__owner(g, next);
	struct node *n;

	if (now == NO_FUNCTION) {
		vec__push(&g->ends, i);
		return 0;
	}
	if (now != owner && graph__crosses(g, owner, next))
		return 0;
	to = graph__node(g, next);
	if (!to) {
		note_undecodable(g, i, next);
		return 0;
	}
	if (now == owner)
		graph__add_edge(g, i, to);
	else
		add_edge(g, owner, i, to);
	n = &g->nodes.data[to];
	if (n->flags & NODE_REACHED || now != owner)
		n->flags |= NODE_LEADER;
	if (n->flags & NODE_REACHED)
		return 0;
	graph__mark_reached(g, n);
	return to;
}

static bool is_followed(struct graph *g, uint64_t addr)
{
	uint32_t i = graph__known(g, addr);

	return i && g->nodes.data[i].flags & NODE_REACHED;
}

/*
 * Returns true if control may continue after the end of a path to which nothing else leads.
 * Compilers emit no unreachable code, so a call that was assumed not to return does return, or a
 * trap is handled. Go's runtime enters functions in the middle after a recovered panic; the kernel
 * has static keys and exception tables. The text of both has only code and padding. Elsewhere there
 * may be data after a jump, and on some architectures after any end.
 */
static bool is_end(struct graph *g, const struct node *n)
{
	uint8_t kind = n->branch ? graph__branch(g, n)->kind : BRANCH_NONE;

	if (g->object->mixed)
		return false;
	if (g->object->go || g->kernel)
		return n->flow == FLOW_STOP || n->flags & NODE_NORETURN || kind == BRANCH_RET ||
		       kind == BRANCH_JMP || kind == BRANCH_IJMP;
	return n->flow == FLOW_STOP || n->flags & NODE_NORETURN;
}

static void follow_one(struct graph *g, uint32_t i)
{
	uint32_t before = 0;

	while (i) {
		const struct node *n;

		handler__note(g, before, i);
		pool__note_load(g, i);
		n = &g->nodes.data[i];
		before = i;
		if (n->branch || n->flow == FLOW_STOP) {
			if (n->branch)
				follow_branch(g, i);
			if (is_end(g, &g->nodes.data[i]))
				vec__push(&g->stops, g->nodes.data[i].addr);
			return;
		}
		i = fall(g, i, node__next(n));
	}
}

/* Reserves memory to avoid reallocation: an instruction has about 4 bytes, and every fifth is a
 * branch. */
static void reserve(struct graph *g)
{
	const struct owned_extent *p;
	uint64_t bytes = 0;

	if (g->nodes.len > 1)
		return;
	vec__each (p, &g->extents)
		if (graph__in_batch(g, p->function))
			bytes += p->end - p->start;
	bytes = min_of(bytes, (uint64_t)64 << 20);
	vec__reserve(&g->nodes, bytes / 4 + 16);
	vec__reserve(&g->branches, bytes / 20 + 16);
}

/* Returns true if the landing pad of a function's code is to be followed. It may be in a part that
 * becomes a range now. */
static bool has_pad(struct graph *g, uint32_t function, uint64_t vaddr, uint64_t pad)
{
	if (graph__owner(g, pad) == NO_FUNCTION)
		return graph__take_part(g, vaddr, pad);
	return !graph__crosses(g, function, pad);
}

/* Records the landing pads of the frames in a range. Returns true if one is in a part that has just
 * become a range. */
static bool seed_pads(struct graph *g, uint32_t function, uint64_t vaddr, uint64_t size)
{
	const struct object *o = g->object;
	const struct frame *f = object__frame_at(o, vaddr), *end = vec__end(&o->frames);
	size_t parts = g->parts.len;

	for (; f && f < end && f->vaddr - vaddr < size; f++)
		for (size_t i = 0; i < f->npads; i++)
			if (has_pad(g, function, vaddr, f->pads[i]))
				vec__push(&g->pads, f->pads[i]);
	return g->parts.len != parts;
}

/* Does so for ranges that were added since the last call. */
static void seed_ranges(struct graph *g)
{
	bool again = true;

	while (again) {
		again = false;
		graph__index_ranges(g);
		reserve(g);
		for (size_t i = 0; i < g->functions.len; i++) {
			struct graph_function *f = &g->functions.data[i];

			for (; graph__follows(g, i) && f->seeded < f->f.ranges.len; f->seeded++) {
				struct range *r = &f->f.ranges.data[f->seeded];

				again |= seed_pads(g, i, r->vaddr, r->size);
			}
		}
	}
}

/*
 * To avoid processor errata, linkers move an instruction elsewhere and replace it by a jump to it;
 * a second jump leads back. If such a veneer is at this jump's target, makes it a range of the
 * function.
 */
static bool take_veneer(struct graph *g, uint32_t from)
{
	const struct insn there = *graph__branch(g, &g->nodes.data[from]);
	uint32_t owner = graph__owner(g, there.addr), moved, back;
	uint64_t end;

	if (there.kind != BRANCH_JMP || owner == NO_FUNCTION)
		return false;
	moved = graph__node(g, there.target);
	if (!moved || g->nodes.data[moved].branch || g->nodes.data[moved].flow != FLOW_NEXT)
		return false;
	back = graph__node(g, node__next(&g->nodes.data[moved]));
	if (!back || graph__branch(g, &g->nodes.data[back])->kind != BRANCH_JMP ||
	    graph__branch(g, &g->nodes.data[back])->target != there.addr + there.len)
		return false;
	end = node__next(&g->nodes.data[back]);
	graph__add_range(g, owner, there.target, end - there.target);
	return true;
}

/* Checks again whether jumps out of all ranges lead to a cold part or into a new range. Returns
 * true if some do. */
static bool take_parts(struct graph *g)
{
	size_t n = g->outs.len, kept = 0, taken = 0;
	uint32_t *again = xcalloc(n + 1, sizeof(*again));

	for (size_t i = 0; i < n; i++) {
		uint32_t from = g->outs.data[i];
		const struct insn *b = graph__branch(g, &g->nodes.data[from]);

		if (graph__owner(g, b->target) != NO_FUNCTION ||
		    graph__take_part(g, b->addr, b->target) || take_veneer(g, from))
			again[taken++] = from;
		else
			g->outs.data[kept++] = from;
	}
	g->outs.len = kept;
	if (taken)
		seed_ranges(g);
	for (size_t i = 0; i < taken; i++)
		graph__jump(g, again[i], graph__branch(g, &g->nodes.data[again[i]])->target);
	free(again);
	return taken > 0;
}

/* Follows fall-throughs out of all ranges that now lead into a new range. */
static bool go_on(struct graph *g)
{
	size_t n = g->ends.len, kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t from = g->ends.data[i];
		uint64_t next = node__next(&g->nodes.data[from]);

		if (graph__owner(g, next) == NO_FUNCTION)
			g->ends.data[kept++] = from;
		else
			reach(g, from, next, NODE_LEADER);
	}
	g->ends.len = kept;
	return kept < n;
}

/* Progress is reported this often. */
#define FOLLOWED_EACH 1024

static void drain(struct graph *g)
{
	while (g->work.len) {
		follow_one(g, g->work.data[--g->work.len]);
		if (g->followed && !(++g->nfollowed % FOLLOWED_EACH))
			g->followed(g->followed_ctx, FOLLOWED_EACH);
	}
}

void graph__start(struct graph *g)
{
	seed_ranges(g);
	for (size_t i = 0; i < g->functions.len; i++) {
		struct graph_function *f = &g->functions.data[i];

		if (f->started || !graph__follows(g, i))
			continue;
		f->started = true;
		if (!(f->f.flags & FUNCTION_RANGE))
			graph__root(g, f->f.entry, 0);
	}
}

/* Returns the start of code after the end of a path that no known flow reaches; 0 if there is
 * none. */
static uint64_t rest_after(struct graph *g, uint32_t end)
{
	uint64_t addr = node__next(&g->nodes.data[end]), before, after;
	uint32_t owner = graph__owner(g, g->nodes.data[end].addr), i;

	while (graph__owner(g, addr) == owner && owner != NO_FUNCTION) {
		if (is_followed(g, addr))
			return 0;
		i = graph__node(g, addr);
		if (!i)
			return 0;
		if (!g->nodes.data[i].padding)
			return sweep__is_start(g, owner, addr, &before, &after) ? addr : 0;
		addr = node__next(&g->nodes.data[i]);
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Forgets the ends of paths with followed code after them. Sorts the others by address, since the
 * order in which they were reached depends on what else is in the graph. */
static void settle_stops(struct graph *g)
{
	size_t kept = 0;
	uint64_t *stop;

	vec__each (stop, &g->stops)
		if (!is_followed(g, node__next(&g->nodes.data[graph__known(g, *stop)])))
			g->stops.data[kept++] = *stop;
	g->stops.len = kept;
	vec__sort(&g->stops, by_value);
}

/* Adds code after the ends of paths as roots. Returns true if there was some. */
static bool enter_rest(struct graph *g)
{
	uint64_t *stop;
	bool any = false;

	settle_stops(g);
	vec__each (stop, &g->stops) {
		uint64_t addr = rest_after(g, graph__known(g, *stop));

		any |= addr &&
		       graph__root(g, addr, g->object->go ? NODE_LANDING_PAD : NODE_RESUMED);
	}
	return any;
}

/* Adds the landing pads that the linear sweep confirms as instructions. Returns true if there were
 * some. */
static bool start_pads(struct graph *g)
{
	bool any = false;

	while (g->pads.len) {
		uint64_t pad = g->pads.data[--g->pads.len], before, after;
		uint32_t owner = graph__owner(g, pad);

		if (owner != NO_FUNCTION && sweep__is_start(g, owner, pad, &before, &after))
			any |= graph__root(g, pad, NODE_LANDING_PAD);
	}
	return any;
}

static void follow_direct(struct graph *g)
{
	do
		drain(g);
	while (take_parts(g) || go_on(g));
}

void graph__follow(struct graph *g)
{
	follow_direct(g);
	g->claims = true;
	while (start_pads(g) || graph__resolve_jumps(g, false) || graph__resolve_jumps(g, true) ||
	       enter_rest(g) || (!g->kernel && taken__note(g)))
		follow_direct(g);
	g->claims = false;
}
