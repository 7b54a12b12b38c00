// SPDX-License-Identifier: BSD-2-Clause
/* Which bytes of a function, and of the padding after it, are free for patches. */
#include "copy/copying.h"

#define PADDING_MAX 64 /* bytes after a function */

static struct zone *zone_at(const struct body *b, uint64_t addr)
{
	size_t n = bisect(b->zones.len, b->zones.data[i_].end <= addr);

	return n < b->zones.len && b->zones.data[n].start <= addr ? &b->zones.data[n] : NULL;
}

uint8_t *body__byte(const struct body *b, uint64_t addr)
{
	const struct zone *z = zone_at(b, addr);

	return z ? &z->bytes[addr - z->start] : NULL;
}

void body__mark(struct body *b, uint64_t addr, unsigned size, uint8_t set, uint8_t clear)
{
	for (unsigned i = 0; i < size; i++) {
		uint8_t *byte = body__byte(b, addr + i);

		if (byte)
			*byte = (*byte & ~clear) | set;
	}
}

unsigned body__room(const struct body *b, uint64_t addr, unsigned most)
{
	const struct zone *z = zone_at(b, addr);
	unsigned n = 0;

	if (!z)
		return 0;
	for (uint64_t i = addr - z->start; n < most && i < z->end - z->start; i++, n++)
		if (!body__is_free(z->bytes[i]) || (n && z->bytes[i] & BYTE_POINT))
			break;
	return n;
}

bool body__in_page(uint64_t addr, unsigned size)
{
	return addr / LOG_PAGE == (addr + size - 1) / LOG_PAGE;
}

/* ---- finding them ---- */

/* Returns true if something has a name or a frame there, or leads there: padding ends before it. */
static bool is_owned(const struct body *b, uint64_t addr)
{
	const struct object *o = b->c->g->object;
	const struct frame *f = object__frame_at(o, addr);

	return copying__claims(b->c, addr) || (f && f->vaddr == addr) ||
	       object__symbols_from(o, addr) != o->symbols.len ||
	       graph__owner(b->c->g, addr) != NO_FUNCTION;
}

/* Returns the number of bytes of padding at addr; 0 if there is none, or if it is owned. */
static unsigned padding_at(const struct body *b, uint64_t addr, bool inside)
{
	const struct arch *arch = b->c->arch;
	size_t avail;
	const uint8_t *bytes = object__bytes(b->c->g->object, addr, &avail);
	struct insn insn;

	if (!inside && is_owned(b, addr))
		return 0;
	if (copying__claims(b->c, addr) || !bytes ||
	    arch->decode(bytes, avail, addr, false, &insn) || !insn.padding)
		return 0;
	return insn.len;
}

/* Returns the end of the padding from addr on, within limit bytes. */
static uint64_t padding_end(const struct body *b, uint64_t addr, uint64_t limit, bool inside)
{
	uint64_t end = addr + limit;
	unsigned n;

	while (addr < end && (n = padding_at(b, addr, inside)) && addr + n <= end)
		addr += n;
	return addr;
}

static bool goes_on(const struct item *i)
{
	return i->flags & (ITEM_FALLS | ITEM_RETURNS);
}

/* Marks the bytes of an item. */
static void mark_item(struct body *b, const struct item *i)
{
	body__mark(b, i->addr, i->len, i->flags & ITEM_KEPT ? 0 : BYTE_FREE, 0);
}

/* Restores kept instructions that overlap others. */
static void mark_kept(struct body *b, const struct item *i)
{
	if (i->flags & ITEM_KEPT)
		body__mark(b, i->addr, i->len, 0, BYTE_FREE);
}

static void add_zone(struct body *b, uint64_t start, uint64_t end)
{
	struct zone *last = b->zones.len ? vec__last(&b->zones) : NULL;

	if (last && last->end >= start) {
		last->bytes = xextend(last->bytes, last->end - last->start, end - last->start, 1);
		last->end = end;
		return;
	}
	vec__push(&b->zones, (struct zone){start, end, xcalloc(end - start, 1)});
}

/* Returns the last item that begins before addr. */
static const struct item *item_before(const struct body *b, uint64_t addr)
{
	size_t n = bisect(b->items.len, b->items.data[i_].addr < addr);

	return n ? &b->items.data[n - 1] : NULL;
}

/* Finds the zone of an extent, with the padding after it if nothing runs into that. */
static void zone_of(struct body *b, const struct owned_extent *p)
{
	const struct item *last = item_before(b, p->end);
	uint64_t end = p->end;

	if (last && last->addr >= p->start && !(goes_on(last) && item__next(last) >= end))
		end = padding_end(b, end, PADDING_MAX, false);
	add_zone(b, p->start, end);
}

/* Frees padding between the items of an extent that nothing reaches. */
static void mark_padding(struct body *b)
{
	const struct item *i, *end = vec__end(&b->items);

	vec__each (i, &b->items) {
		uint64_t from = item__next(i), to = from;
		const struct zone *z = zone_at(b, i->addr);
		uint64_t limit = i + 1 < end && i[1].addr < z->end ? i[1].addr : z->end;

		if (goes_on(i) || from >= limit)
			continue;
		to = padding_end(b, from, limit - from, true);
		body__mark(b, from, to - from, BYTE_FREE, 0);
	}
}

void body__find_zones(struct body *b)
{
	const struct owned_extent *p;
	const struct item *i;

	copying__each_extent(p, b->c, b->function) zone_of(b, p);
	vec__each (i, &b->items)
		mark_item(b, i);
	mark_padding(b);
	vec__each (i, &b->items) {
		mark_kept(b, i);
		if (i->flags & ITEM_POINT)
			body__mark(b, i->addr, 1, BYTE_POINT, 0);
	}
}
