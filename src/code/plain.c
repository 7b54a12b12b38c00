// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plain instructions: all they do to control is to reach the next one. What nodes keep of one fits
 * in a byte, which stays with the object, so several graphs of an object decode it once.
 */
#include <stdlib.h>
#include "code/code.h"

#define LEN	15
#define PUSHES	16 /* a word */
#define POPS	32
#define PADDING 64

static uint8_t *byte_of(const struct graph *g, uint64_t addr)
{
	const struct segment *s = g->segment;

	return s->plain && !g->object->modes.len ? &s->plain[addr - s->vaddr] : NULL;
}

static bool is_plain(const struct graph *g, const struct insn *insn)
{
	bool moves = insn->sp_effect == SP_ADD && abs(insn->sp_value) == g->arch->word;

	return insn->flow == FLOW_NEXT && insn->len && insn->len <= LEN && !insn->slow &&
	       !insn->enters_kernel && !insn->exclusive && !insn->next_state &&
	       (insn->sp_effect == SP_SAME || moves);
}

void plain__note(const struct graph *g, const struct insn *insn)
{
	uint8_t *byte = byte_of(g, insn->addr);

	if (!byte || !is_plain(g, insn))
		return;
	*byte = insn->len | (insn->padding ? PADDING : 0);
	if (insn->sp_effect == SP_ADD)
		*byte |= insn->sp_value < 0 ? PUSHES : POPS;
}

bool plain__find(const struct graph *g, uint64_t addr, struct insn *out)
{
	const uint8_t *byte = byte_of(g, addr);

	if (!byte || !*byte)
		return false;
	*out = (struct insn){
		.addr = addr, .flow = FLOW_NEXT, .len = *byte & LEN, .padding = *byte & PADDING};
	if (*byte & (PUSHES | POPS)) {
		out->sp_effect = SP_ADD;
		out->sp_value = *byte & PUSHES ? -g->arch->word : g->arch->word;
	}
	return true;
}
