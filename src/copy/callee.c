// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether a called function uses its return address for more than to return, as a function does
 * that finds data after the call. Its first instructions show this. A function that only keeps or
 * returns the address is harmless, since the address is that of the original.
 */
#include "copy/copying.h"

#define LOOK 12 /* the number of instructions that are read */

struct look {
	int64_t depth; /* bytes below the return address */
	uint32_t held; /* the registers that hold the return address */
	bool uses;
};

static bool holds(const struct look *l, uint8_t reg)
{
	return reg < 32 && l->held >> reg & 1;
}

static bool is_slot(const struct arch *arch, const struct look *l, const struct operand *o)
{
	return o->base == arch->sp_reg && o->index == REG_NONE && o->disp == l->depth;
}

static void see(const struct arch *arch, struct look *l, const struct insn *insn,
		const struct insn_detail *d)
{
	bool load = d->op == DETAIL_LOAD && is_slot(arch, l, &d->mem);
	bool pop = insn->sp_effect == SP_ADD && insn->sp_value == arch->call_pushes && !l->depth &&
		   insn->flow == FLOW_NEXT;

	l->uses |= holds(l, insn->operand.base) || holds(l, insn->operand.index);
	if (d->op == DETAIL_ADD_CONST || d->op == DETAIL_ADD)
		l->uses |= holds(l, d->dst);
	if (insn->stores && is_slot(arch, l, &insn->operand))
		l->uses = true;
	l->held &= ~d->writes;
	if (load || pop)
		l->held |= d->writes & ~(1u << arch->sp_reg);
	if (insn->sp_effect == SP_ADD)
		l->depth -= insn->sp_value;
}

static bool uses_return(const struct copying *c, uint64_t addr)
{
	const struct arch *arch = c->arch;
	struct look l = {0};
	struct insn_detail d;
	struct insn insn;
	size_t avail;

	for (unsigned i = 0; i < LOOK && !l.uses; i++, addr += insn.len) {
		const uint8_t *bytes = object__bytes(c->g->object, addr, &avail);

		if (!bytes || arch->decode(bytes, avail, addr, false, &insn) ||
		    insn.flow != FLOW_NEXT || !arch->detail(bytes, avail, addr, &d))
			break;
		see(arch, &l, &insn, &d);
	}
	return l.uses;
}

bool callee__uses_return(struct copying *c, uint64_t addr)
{
	uint64_t *known = map64__put(&c->uses_return, addr);

	if (!*known)
		*known = 1 + uses_return(c, addr);
	return *known - 1;
}
