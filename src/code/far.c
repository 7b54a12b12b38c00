// SPDX-License-Identifier: BSD-2-Clause
/*
 * Direct branches of two instructions, for distances that one can't encode: the first computes most
 * of the address, the second adds the rest and jumps there (RISC-V: auipc, jalr). Only two adjacent
 * instructions count.
 */
#include "code/code.h"

/* Returns the decoded instruction that ends at addr; 0 if there is none. */
static uint32_t in_front_of(struct graph *g, uint64_t addr)
{
	for (uint8_t back = 1; back <= g->arch->longest && back <= addr; back++) {
		uint32_t i = graph__known(g, addr - back);

		if (i && node__next(&g->nodes.data[i]) == addr)
			return i;
	}
	return 0;
}

void graph__note_far(struct graph *g, struct insn *insn)
{
	uint32_t front = insn->completes ? in_front_of(g, insn->addr) : 0;
	struct insn_detail d;

	if (!front || g->nodes.data[front].branch || !graph__detail(g, front, &d) ||
	    d.op != DETAIL_CONST || d.dst != insn->operand.base)
		return;
	insn->kind = insn->kind == BRANCH_ICALL ? BRANCH_CALL : BRANCH_JMP;
	insn->target = ((uint64_t)d.imm + insn->operand.disp) & ~1ull;
	insn->operand = (struct operand){.kind = OPERAND_NONE, .index = insn->operand.index};
}
