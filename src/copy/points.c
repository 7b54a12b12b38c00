// SPDX-License-Identifier: BSD-2-Clause
/* A body's instructions by address, its points, and the labels of addresses in the copy. */
#include "copy/copying.h"

uint32_t copying__label(struct copying *c, uint64_t vaddr)
{
	uint64_t *label = map64__put(&c->label_of, vaddr);

	if (!*label) {
		*label = 1 + code_buffer__label(&c->code);
		while (c->addresses.len < *label)
			vec__push(&c->addresses, 0);
		*vec__last(&c->addresses) = vaddr;
	}
	return *label - 1;
}

struct item *body__at(const struct body *b, uint64_t addr)
{
	size_t n = bisect(b->items.len, b->items.data[i_].addr < addr);

	return n < b->items.len && b->items.data[n].addr == addr ? &b->items.data[n] : NULL;
}

void body__make_point(struct body *b, uint64_t addr)
{
	struct item *i = body__at(b, addr);

	if (i)
		i->flags |= ITEM_POINT | ITEM_LEADER;
}
