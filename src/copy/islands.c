// SPDX-License-Identifier: BSD-2-Clause
/* Where a short jump leads: to an island, a jump to anywhere, in bytes that nothing executes; or by
 * hops, further short jumps in such bytes, to one that is out of its reach. */
#include "copy/copying.h"

#define REACH 128 /* bytes, of a short jump, from its end */

/* Where a short jump may lead. */
struct reach {
	uint64_t first, last;
};

static bool is_avoided(const struct body *b, uint64_t addr, unsigned size)
{
	for (unsigned i = 0; i < b->hints.navoid; i++)
		if (addr - b->hints.avoid[i] + size - 1 < 2 * size - 1)
			return true;
	return false;
}

static bool is_island(const struct body *b, uint64_t addr, unsigned size)
{
	const uint8_t *byte = body__byte(b, addr);

	return byte && !is_avoided(b, addr, size) && !(*byte & BYTE_POINT) &&
	       body__in_page(addr, size) && body__room(b, addr, size) == size;
}

/* Returns the nearest one within these addresses. */
static uint64_t own_island(const struct body *b, uint64_t end, const struct reach *r, unsigned size)
{
	for (unsigned i = 0; i < REACH; i++) {
		if (end + i <= r->last && is_island(b, end + i, size))
			return end + i;
		if (end - i - 1 >= r->first && is_island(b, end - i - 1, size))
			return end - i - 1;
	}
	return 0;
}

/* Returns the furthest place of a hop. */
static uint64_t own_hop(const struct body *b, const struct reach *r, unsigned size, bool forward)
{
	for (uint64_t i = 0; i + r->first <= r->last; i++) {
		uint64_t at = forward ? r->last - i : r->first + i;

		if (is_island(b, at, size))
			return at;
	}
	return 0;
}

/* ---- spare bytes ---- */

static uint64_t take_spare(struct copy_extent *x, uint64_t first, uint64_t last, unsigned size)
{
	uint64_t at = max_of(x->start, first);

	if (!body__in_page(at, size))
		at = (at + size) / LOG_PAGE * LOG_PAGE;
	if (at > last || at + size > x->end)
		return 0;
	/* The larger rest stays. */
	if (at - x->start > x->end - (at + size))
		x->end = at;
	else
		x->start = at + size;
	return at;
}

/* Returns the first spare extent that ends after addr. */
static size_t spare_from(const struct copying *c, uint64_t addr)
{
	return bisect(c->spare.len, c->spare.data[i_].end <= addr);
}

/* What was taken from the spare bytes, to be given back. */
struct loan {
	size_t index;
	struct copy_extent was;
};

static uint64_t borrow(struct body *b, size_t index, uint64_t first, uint64_t last, unsigned size,
		       struct loan *loan)
{
	struct copy_extent *x = &b->c->spare.data[index];

	*loan = (struct loan){index, *x};
	return take_spare(x, first, last, size);
}

static uint64_t spare_island(struct body *b, const struct reach *r, unsigned size,
			     struct loan *loan)
{
	uint64_t at = 0;

	for (size_t i = spare_from(b->c, r->first);
	     !at && i < b->c->spare.len && b->c->spare.data[i].start <= r->last; i++)
		at = borrow(b, i, r->first, r->last, size, loan);
	return at;
}

static uint64_t spare_hop(struct body *b, const struct reach *r, unsigned size, bool forward,
			  struct loan *loan)
{
	size_t from = spare_from(b->c, r->first), to = spare_from(b->c, r->last);
	uint64_t at = 0;

	if (to < b->c->spare.len && b->c->spare.data[to].start <= r->last)
		to++;
	for (size_t n = to - from, k = 0; !at && k < n; k++)
		at = borrow(b, forward ? to - 1 - k : from + k, r->first, r->last, size, loan);
	return at;
}

/* ---- the way ---- */

struct way {
	struct body *b;
	struct spring *s;
	bool in_page; /* what is in one page with the springboard is written at once with it */
	struct loan loans[HOPS_MAX + 1];
	unsigned nloans;
};

static struct reach reach_of(const struct way *w, uint64_t end)
{
	uint64_t page = w->s->at / LOG_PAGE * LOG_PAGE;
	struct reach r = {end - REACH, end + REACH - 1};

	if (w->in_page)
		r = (struct reach){max_of(r.first, page), min_of(r.last, page + LOG_PAGE - 1)};
	return r;
}

