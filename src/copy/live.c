// SPDX-License-Identifier: BSD-2-Clause
/*
 * Liveness of registers and flags, computed backward over the function's instructions. All of them
 * are live where control leaves the function, and where a handler, an unwinder or a core file may
 * show them: at each instruction that may fault, and, for signals that are sent, at one place at
 * least of each loop.
 */
#include "copy/copying.h"

/* What is live before the log of the item there. */
static uint64_t live_at(const struct body *b, uint64_t addr)
{
	const struct item *i = body__at(b, addr);

	return i ? item__live(i) : LIVE_ALL;
}

static const struct item *next_of(const struct body *b, const struct item *i)
{
	const struct item *next = i + 1;

	return next < vec__end(&b->items) && next->addr == item__next(i)
		       ? next
		       : body__at(b, item__next(i));
}

/* What is live behind an item that control falls out of. */
static uint64_t live_behind(const struct body *b, const struct item *i)
{
	const struct item *next = next_of(b, i);

	return next ? item__live(next) : LIVE_ALL;
}

static bool is_branch(const struct body *b, const struct item *i)
{
	return b->c->g->nodes.data[i->node].branch;
}

/* Control leaves the function, or is in the original. */
static bool leaves(const struct body *b, const struct item *i, const struct insn *insn)
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

	if (leaves(b, i, insn) || use->may_fault)
		return LIVE_ALL;
	if (is_branch(b, i))
		live |= live_at(b, insn->target);
	if (i->flags & ITEM_FALLS)
		live |= live_behind(b, i);
	live &= ~((uint64_t)use->writes | (use->writes_flags ? LIVE_FLAGS : 0));
	return live | use->reads | (use->reads_flags ? LIVE_FLAGS : 0);
}

static struct reg_use use_of(const struct body *b, const struct item *i)
{
	struct reg_use use = {0};

	if (is_branch(b, i) && body__branch(b, i)->kind == BRANCH_JMP)
		return use;
	if (!b->c->arch->copier->use(body__bytes(b, i), i->len, i->addr, &use))
		use = (struct reg_use){.reads = UINT32_MAX, .reads_flags = true, .may_fault = true};
	return use;
}

static void compute(struct body *b, const struct reg_use *use)
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

/* hidden, by item: from there control may go round for ever, and nowhere is all live. */
static bool is_hidden(const struct body *b, const bool *hidden, const struct item *i)
{
	return i && hidden[i - b->items.data];
}

static bool leads_to_hidden(const struct body *b, const bool *hidden, const struct item *i)
{
	const struct insn *insn = body__branch(b, i);

	return (is_branch(b, i) && is_hidden(b, hidden, body__at(b, insn->target))) ||
	       (i->flags & ITEM_FALLS && is_hidden(b, hidden, next_of(b, i)));
}

/* Beyond the function all is live. */
static void find_hidden(const struct body *b, bool *hidden)
{
	bool again = true;

	for (size_t k = 0; k < b->items.len; k++)
		hidden[k] = item__live(&b->items.data[k]) != LIVE_ALL;
	while (again) {
		again = false;
		for (size_t k = b->items.len; k-- > 0;) {
			if (!hidden[k] || leads_to_hidden(b, hidden, &b->items.data[k]))
				continue;
			hidden[k] = false;
			again = true;
		}
	}
}

/* Each cycle has a branch backward, or to itself. */
static void show_loops(struct body *b)
{
	autofree bool *hidden = xcalloc(b->items.len + 1, sizeof(*hidden));
	const struct item *i;

	find_hidden(b, hidden);
	vec__each (i, &b->items) {
		const struct insn *insn = body__branch(b, i);
		struct item *to = is_branch(b, i) && insn->target <= i->addr
					  ? body__at(b, insn->target)
					  : NULL;

		if (is_hidden(b, hidden, i) && is_hidden(b, hidden, to))
			to->flags |= ITEM_SHOWN;
	}
}

/* Of Go programs signals are delivered at springboards alone. */
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
	compute(b, use);
	if (!b->c->rooms)
		show_loops(b);
	compute(b, use);
}
