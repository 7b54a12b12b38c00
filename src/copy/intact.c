// SPDX-License-Identifier: BSD-2-Clause
/* The instructions of the original from which execution is correct until it reaches a springboard
 * or a kept instruction: those from which no path leads into the middle of overwritten bytes. */
#include "copy/copying.h"

static bool is_overwritten(const struct body *b, const struct item *i)
{
	for (unsigned k = 0; k < i->len; k++) {
		const uint8_t *byte = body__byte(b, i->addr + k);

		if (byte && *byte & BYTE_USED)
			return true;
	}
	return false;
}

/* i: the item at addr; NULL if there is none. */
static bool leads_to_bad(const struct body *b, const bool *bad, const struct item *i, uint64_t addr)
{
	const uint8_t *byte;

	if (i)
		return bad[i - b->items.data];
	byte = body__byte(b, addr);
	return byte && *byte & BYTE_USED;
}

static bool goes_bad(const struct body *b, const struct item *i, const bool *bad)
{
	const struct insn *insn = body__branch(b, i);
	const struct node *n = &b->c->g->nodes.data[i->node];

	if (i->flags & ITEM_KEPT)
		return false;
	if (i->flags & ITEM_FALLS && leads_to_bad(b, bad, body__next(b, i), item__next(i)))
		return true;
	return n->branch &&
	       (insn->kind == BRANCH_JMP || insn->kind == BRANCH_JCC ||
		insn->kind == BRANCH_LOOP) &&
	       leads_to_bad(b, bad, body__target(b, i), insn->target);
}

/* Adds ranges of the items that are not bad; where items overlap, none of them may be. */
static void put_ranges(const struct body *b, const bool *bad)
{
	struct copy_image *image = b->c->image;
	struct copy_extent *last = NULL;
	uint64_t bad_until = 0;

	for (size_t k = 0; k < b->items.len; k++) {
		const struct item *i = &b->items.data[k];

		if (bad[k]) {
			bad_until = max_of(bad_until, item__next(i));
			if (last && last->end > i->addr)
				last->end = i->addr;
			continue;
		}
		if (i->addr < bad_until)
			continue;
		if (last && last->end == i->addr) {
			last->end = item__next(i);
			continue;
		}
		vec__push(&image->intact, (struct copy_extent){i->addr, item__next(i)});
		last = vec__last(&image->intact);
	}
}

void body__find_intact(struct body *b)
{
	autofree bool *bad = xcalloc(b->items.len + 1, sizeof(*bad));
	autofree bool *good = xcalloc(b->items.len + 1, sizeof(*good));
	const struct spring *s;
	bool again = true;

	for (size_t k = 0; k < b->items.len; k++)
		bad[k] = is_overwritten(b, &b->items.data[k]);
	vec__each (s, &b->springs) {
		const struct item *i = body__at(b, s->at);

		if (!i || s->kind == SPRING_LEFT)
			continue;
		bad[i - b->items.data] = false;
		good[i - b->items.data] = true;
	}
	while (again) {
		again = false;
		for (size_t k = b->items.len; k-- > 0;) {
			if (bad[k] || good[k] || !goes_bad(b, &b->items.data[k], bad))
				continue;
			bad[k] = again = true;
		}
	}
	put_ranges(b, bad);
	if (!b->c->uses_spare)
		body__find_spare(b, bad);
}