/* Takes what was found in the function; otherwise it is borrowed. */
static uint64_t take(struct way *w, uint64_t own, uint64_t spare, unsigned size)
{
	if (own)
		body__mark(w->b, own, size, BYTE_USED, 0);
	else if (spare)
		w->nloans++;
	return own ? own : spare;
}

static uint64_t take_island(struct way *w, uint64_t end)
{
	unsigned size = w->b->c->arch->copier->jump_size;
	struct reach r = reach_of(w, end);
	uint64_t own = own_island(w->b, end, &r, size), spare = 0;

	if (!own && w->b->c->uses_spare)
		spare = spare_island(w->b, &r, size, &w->loans[w->nloans]);
	return take(w, own, spare, size);
}

static uint64_t take_hop(struct way *w, uint64_t end, bool forward)
{
	unsigned size = w->b->c->arch->copier->short_size;
	struct reach r = reach_of(w, end);
	uint64_t own, spare = 0;

	if (forward)
		r.first = max_of(r.first, end);
	else
		r.last = min_of(r.last, end - 1);
	own = own_hop(w->b, &r, size, forward);
	if (!own && w->b->c->uses_spare)
		spare = spare_hop(w->b, &r, size, forward, &w->loans[w->nloans]);
	return take(w, own, spare, size);
}

static void give_back(struct way *w)
{
	unsigned size = w->b->c->arch->copier->short_size;

	for (unsigned i = 0; i < w->s->nhops; i++)
		body__mark(w->b, w->s->hops[i], size, 0, BYTE_USED);
	w->s->nhops = 0;
	while (w->nloans) {
		const struct loan *loan = &w->loans[--w->nloans];

		w->b->c->spare.data[loan->index] = loan->was;
	}
}

/* Moves on in one direction, as far as a hop reaches each time, until an island is in reach. */
static bool go_by_hops(struct way *w, bool forward)
{
	unsigned size = w->b->c->arch->copier->short_size;
	uint64_t end = w->s->at + size, at;

	while (w->s->nhops < HOPS_MAX && (at = take_hop(w, end, forward))) {
		w->s->hops[w->s->nhops++] = at;
		end = at + size;
		w->s->island = take_island(w, end);
		if (w->s->island)
			return true;
	}
	give_back(w);
	return false;
}

static bool find_way(struct body *b, struct spring *s, bool in_page)
{
	struct way w = {.b = b, .s = s, .in_page = in_page};

	s->nhops = 0;
	s->island = take_island(&w, s->at + b->c->arch->copier->short_size);
	return s->island || (b->far && (go_by_hops(&w, true) || go_by_hops(&w, false)));
}

bool body__find_island(struct body *b, struct spring *s)
{
	return find_way(b, s, true) || (b->far && find_way(b, s, false));
}

bool body__take_island(struct body *b, struct spring *s, uint64_t at)
{
	unsigned size = b->c->arch->copier->jump_size;

	if (!is_island(b, at, size))
		return false;
	body__mark(b, at, size, BYTE_USED, 0);
	s->island = at;
	s->nhops = 0;
	return true;
}

/* ---- which bytes are spare ---- */

static bool is_patched(const struct body *b, const struct item *i)
{
	const uint8_t *byte = body__byte(b, i->addr);

	return byte && *byte & BYTE_USED;
}

/* Removes the bytes of intact items from the spare bytes. Of an item with a springboard, only that
 * is executed. */
static void keep_intact(const struct body *b, const bool *bad)
{
	for (size_t k = 0; k < b->items.len; k++) {
		const struct item *i = &b->items.data[k];

		if (!bad[k] && !is_patched(b, i))
			body__mark((struct body *)b, i->addr, i->len, 0, BYTE_FREE);
	}
}

void body__find_spare(struct body *b, const bool *bad)
{
	const unsigned size = b->c->arch->copier->short_size;
	const struct zone *z;

	keep_intact(b, bad);
	vec__each (z, &b->zones)
		for (uint64_t addr = z->start, from = addr; addr <= z->end; addr++) {
			uint8_t byte = addr < z->end ? z->bytes[addr - z->start] : 0;

			if (body__is_free(byte) && !(byte & BYTE_POINT))
				continue;
			if (addr >= from + size)
				vec__push(&b->c->spare, (struct copy_extent){from, addr});
			from = addr + 1;
		}
}
