// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the stack depth at each branch relative to the function's entry, forward over the
 * blocks. If two paths disagree, or the stack pointer is changed in an unknown way, the depth is
 * unknown.
 */
#include <stdlib.h>
#include "code/code.h"

/* entry_sp - register; SP_UNKNOWN, SP_SWITCHED */
struct depth {
	int32_t sp, fp;
};

struct stack {
	struct graph *g;
	const leader_vec *leaders;
	struct depth *at; /* by leader */
	bool *seen;
	VEC(uint32_t) work;
	struct map64 bad; /* frames whose landing pads have unknown depth */
	int32_t *deltas;
	struct depth *calls; /* by branch: at calls */
};

#define NOT_SEEN INT32_MAX /* in deltas */

static const struct depth unknown = {SP_UNKNOWN, SP_UNKNOWN};

static void add_to(struct term *t, int32_t bytes)
{
	if (__builtin_add_overflow(t->bytes, bytes, &t->bytes))
		t->source = FROM_UNKNOWN;
}

/* Sets the size of a frame, if a register holds it because it doesn't fit into an immediate.
 * Returns false if not known. */
static bool held_by(struct graph *g, uint32_t node, uint8_t reg, int32_t *bytes)
{
	struct values v;

	slice__values(g, node, reg, &v);
	*bytes = (int32_t)v.v[0];
	return v.n == 1 && !v.unknown && v.v[0] + INT32_MAX <= 2ull * INT32_MAX;
}

static void add_register(struct graph *g, uint32_t node, struct term *sp)
{
	const struct node *n = &g->nodes.data[node];
	int32_t bytes;

	if (held_by(g, node, n->sp_value, &bytes))
		add_to(sp, n->sp_effect == SP_SUB_REG ? -bytes : bytes);
	else
		sp->source = FROM_UNKNOWN;
}

void effect__add(struct effect *e, struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes.data[node];

	switch (n->sp_effect) {
	case SP_ADD:
		add_to(&e->sp, n->sp_value);
		break;
	case SP_FROM_FP:
		e->sp = e->fp;
		add_to(&e->sp, n->sp_value);
		break;
	case SP_LEAVE:
		e->sp = e->fp;
		add_to(&e->sp, n->sp_value);
		e->fp.source = FROM_UNKNOWN;
		break;
	case SP_FP_FROM_SP:
		e->fp = e->sp;
		add_to(&e->fp, n->sp_value);
		break;
	case SP_FP_LOST:
		add_to(&e->sp, n->sp_value);
		e->fp.source = FROM_UNKNOWN;
		break;
	case SP_ADD_REG:
	case SP_SUB_REG:
		add_register(g, node, &e->sp);
		break;
	case SP_LOST:
		e->sp.source = FROM_UNKNOWN;
		break;
	case SP_LOADED:
		e->sp.source = FROM_MEMORY;
		break;
	default:
		break;
	}
}

/* The stack grows down: adding to the register reduces the depth. */
static int32_t depth_after(struct term t, struct depth d)
{
	int64_t v = t.source == FROM_FP ? d.fp : d.sp;

	if (t.source == FROM_MEMORY || (t.source != FROM_UNKNOWN && v == SP_SWITCHED))
		return SP_SWITCHED;
	if (t.source == FROM_UNKNOWN || v == SP_UNKNOWN)
		return SP_UNKNOWN;
	v -= t.bytes;
	return v <= SP_SWITCHED || v >= INT32_MAX ? SP_UNKNOWN : (int32_t)v;
}

static int32_t meet(int32_t a, int32_t b)
{
	return a == b ? a : SP_UNKNOWN;
}

static void flow_to(struct stack *s, uint32_t leader, struct depth d)
{
	struct depth *at = &s->at[leader], was = *at;

	if (s->seen[leader]) {
		at->sp = meet(at->sp, d.sp);
		at->fp = meet(at->fp, d.fp);
		if (at->sp == was.sp && at->fp == was.fp)
			return;
	} else {
		s->seen[leader] = true;
		*at = d;
	}
	vec__push(&s->work, leader);
}

