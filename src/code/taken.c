// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code whose address is taken. The code of its own function makes it: a label that is stored for
 * __builtin_longjmp(), for a goto out of a nested function, for a handler. Or data holds it: a
 * table from which a signal's handler takes where to continue. Control may come to it from
 * anywhere, where no edge leads.
 */
#include <stdlib.h>
#include "code/code.h"
#include "object/tables/tables.h"

/* The register that the last instruction set to a constant. */
struct last {
	uint8_t reg;
	uint64_t value, next;
};

/* ---- what an instruction makes ---- */

struct made {
	bool constant, keeps_sp; /* an address; it stores the stack pointer */
	uint64_t addr;
};

static bool stores(const struct insn_detail *d, uint8_t reg)
{
	return (d->op == DETAIL_STORE || d->op == DETAIL_PUSH) && d->src == reg;
}

/* Returns true if it stores the stack pointer, or copies it to a register that the next one
 * stores. */
static bool keeps_sp(struct graph *g, const struct insn_detail *d, uint64_t next)
{
	struct insn_detail after;
	uint32_t i;

	if (d->op != DETAIL_COPY || d->src != g->arch->sp_reg)
		return stores(d, g->arch->sp_reg);
	i = graph__known(g, next);
	return i && !g->nodes.data[i].branch && graph__detail(g, i, &after) &&
	       stores(&after, d->dst);
}

/* Sets the constant that it makes, alone or from that of the instruction before it. */
static bool is_constant(const struct insn_detail *d, uint64_t addr, uint64_t next,
			struct last *last, uint64_t *out)
{
	bool adds = d->op == DETAIL_ADD_CONST && last->next == addr && d->dst == last->reg;

	if (d->op == DETAIL_CONST)
		*out = d->imm;
	else if (adds)
		*out = last->value + d->imm;
	else
		return false;
	*last = (struct last){d->dst, *out, next};
	return true;
}

/* .might_take leaves most instructions out at once. */
static bool makes(struct graph *g, uint32_t i, struct last *last, struct made *out)
{
	uint64_t addr = g->nodes.data[i].addr, next = node__next(&g->nodes.data[i]);
	size_t avail, len = next - addr;
	struct insn_detail d;
	const uint8_t *bytes;

	if (g->arch->might_take) {
		bytes = object__bytes(g->object, addr, &avail);
		if (!bytes || avail < len || !g->arch->might_take(bytes, len))
			return false;
		out->constant = g->arch->constant(bytes, len, object__code_address(g->object, addr),
						  &out->addr);
		if (out->constant)
			return true;
	}
	if (!graph__detail(g, i, &d))
		return false;
	out->keeps_sp = keeps_sp(g, &d, next);
	out->constant = is_constant(&d, addr, next, last, &out->addr);
	return out->constant || out->keeps_sp;
}

/* ---- what is taken ---- */

#define NEAR 32 /* instructions from where an address is made to where it is stored */

/* Returns true if the instruction, or one of the next ones of its block, stores that constant. */
static bool is_stored(struct graph *g, uint32_t i)
{
	struct insn_detail d, store;

	if (!graph__detail(g, i, &d))
		return false;
	if (d.op != DETAIL_CONST && d.op != DETAIL_ADD_CONST)
		return d.writes_memory || d.op == DETAIL_PUSH;
	for (unsigned k = 0; k < NEAR; k++) {
		i = graph__known(g, node__next(&g->nodes.data[i]));
		if (!i || g->nodes.data[i].branch || !graph__detail(g, i, &store))
			return false;
		if (stores(&store, d.dst))
			return true;
		if (graph__writes(g, i) & 1u << d.dst)
			return false;
	}
	return false;
}

static bool is_of_table(const struct graph *g, uint64_t addr)
{
	const struct jump_table *t;

	vec__each (t, &g->tables)
		for (uint32_t i = 0; i < t->count; i++)
			if (g->targets.data[t->first + i] == addr)
				return true;
	return false;
}

static void mark_taken(struct node *n)
{
	if (n->flags & NODE_REACHED && !(n->flags & (NODE_LANDING_PAD | NODE_ROOT)))
		n->flags |= NODE_TAKEN | NODE_LEADER;
}

/* Returns true if this is new code to be followed. Where nothing else leads may be data: it is code
 * if its address is kept, not read from, and the sweep agrees. */
static bool take(struct graph *g, uint32_t i, uint64_t target)
{
	uint32_t owner = graph__owner(g, target), to;
	uint64_t before, after;

	if (owner == NO_FUNCTION || owner != graph__owner(g, g->nodes.data[i].addr) ||
	    g->functions.data[owner].f.entry == target || is_of_table(g, target))
		return false;
	to = graph__known(g, target);
	if (to && g->nodes.data[to].flags & NODE_REACHED) {
		mark_taken(&g->nodes.data[to]);
		return false;
	}
	return is_stored(g, i) && sweep__is_start(g, owner, target, &before, &after) &&
	       graph__root(g, target, NODE_TAKEN | NODE_UNKNOWN_SP);
}

/* A function that keeps its stack pointer in memory may be a place to come back to: for
 * __builtin_longjmp(), or a nested function's goto, which has the label's address itself. */
static void note_kept(struct graph *g, uint64_t addr)
{
	uint32_t owner = graph__owner(g, addr);

	if (owner != NO_FUNCTION)
		g->functions.data[owner].keeps_sp = true;
}

/* ---- what data holds ---- */

static void note_label(void *ctx, uint64_t value)
{
	struct graph *g = ctx;

	if (object__is_code(g->object, value))
		*map64__put(&g->labels, value) = 1;
}

static void read_labels(struct graph *g)
{
	if (!g->labels_read)
		object__pointers(g->object, note_label, g);
	g->labels_read = true;
}

/* Not the start of a function, of which not all are known before their code is followed. */
static bool is_label(struct graph *g, uint64_t vaddr)
{
	uint32_t owner;

	if (!map64__get(&g->labels, vaddr))
		return false;
	owner = graph__owner(g, vaddr);
	return owner != NO_FUNCTION && g->functions.data[owner].f.entry != vaddr;
}

/* Marks what is reached, but for the targets of jumps, which edges lead to. */
static void mark_labels(struct graph *g)
{
	struct map64 jumped = {0};
	const uint64_t *target;
	struct node *n;

	read_labels(g);
	if (!g->labels.len)
		return;
	vec__each (target, &g->targets)
		*map64__put(&jumped, *target) = 1;
	vec__each (n, &g->nodes)
		if (is_label(g, n->addr) && !map64__get(&jumped, n->addr))
			mark_taken(n);
	map64__free(&jumped);
}

bool taken__note(struct graph *g)
{
	struct last last = {.reg = REG_NONE};
	bool any = false;

	mark_labels(g);
	for (uint32_t i = 1; i < g->nodes.len; i++) {
		const struct node *n = &g->nodes.data[i];
		uint64_t addr = n->addr, next = node__next(n);
		struct made made = {0};

		if (!(n->flags & NODE_REACHED) || n->branch || !makes(g, i, &last, &made))
			continue;
		if (made.keeps_sp)
			note_kept(g, addr);
		else if (made.addr != addr && made.addr != next)
			any |= take(g, i, made.addr);
	}
	return any;
}
