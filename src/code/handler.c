// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exception handlers that code installs without a table, as OCaml does for try. The code pushes the
 * handler's address, then the link to the outer handler's frame, and the stack pointer becomes the
 * new link (OCaml manual, "Exceptions"; emit.mlp, Lpushtrap). Raising loads the stack pointer from
 * the link, pops the outer link, and jumps to the handler, with the stack as before the first push.
 */
#include "code/code.h"

static bool pushes(const struct graph *g, const struct node *n)
{
	return n->sp_effect == SP_ADD && n->sp_value == -(int32_t)g->arch->word;
}

/* Returns true if d stores the stack pointer to the place that link was pushed from. */
static bool becomes_link(const struct graph *g, const struct insn_detail *d,
			 const struct insn_detail *link)
{
	if (!graph__is_whole(g, d) || d->src != g->arch->sp_reg)
		return false;
	if (d->op == DETAIL_COPY)
		return link->src != REG_NONE && d->dst == link->src;
	return d->op == DETAIL_STORE && link->mem.kind == OPERAND_MEM &&
	       link->mem.base != g->arch->sp_reg &&
	       slice__same_memory(&d->mem, d->imm, &link->mem, link->imm);
}

uint64_t handler__installed(struct graph *g, uint32_t at, uint32_t push)
{
	struct insn_detail address, pushed, link, keep;
	uint32_t second, third;

	if (!at || !pushes(g, &g->nodes.data[push]) || pushes(g, &g->nodes.data[at]))
		return 0;
	second = graph__node(g, node__next(&g->nodes.data[push]));
	if (!second || !pushes(g, &g->nodes.data[second]))
		return 0;
	third = graph__node(g, node__next(&g->nodes.data[second]));
	if (!third || pushes(g, &g->nodes.data[third]) || !graph__detail(g, at, &address) ||
	    !graph__detail(g, push, &pushed) || !graph__detail(g, second, &link) ||
	    !graph__detail(g, third, &keep))
		return 0;
	if (address.op != DETAIL_CONST || pushed.op != DETAIL_PUSH || link.op != DETAIL_PUSH ||
	    pushed.src != address.dst || !becomes_link(g, &keep, &link))
		return 0;
	return address.imm;
}

void handler__note(struct graph *g, uint32_t at, uint32_t push)
{
	uint64_t target = handler__installed(g, at, push);
	uint32_t owner = target ? graph__owner(g, target) : NO_FUNCTION;

	if (owner == NO_FUNCTION || owner != graph__owner(g, g->nodes.data[at].addr))
		return;
	/* The handler's stack is that of the start of this block. */
	g->nodes.data[at].flags |= NODE_LEADER;
	vec__push(&g->handlers, (struct handler){.at = at, .target = target});
	vec__push(&g->pads, target);
}