/* Returns true if it is code of a range, or of a function that encloses one, but isn't traced
 * itself. */
static bool only_around(struct graph *g, uint64_t addr)
{
	uint32_t owner = graph__owner(g, addr);

	return owner != NO_FUNCTION &&
	       g->functions.data[owner].f.flags & (FUNCTION_HIDDEN | FUNCTION_RANGE);
}

/* target is 1 + a leader, or 0 for none */
static void flow_on(struct stack *s, uint64_t from, uint32_t target, struct depth d)
{
	struct graph *g = s->g;
	uint64_t addr;

	if (!target)
		return;
	addr = g->nodes.data[s->leaders->data[target - 1].first].addr;
	if (graph__is_entry(g, addr)) {
		/* Another function's entry starts its own frame. */
		if (graph__owner(g, addr) != graph__owner(g, from))
			d = (struct depth){0, SP_UNKNOWN};
		else
			d.fp = SP_UNKNOWN;
	} else if (only_around(g, from) && !only_around(g, addr)) {
		return; /* no frame starts there, so its depth is meaningless */
	}
	flow_to(s, target - 1, d);
}

/* A call into the same function isn't an ordinary call: it may return with another stack, or not at
 * all. */
static bool calls_inside(struct graph *g, const struct insn *b)
{
	uint32_t owner = graph__owner(g, b->addr);

	return b->kind == BRANCH_CALL && owner != NO_FUNCTION &&
	       graph__holds(g, owner, b->target) && g->functions.data[owner].f.entry != b->target;
}

/* Returns the depth after a call whose callee may have popped its arguments: by the unwinder's
 * rules, if they agree before it. */
static int32_t depth_after_call(const struct graph *g, const struct node *n, int32_t depth)
{
	int64_t before, after, entry = g->arch->dwarf.entry_offset;

	if (depth < 0 || !object__stack_depth(g->object, n->addr, &before) ||
	    !object__stack_depth(g->object, node__next(n), &after))
		return SP_UNKNOWN;
	return before == depth + entry && after <= before && after >= entry ? after - entry
									    : SP_UNKNOWN;
}

/* Returns true if it is a call of the next instruction, by which code finds its own address. */
static bool only_pushes(const struct graph *g, const struct insn *b)
{
	return g->arch->loads_return && b->kind == BRANCH_CALL && b->target == b->addr + b->len;
}

static struct depth leave_branch(struct stack *s, const struct node *n, struct depth d)
{
	struct graph *g = s->g;
	const struct insn *b = graph__branch(g, n);

	s->deltas[n->branch] = d.sp;
	s->calls[n->branch] = d;
	if (only_pushes(g, b)) {
		d.sp = depth_after((struct term){.source = FROM_SP, .bytes = -g->arch->call_pushes},
				   d);
		return d;
	}
	if (calls_inside(g, b))
		return unknown;
	if (g->arch->callee_pops && (b->kind == BRANCH_CALL || b->kind == BRANCH_ICALL))
		d.sp = depth_after_call(g, n, d.sp);
	return d;
}

static void leave_block(struct stack *s, const struct leader *l, struct depth d)
{
	const struct node *n = &s->g->nodes.data[l->last];
	uint32_t to;

	if (n->branch)
		d = leave_branch(s, n, d);
	flow_on(s, n->addr, l->next, d);
	flow_on(s, n->addr, l->taken, d);
	for (uint32_t i = 0; l->table && i < l->table->count; i++) {
		to = graph__known(s->g, s->g->targets.data[l->table->first + i]);
		flow_on(s, n->addr, s->g->nodes.data[to].block, d);
	}
}

