// SPDX-License-Identifier: BSD-2-Clause
/*
 * Basic blocks of a graph: their first nodes, their other nodes, and their successors.
 */
#include "code/code.h"

static void leaders_of(struct graph *g, const struct owned_extent *p, leader_vec *out)
{
	uint32_t i;

	for (uint64_t addr = p->start; (i = graph__next_reached(g, &addr, p->end)); addr++) {
		if (!(g->nodes.data[i].flags & NODE_LEADER))
			continue;
		vec__push(out, (struct leader){.first = i});
		g->nodes.data[i].block = out->len;
	}
}

/* Returns the block at addr that control reaches, in whichever function. */
static uint32_t leader_at(struct graph *g, uint64_t addr)
{
	return g->nodes.data[graph__known(g, addr)].block;
}

uint32_t graph__in_block(struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes.data[node];
	uint32_t next;

	if (n->branch || n->flow == FLOW_STOP)
		return 0;
	/* nearly always decoded consecutively */
	next = node + 1;
	if (next >= g->nodes.len || g->nodes.data[next].addr != node__next(n))
		next = graph__known(g, node__next(n));
	n = &g->nodes.data[next];
	return next && n->flags & NODE_REACHED && !(n->flags & NODE_LEADER) ? next : 0;
}

static void set_successors(struct graph *g, struct leader *l)
{
	const struct node *n = &g->nodes.data[l->last];
	const struct insn *b = graph__branch(g, n);

	if (n->flow == FLOW_STOP || n->flags & NODE_NORETURN)
		return;
	if (!n->branch) {
		l->next = leader_at(g, node__next(n));
		return;
	}
	if (b->kind == BRANCH_IJMP)
		l->table = graph__table_of(g, l->last);
	if (b->conditional)
		l->next = leader_at(g, node__next(n));
	if (b->kind == BRANCH_IJMP || b->kind == BRANCH_RET ||
	    (b->kind == BRANCH_NONE && !b->target))
		return;
	if (b->kind != BRANCH_JMP)
		l->next = leader_at(g, node__next(n));
	if (b->kind != BRANCH_CALL && b->kind != BRANCH_ICALL)
		l->taken = leader_at(g, b->target);
}

static void set_handlers(struct graph *g, leader_vec *leaders)
{
	const struct handler *h;

	vec__each (h, &g->handlers) {
		uint32_t at = g->nodes.data[h->at].block;

		if (at)
			leaders->data[at - 1].handler = leader_at(g, h->target);
	}
}

void graph__leaders(struct graph *g, leader_vec *out)
{
	const struct owned_extent *p;
	struct leader *l;
	uint32_t next;

	for (size_t i = 0; i < g->nodes.len; i++)
		g->nodes.data[i].block = 0;
	vec__each (p, &g->extents)
		leaders_of(g, p, out);
	vec__each (l, out) {
		l->effect = (struct effect){.sp.source = FROM_SP, .fp.source = FROM_FP};
		for (next = l->first; next; next = graph__in_block(g, next)) {
			effect__add(&l->effect, g, next);
			l->last = next;
		}
		set_successors(g, l);
	}
	set_handlers(g, out);
}
