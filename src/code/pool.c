// SPDX-License-Identifier: BSD-2-Clause
/* pool: constants that compilers put among the code, after a branch, and tables that assembly has
 * there. Without symbols that mark it, data is what the code itself reads as such; it isn't code
 * that was not decoded. */
#include "code/code.h"

/* In bytes; where compilers make pools, no instruction is shorter than two. */
static uint64_t unit(const struct graph *g)
{
	return g->arch->alignment > 1 ? 2 : 1;
}

enum { FORGOTTEN, GUESSED, PROVED };

static void mark(struct graph *g, uint64_t vaddr, uint64_t size, uint64_t what)
{
	for (uint64_t at = vaddr & -unit(g); at < vaddr + size; at += unit(g)) {
		uint64_t *noted = map64__put(&g->data, at);

		if (*noted != PROVED)
			*noted = what;
	}
}

void pool__note_table(struct graph *g, uint64_t vaddr, uint64_t size, bool proved)
{
	uint64_t at = vaddr;

	if (object__is_code(g->object, vaddr) &&
	    (g->object->mixed || !graph__next_reached(g, &at, vaddr + size)))
		mark(g, vaddr, size, proved ? PROVED : GUESSED);
}

void pool__forget_table(struct graph *g, uint64_t vaddr, uint64_t size)
{
	if (!g->object->mixed && object__is_code(g->object, vaddr))
		mark(g, vaddr, size, FORGOTTEN);
}

void pool__note_load(struct graph *g, uint32_t node)
{
	struct insn_detail d;

	if (g->object->mixed && graph__detail(g, node, &d) && d.op == DETAIL_LOAD &&
	    d.mem.base == REG_NONE && d.mem.index == REG_NONE)
		pool__note_table(g, d.imm, d.bits / 8, false);
}

uint64_t pool__after(const struct graph *g, uint64_t addr, uint64_t end)
{
	while ((g->object->modes.len || g->data.len) && addr < end && pool__holds(g, addr))
		addr += unit(g);
	return addr;
}

uint64_t pool__after_proved(const struct graph *g, uint64_t addr, uint64_t end)
{
	const uint64_t *noted;

	while (addr < end && (noted = map64__get(&g->data, addr)) && *noted == PROVED)
		addr += unit(g);
	return addr;
}

bool pool__holds(const struct graph *g, uint64_t addr)
{
	uint64_t *noted = map64__get(&g->data, addr);

	return object__is_data(g->object, addr) || (noted && *noted);
}