static void run(struct stack *s)
{
	while (s->work.len) {
		uint32_t leader = s->work.data[--s->work.len];
		const struct leader *l = &s->leaders->data[leader];
		struct depth d = s->at[leader];

		flow_on(s, s->g->nodes.data[l->first].addr, l->handler,
			(struct depth){d.sp, SP_UNKNOWN});
		leave_block(
			s, l,
			(struct depth){depth_after(l->effect.sp, d), depth_after(l->effect.fp, d)});
	}
}

/* ---- landing pads ---- */

static bool is_call(struct graph *g, const struct node *n)
{
	const struct insn *b = graph__branch(g, n);

	return n->branch && (b->kind == BRANCH_CALL || b->kind == BRANCH_ICALL);
}

/* A frame's stack handling so far. */
struct frame_view {
	uint32_t pushed, scratch; /* registers pushed once; those a call may change */
	unsigned subs;
	uint64_t start;
	bool leading, args, any, differ;
	struct depth common;
};

/*
 * The unwinder drops pushed arguments (DW_CFA_GNU_args_size): after a push that doesn't save a
 * register, the depths at the call and at the landing pad differ.
 */
static void see_push(struct graph *g, uint32_t i, struct frame_view *v)
{
	const struct node *n = &g->nodes.data[i];
	struct insn_detail d;

	if (n->sp_effect != SP_ADD || n->sp_value >= 0) {
		v->leading &= n->padding || n->sp_effect == SP_FP_FROM_SP || n->addr == v->start;
		return;
	}
	if (!graph__detail(g, i, &d) || d.op != DETAIL_PUSH) {
		v->args |= v->subs++ > 0;
		return;
	}
	if (v->leading)
		return;
	if (d.src == REG_NONE || v->scratch >> d.src & 1 || v->pushed >> d.src & 1)
		v->args = true;
	else
		v->pushed |= 1u << d.src;
}

static void see_call(struct stack *s, uint32_t i, struct frame_view *v)
{
	struct depth d = s->calls[s->g->nodes.data[i].branch];

	if (!v->any)
		v->common = d;
	v->any = true;
	v->differ |= d.sp != v->common.sp;
	v->common.fp = meet(v->common.fp, d.fp);
}

/* The common depth of all calls of a frame, if there is one and no arguments are on the stack. */
static struct depth common_depth(struct stack *s, const struct frame *f)
{
	struct graph *g = s->g;
	struct frame_view v = {.leading = !f->part, .start = f->vaddr};

	v.scratch = g->arch->clobbered;
	for (uint64_t addr = f->vaddr; addr - f->vaddr < f->size; addr++) {
		uint32_t i = graph__known(g, addr);
		const struct node *n = &g->nodes.data[i];

		if (!i || !(n->flags & NODE_REACHED))
			continue;
		see_push(g, i, &v);
		if (is_call(g, n) && s->deltas[n->branch] != NOT_SEEN)
			see_call(s, i, &v);
	}
	return !v.any || v.differ || v.args || v.common.sp == SP_SWITCHED ? unknown : v.common;
}

/* If calls have their arguments on the stack: the depth by the unwinder's rules alone, since it
 * drops some. */
static struct depth depth_by_rules(const struct graph *g, uint64_t pad)
{
	const int64_t entry = g->arch->dwarf.entry_offset;
	struct depth d = unknown;
	int64_t bytes;

	if (object__stack_depth(g->object, pad, &bytes) && bytes >= entry && bytes < INT32_MAX)
		d.sp = bytes - entry;
	return d;
}

