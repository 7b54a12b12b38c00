// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which registers and flags are read later: backward over the function's instructions. All are
 * where control leaves the function.
 */
#include "copy/copying.h"

static uint64_t live_at(const struct body *b, uint64_t addr)
{
	const struct item *i = body__at(b, addr);

	return i ? i->live : LIVE_ALL;
}

/* What is live behind an item that control falls out of. */
static uint64_t live_behind(const struct body *b, const struct item *i)
{
	const struct item *next = i + 1;

	return next < vec__end(&b->items) && next->addr == item__next(i)
		       ? next->live
		       : live_at(b, item__next(i));
}

/* Control leaves the function, or is in the original. */
static bool leaves(const struct body *b, const struct item *i, const struct insn *insn)
{
	const struct node *n = &b->c->g->nodes.data[i->node];

	return i->flags & (ITEM_KEPT | ITEM_CALL) || n->flow == FLOW_STOP ||
	       (n->branch && insn->kind != BRANCH_JCC && insn->kind != BRANCH_LOOP &&
		insn->kind != BRANCH_JMP);
}

static uint64_t live_before(const struct body *b, const struct item *i, const struct reg_use *use)
{
	const struct insn *insn = body__branch(b, i);
	uint64_t live = 0;

	if (leaves(b, i, insn))
		return LIVE_ALL;
	if (b->c->g->nodes.data[i->node].branch)
		live |= live_at(b, insn->target);
	if (i->flags & ITEM_FALLS)
		live |= live_behind(b, i);
	live &= ~((uint64_t)use->writes | (use->writes_flags ? LIVE_FLAGS : 0));
	return live | use->reads | (use->reads_flags ? LIVE_FLAGS : 0);
}

void body__find_live(struct body *b)
{
	autofree struct reg_use *use = xcalloc(b->items.len + 1, sizeof(*use));
	const struct arch_copier *copier = b->c->arch->copier;
	bool again = true;

	for (size_t k = 0; k < b->items.len; k++) {
		const struct item *i = &b->items.data[k];

		if (!copier->use(body__bytes(b, i), i->len, i->addr, &use[k]))
			use[k] = (struct reg_use){.reads = UINT32_MAX, .reads_flags = true};
	}
	while (again) {
		again = false;
		for (size_t k = b->items.len; k-- > 0;) {
			struct item *i = &b->items.data[k];
			uint64_t live = live_before(b, i, &use[k]);

			again |= live != i->live;
			i->live = live;
		}
	}
}
