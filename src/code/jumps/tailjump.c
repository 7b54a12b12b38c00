// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether an indirect jump is a switch, whose table may not be readable, or leaves the function.
 * The form of its target decides: a jump to an entry of a table, or to a sum with one, is a switch.
 */
#include "code/code.h"

/* Returns true if the register holds an index times size before node. */
static bool is_scaled(struct graph *g, uint32_t node, uint8_t reg, uint8_t size)
{
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;

	if (slice__defs(g, node, reg, defs) != 1 || !graph__detail(g, defs[0], &d))
		return false;
	if (d.op == DETAIL_LEA)
		return d.mem.base == REG_NONE && d.mem.scale == size;
	/* shifted left by 32, then right: zero-extended from 32 bits and scaled */
	return d.op == DETAIL_SHR_CONST && d.bits == 64 && d.imm < 32 && 1u << (32 - d.imm) == size;
}

/* Returns true if the load reads a table's entry, at the sum of the table's address and an
 * index. */
static bool is_entry(struct graph *g, uint32_t node, const struct insn_detail *load)
{
	uint8_t first, second, scale, size = load->bits / 8;
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;

	if (load->mem.index != REG_NONE)
		return load->mem.scale >= 4;
	if (load->mem.base == REG_NONE || load->mem.disp ||
	    slice__defs(g, node, load->mem.base, defs) != 1 || !graph__detail(g, defs[0], &d) ||
	    !slice__sum(g, &d, &first, &second, &scale))
		return false;
	return scale == 1
		       ? is_scaled(g, defs[0], first, size) || is_scaled(g, defs[0], second, size)
		       : scale == size;
}

/* Returns true if the register is a pointer: its only definition loads all 64 bits, and not from a
 * table. */
static bool is_pointer(struct graph *g, uint32_t node, uint8_t reg)
{
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;

	return slice__defs(g, node, reg, defs) == 1 && graph__detail(g, defs[0], &d) &&
	       d.op == DETAIL_LOAD && graph__is_whole(g, &d) && !is_entry(g, defs[0], &d);
}

/* Returns true if it is the sum of a table's entry and its base. If both are loaded as pointers, it
 * is the sum of an object's address and an offset. */
static bool is_table_sum(struct graph *g, uint32_t node, const struct insn_detail *d)
{
	uint8_t first, second, scale;

	return slice__sum(g, d, &first, &second, &scale) &&
	       !(is_pointer(g, node, first) && is_pointer(g, node, second));
}

bool graph__is_tail_jump(struct graph *g, uint32_t node)
{
	const struct operand op = graph__branch(g, &g->nodes.data[node])->operand;
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;
	int n;

	if (op.kind == OPERAND_NONE)
		return true;
	if (op.kind == OPERAND_SUM || op.kind == OPERAND_AHEAD)
		return false;
	if (op.kind == OPERAND_MEM)
		return op.index == REG_NONE || op.scale < 4;
	n = slice__defs(g, node, op.base, defs);
	for (int i = 0; i < n; i++)
		if (!graph__detail(g, defs[i], &d) || d.op == DETAIL_ADD_LOAD ||
		    is_table_sum(g, defs[i], &d) ||
		    (d.op == DETAIL_LOAD && is_entry(g, defs[i], &d)))
			return false;
	return true;
}