static void enter_pads(struct stack *s)
{
	const struct object *o = s->g->object;

	for (size_t i = 0; i < o->frames.len; i++) {
		const struct frame *f = &o->frames.data[i];
		struct depth d;
		uint32_t n;

		if (!f->npads || graph__owner(s->g, f->vaddr) == NO_FUNCTION)
			continue;
		d = map64__get(&s->bad, f->vaddr) ? unknown : common_depth(s, f);
		if (d.sp == SP_UNKNOWN)
			*map64__put(&s->bad, f->vaddr) = 1;
		for (size_t k = 0; k < f->npads; k++) {
			n = graph__known(s->g, f->pads[k]);
			if (n && s->g->nodes.data[n].flags & NODE_LANDING_PAD &&
			    s->g->nodes.data[n].block)
				flow_to(s, s->g->nodes.data[n].block - 1,
					s->g->arch->callee_pops ? depth_by_rules(s->g, f->pads[k])
								: d);
		}
	}
}

/* Returns true if, after the landing pads were followed, each frame still has the depth that was
 * assumed. */
static bool pads_hold(struct stack *s)
{
	const struct object *o = s->g->object;
	size_t bad = s->bad.len;

	for (size_t i = 0; i < o->frames.len; i++) {
		const struct frame *f = &o->frames.data[i];

		if (f->npads && graph__owner(s->g, f->vaddr) != NO_FUNCTION &&
		    !map64__get(&s->bad, f->vaddr) && common_depth(s, f).sp == SP_UNKNOWN)
			*map64__put(&s->bad, f->vaddr) = 1;
	}
	return s->bad.len == bad;
}

static void enter(struct stack *s)
{
	for (uint32_t i = 0; i < s->leaders->len; i++) {
		const struct node *n = &s->g->nodes.data[s->leaders->data[i].first];

		if (!(n->flags & NODE_ROOT) || n->flags & (NODE_LANDING_PAD | NODE_RESUMED))
			continue;
		if (graph__is_entry(s->g, n->addr) && !(n->flags & NODE_UNKNOWN_SP))
			flow_to(s, i, (struct depth){0, SP_UNKNOWN});
		else
			flow_to(s, i, unknown);
	}
}

static void start_over(struct stack *s)
{
	memset(s->seen, 0, s->leaders->len);
	for (size_t i = 0; i < s->g->branches.len; i++)
		s->deltas[i] = NOT_SEEN;
}

/* If callees may pop arguments, a depth is only known if the unwinder's rules agree, or have
 * none. */
static int32_t agreed(const struct graph *g, uint64_t addr, int32_t depth)
{
	int64_t bytes;

	return g->arch->callee_pops && depth != SP_UNKNOWN && depth != SP_SWITCHED &&
			       object__stack_depth(g->object, addr, &bytes) &&
			       bytes != depth + g->arch->dwarf.entry_offset
		       ? SP_UNKNOWN
		       : depth;
}

static void finish(struct stack *s, int32_t *starts)
{
	struct graph *g = s->g;

	for (size_t i = 0; i < g->branches.len; i++)
		s->deltas[i] = s->deltas[i] == NOT_SEEN
				       ? SP_UNKNOWN
				       : agreed(g, g->branches.data[i].addr, s->deltas[i]);
	for (size_t i = 0; i < s->leaders->len; i++)
		starts[i] = s->seen[i] ? agreed(g, g->nodes.data[s->leaders->data[i].first].addr,
						s->at[i].sp)
				       : SP_UNKNOWN;
}

int32_t *stack__deltas(struct graph *g, const leader_vec *leaders, int32_t *starts)
{
	struct stack s = {.g = g, .leaders = leaders};
	bool hold = false;

	s.at = xcalloc(leaders->len + 1, sizeof(*s.at));
	s.seen = xcalloc(leaders->len + 1, sizeof(*s.seen));
	s.deltas = xcalloc(g->branches.len, sizeof(*s.deltas));
	s.calls = xcalloc(g->branches.len, sizeof(*s.calls));
	while (!hold) {
		start_over(&s);
		enter(&s);
		run(&s);
		enter_pads(&s);
		run(&s);
		hold = pads_hold(&s);
	}
	finish(&s, starts);
	free(s.at);
	free(s.seen);
	free(s.calls);
	vec__free(&s.work);
	map64__free(&s.bad);
	return s.deltas;
}
