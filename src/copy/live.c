// SPDX-License-Identifier: BSD-2-Clause
/*
 * Liveness of registers and flags, computed backward over the function's instructions. The log of
 * an item may change what is dead after it.
 *
 * Everything is live where control leaves the function, and where a handler, an unwinder or a core
 * file may show it: at each instruction that may fault, and in each loop at one place at least,
 * where signals that are sent can be delivered.
 */
#include "copy/copying.h"

/* ---- what is live before and after an item ---- */

/* Returns what is live where control leaves an item for this one. */
static uint64_t live_at(const struct item *i)
{
	return i ? item__live(i) : LIVE_ALL;
}

static bool is_branch(const struct body *b, const struct item *i)
{
	return b->c->g->nodes.data[i->node].branch;
}

/* Returns true if control leaves the copy at this item: for another function, or for the original.
 */
static bool leaves_copy(const struct body *b, const struct item *i, const struct insn *insn)
{
	return i->flags & (ITEM_KEPT | ITEM_CALL) ||
	       b->c->g->nodes.data[i->node].flow == FLOW_STOP ||
	       (is_branch(b, i) && insn->kind != BRANCH_JCC && insn->kind != BRANCH_LOOP &&
		insn->kind != BRANCH_JMP);
}

static uint64_t live_before(const struct body *b, const struct item *i, const struct reg_use *use)
{
	const struct insn *insn = body__branch(b, i);
	uint64_t live = 0;

	if (leaves_copy(b, i, insn) || use->may_fault)
		return LIVE_ALL;
	if (is_branch(b, i))
		live |= live_at(body__target(b, i));
	if (i->flags & ITEM_FALLS)
		live |= live_at(body__next(b, i));
	live &= ~((uint64_t)use->writes | (use->writes_flags ? LIVE_FLAGS : 0));
	return live | use->reads | (use->reads_flags ? LIVE_FLAGS : 0);
}

static struct reg_use use_of(const struct body *b, const struct item *i)
{
	struct reg_use use = {0};

	if (is_branch(b, i) && body__branch(b, i)->kind == BRANCH_JMP)
		return use;
	if (leaves_copy(b, i, body__branch(b, i)))
		return use; /* everything is live before it */
	if (!b->c->arch->copier->use(body__bytes(b, i), i->len, i->addr, &use))
		use = (struct reg_use){.reads = UINT32_MAX, .reads_flags = true, .may_fault = true};
	return use;
}

/* Iterates until nothing changes: live sets only grow. use: by item. */
static void compute_liveness(struct body *b, const struct reg_use *use)
{
	bool again = true;

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

/* ---- where signals that are sent are delivered ---- */

/*
 * A hidden loop is one without an item where everything is live: a thread that stays in it could
 * never be sent a signal. hidden, by item: control may get from this item into such a loop,
 * and stay there, without an item on the way where everything is live.
 */
static bool is_in_hidden_loop(const struct body *b, const bool *hidden, const struct item *i)
{
	return i && hidden[i - b->items.data];
}

static bool leads_to_hidden_loop(const struct body *b, const bool *hidden, const struct item *i)
{
	return is_in_hidden_loop(b, hidden, body__target(b, i)) ||
	       (i->flags & ITEM_FALLS && is_in_hidden_loop(b, hidden, body__next(b, i)));
}

/* Begins with all items where not everything is live, and removes those without a successor that is
 * left. Outside of the function everything is live. */
static void find_hidden_loops(const struct body *b, bool *hidden)
{
	bool again = true;

	for (size_t k = 0; k < b->items.len; k++)
		hidden[k] = item__live(&b->items.data[k]) != LIVE_ALL;
	while (again) {
		again = false;
		for (size_t k = b->items.len; k-- > 0;) {
			if (!hidden[k] || leads_to_hidden_loop(b, hidden, &b->items.data[k]))
				continue;
			hidden[k] = false;
			again = true;
		}
	}
}

/* Makes everything live at the target of each backward branch in a hidden loop: each loop has such
 * a branch, or one to itself. */
static void show_loops(struct body *b)
{
	autofree bool *hidden = xcalloc(b->items.len + 1, sizeof(*hidden));
	const struct item *i;

	find_hidden_loops(b, hidden);
	vec__each (i, &b->items) {
		const struct insn *insn = body__branch(b, i);
		struct item *to = insn->target <= i->addr ? body__target(b, i) : NULL;

		if (is_in_hidden_loop(b, hidden, i) && is_in_hidden_loop(b, hidden, to))
			to->flags |= ITEM_SHOWN;
	}
}

/* In Go programs, signals are delivered only at springboards, so everything is live at each. */
static void show_springs(struct body *b)
{
	const struct spring *s;

	vec__each (s, &b->springs)
		b->items.data[s->item].flags |= ITEM_SHOWN;
}

void body__find_live(struct body *b)
{
	autofree struct reg_use *use = xcalloc(b->items.len + 1, sizeof(*use));

	for (size_t k = 0; k < b->items.len; k++)
		use[k] = use_of(b, &b->items.data[k]);
	if (b->c->rooms)
		show_springs(b);
	compute_liveness(b, use);
	if (!b->c->rooms)
		show_loops(b);
	compute_liveness(b, use);
}
