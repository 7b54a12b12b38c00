// SPDX-License-Identifier: BSD-2-Clause
/* A body's instructions by address, its points, and the labels of addresses in the copy. */
#include "copy/copying.h"

static uint32_t new_label(struct copying *c, uint64_t vaddr)
{
	uint32_t label = code_buffer__label(&c->code);

	while (c->addresses.len <= label)
		vec__push(&c->addresses, 0);
	*vec__last(&c->addresses) = vaddr;
	return label;
}

uint32_t copying__label(struct copying *c, uint64_t vaddr)
{
	uint32_t node = graph__known(c->g, vaddr), *label;
	uint64_t *other;

	if (!node) {
		other = map64__put(&c->other_labels, vaddr);
		if (!*other)
			*other = 1 + new_label(c, vaddr);
		return *other - 1;
	}
	while (c->label_of.len < c->g->nodes.len)
		vec__push(&c->label_of, 0);
	label = &c->label_of.data[node];
	if (!*label) {
		other = map64__get(&c->other_labels, vaddr); /* from before the node was there */
		*label = other ? *other : 1 + new_label(c, vaddr);
	}
	return *label - 1;
}

struct item *body__at(const struct body *b, uint64_t addr)
{
	size_t n = bisect(b->items.len, b->items.data[i_].addr < addr);

	return n < b->items.len && b->items.data[n].addr == addr ? &b->items.data[n] : NULL;
}

static uint32_t number_of(const struct body *b, const struct item *i)
{
	return i ? 1 + (i - b->items.data) : 0;
}

void body__link(struct body *b)
{
	struct item *i, *end = vec__end(&b->items);

	vec__each (i, &b->items) {
		uint64_t target = body__branch(b, i)->target;
		bool follows = i + 1 < end && i[1].addr == item__next(i);

		i->next = number_of(b, follows ? i + 1 : body__at(b, item__next(i)));
		i->target = target ? number_of(b, body__at(b, target)) : 0;
	}
}

void body__make_point(struct body *b, uint64_t addr)
{
	struct item *i = body__at(b, addr);

	if (i)
		i->flags |= ITEM_POINT | ITEM_LEADER;
}
