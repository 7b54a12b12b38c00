// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a jump may lead whose table's length isn't proved: to whatever an entry near an address
 * that the function loads may stand for, relative to that address. So it doesn't matter where the
 * table ends, or which of several tables is used. Tables of addresses are found like other pointers
 * (claims.c).
 */
#include "copy/copying.h"

#define BEFORE 1024 /* bytes, in case the index doesn't begin at 0 */
#define AFTER  (16u << 10)

static void note_entries(struct body *b, uint64_t base)
{
	const struct object *o = b->c->g->object;
	const struct segment *s = object__segment_at(o, base);
	uint64_t from, to;
	int32_t entry;

	if (!s || !s->bytes || !object__is_constant(o, base, sizeof(entry)))
		return;
	from = base - min_of(base - s->vaddr, (uint64_t)BEFORE) / sizeof(entry) * sizeof(entry);
	to = min_of(base + AFTER, s->vaddr + s->size);
	for (uint64_t at = from; at + sizeof(entry) <= to; at += sizeof(entry)) {
		memcpy(&entry, s->bytes + (at - s->vaddr), sizeof(entry));
		body__make_point(b, base + (int64_t)entry);
	}
}

void body__note_tables(struct body *b)
{
	struct map64 seen = {0};

	for (size_t i = 0; i < b->items.len; i++) {
		struct insn_detail d;

		if (b->c->g->nodes.data[b->items.data[i].node].branch ||
		    !graph__detail(b->c->g, b->items.data[i].node, &d) || d.op != DETAIL_CONST ||
		    map64__get(&seen, d.imm))
			continue;
		*map64__put(&seen, d.imm) = 1;
		note_entries(b, d.imm);
	}
	map64__free(&seen);
}
