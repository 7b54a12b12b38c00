// SPDX-License-Identifier: BSD-2-Clause
/* pool: constants that compilers put among the code, after a branch. Without symbols that mark it,
 * data is what the code itself reads as such; it isn't code that was not decoded. */
#include "code/code.h"

#define UNIT 2 /* bytes: where there are pools, no instruction is shorter */

void pool__note_table(struct graph *g, uint64_t vaddr, uint64_t size)
{
	if (!g->object->mixed || !object__is_code(g->object, vaddr))
		return;
	for (uint64_t at = vaddr & ~(uint64_t)(UNIT - 1); at < vaddr + size; at += UNIT)
		*map64__put(&g->data, at) = 1;
}

void pool__note_load(struct graph *g, uint32_t node)
{
	struct insn_detail d;

	if (g->object->mixed && graph__detail(g, node, &d) && d.op == DETAIL_LOAD &&
	    d.mem.base == REG_NONE && d.mem.index == REG_NONE)
		pool__note_table(g, d.imm, d.bits / 8);
}

uint64_t pool__after(const struct graph *g, uint64_t addr, uint64_t end)
{
	while ((g->object->modes.len || g->data.len) && addr < end && pool__holds(g, addr))
		addr += UNIT;
	return addr;
}

bool pool__holds(const struct graph *g, uint64_t addr)
{
	return object__is_data(g->object, addr) || map64__get(&g->data, addr);
}
