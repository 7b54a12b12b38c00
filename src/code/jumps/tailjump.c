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

/* Returns true if it adds to an address of the function's own code: that of a label. */
static bool is_label_sum(struct graph *g, uint32_t node, const struct insn_detail *d)
{
	bool adds = d->op == DETAIL_ADD_CONST;
	uint32_t to;

	if (!graph__is_whole(g, d) ||
	    !(adds || (d->op == DETAIL_LEA && slice__only_register(&d->mem) != REG_NONE)))
		return false;
	to = graph__owner(g, arch__address(g->arch, (uint64_t)(adds ? d->imm : d->mem.disp)));
	return to != NO_FUNCTION && to == graph__owner(g, g->nodes.data[node].addr);
}

/* Returns true if the node makes the target of a switch, which may be spilled. */
static bool makes_entry(struct graph *g, uint32_t node, bool spilled)
{
	uint32_t stores[DEFS_MAX], defs[DEFS_MAX];
	struct insn_detail d, store;
	int n;

	if (!graph__detail(g, node, &d) || d.op == DETAIL_ADD_LOAD || is_table_sum(g, node, &d) ||
	    is_label_sum(g, node, &d) || (d.op == DETAIL_LOAD && is_entry(g, node, &d)))
		return true;
	n = d.op == DETAIL_LOAD && !spilled ? slice__stores(g, node, stores) : 0;
	for (int i = 0; i < n; i++)
		if (graph__detail(g, stores[i], &store) && graph__is_whole(g, &store) &&
		    slice__defs(g, stores[i], store.src, defs) == 1 &&
		    makes_entry(g, defs[0], true))
			return true;
	return false;
}

bool graph__is_tail_jump(struct graph *g, uint32_t node)
{
	const struct operand op = graph__branch(g, &g->nodes.data[node])->operand;
	uint32_t defs[DEFS_MAX];
	int n;

	if (op.kind == OPERAND_NONE)
		return true;
	if (op.kind == OPERAND_SUM || op.kind == OPERAND_AHEAD)
		return false;
	if (op.kind == OPERAND_MEM)
		return op.index == REG_NONE || op.scale < 4;
	n = slice__defs(g, node, op.base, defs);
	for (int i = 0; i < n; i++)
		if (makes_entry(g, defs[i], false))
			return false;
	return true;
}
