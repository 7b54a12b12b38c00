// SPDX-License-Identifier: BSD-2-Clause
/* Places a springboard for each point of a function: a jump; a short jump to an island, which
 * jumps, by hops if it is far away, or one byte of it; a call that takes the place of a call of the
 * original; or a jump to an emulated call. */
#include "copy/copying.h"

static const struct arch_copier *copier(const struct body *b)
{
	return b->c->arch->copier;
}

/* ---- points ---- */

/* A landing instruction stays in place if the springboard can be after it. Then its sites are
 * logged at the next instruction, and both have the same copy. */
static bool may_land(const struct body *b, const struct item *i)
{
	const struct item *next = i + 1;

	return i->flags & ITEM_LANDING && i->flags & ITEM_FALLS && next < vec__end(&b->items) &&
	       next->addr == item__next(i) && !(next->flags & (ITEM_LEADER | ITEM_KEPT)) &&
	       body__room(b, next->addr, copier(b)->jump_size) >= copier(b)->jump_size &&
	       body__in_page(next->addr, copier(b)->jump_size);
}

static void add_spring(struct body *b, struct item *i)
{
	struct spring *s = vec__add(&b->springs);

	s->item = i - b->items.data;
	s->at = s->point = i->addr;
	if (!may_land(b, i))
		return;
	i->flags |= ITEM_ALIAS;
	s->at = item__next(i);
	body__mark(b, i->addr, i->len, 0, BYTE_FREE);
	body__mark(b, s->at, 1, BYTE_POINT, 0);
}

static void use(struct body *b, uint64_t at, unsigned size)
{
	body__mark(b, at, size, BYTE_USED, 0);
}

/* ---- jumps ---- */

/* A patch is written page by page. Across two pages it is safe if the first one doesn't change: if
 * the one byte there, the opcode, is already that of the patch. */
static bool keeps_first_page(const struct body *b, uint64_t at, unsigned size, const uint8_t *patch)
{
	size_t avail;
	const uint8_t *was = object__bytes(b->c->g->object, at, &avail);

	return body__in_page(at, size) ||
	       (body__in_page(at + 1, size - 1) && was && *was == *patch);
}

static bool is_safe(const struct body *b, uint64_t at, unsigned size)
{
	uint8_t jump[PATCH_MAX];

	if (size == copier(b)->short_size)
		copier(b)->put_short(jump, at, at);
	else
		copier(b)->put_jump(jump, at, at);
	return keeps_first_page(b, at, size, jump);
}

static bool place_jump(struct body *b, struct spring *s)
{
	unsigned size = copier(b)->jump_size;

	if (body__room(b, s->at, size) < size || !is_safe(b, s->at, size))
		return false;
	s->kind = PATCH_JUMP;
	s->done = true;
	use(b, s->at, size);
	return true;
}

static bool place_short(struct body *b, struct spring *s)
{
	unsigned size = copier(b)->short_size;

	if (body__room(b, s->at, size) < size || !is_safe(b, s->at, size))
		return false;
	use(b, s->at, size);
	if (!body__find_island(b, s)) {
		body__mark(b, s->at, size, 0, BYTE_USED);
		return false;
	}
	s->kind = PATCH_SHORT;
	s->done = true;
	return true;
}

/* ---- a jump of one byte ---- */

static const struct spring *spring_at(const struct body *b, uint64_t at)
{
	const struct spring *s;

	vec__each (s, &b->springs)
		if (s->done && s->at == at && (s->kind == PATCH_JUMP || s->kind == PATCH_SHORT))
			return s;
	return NULL;
}

/* Sets the byte at this address once all is written. Returns false if that isn't known. The code at
 * an entry may be changed later (inline/text/entries.c). */
static bool final_byte(const struct body *b, uint64_t at, const struct spring *s, uint8_t *out)
{
	const uint8_t *flags = body__byte(b, at), *was;
	uint8_t bytes[PATCH_MAX];
	size_t avail;

	if (s && !(b->items.data[s->item].flags & ITEM_ENTRY)) {
		if (s->kind == PATCH_JUMP)
			copier(b)->put_jump(bytes, at, at);
		else
			copier(b)->put_short(bytes, at, at);
		*out = bytes[0];
		return true;
	}
	was = object__bytes(b->c->g->object, at, &avail);
	if (s || !flags || *flags & (BYTE_POINT | BYTE_USED) || !was)
		return false;
	*out = *was;
	return true;
}

/* Places a short jump of which only the first byte is written: the distance happens to be there.
 * So it needs one byte, and may be at the end of a page. */
static bool place_punned(struct body *b, struct spring *s)
{
	const unsigned size = copier(b)->short_size;
	const struct spring *next = spring_at(b, s->at + 1);
	uint8_t distance;

	if (size != 2 || !body__room(b, s->at, 1) || !final_byte(b, s->at + 1, next, &distance))
		return false;
	use(b, s->at, size);
	if (!body__take_island(b, s, s->at + size + (uint64_t)(int8_t)distance)) {
		body__mark(b, s->at, next ? 1 : size, 0, BYTE_USED);
		return false;
	}
	s->kind = PATCH_SHORT;
	s->done = s->punned = b->puns = true;
	s->distance_of = next ? 1 + (next - b->springs.data) : 0;
	return true;
}

/* ---- a kept instruction shortly after the point ---- */

/* Returns the kept instruction that is the only one control can reach from the point; NULL if there
 * is none. */
static struct item *kept_after(const struct body *b, const struct spring *s)
{
	struct item *i = &b->items.data[s->item], *end = vec__end(&b->items);

	for (struct item *first = i;; i++) {
		if (i != first && i->flags & ITEM_POINT)
			return NULL;
		if (i->flags & ITEM_KEPT)
			return i;
		if (!(i->flags & ITEM_FALLS) || b->c->g->nodes.data[i->node].branch ||
		    i + 1 >= end || i[1].addr != item__next(i))
			return NULL;
	}
}

static bool has_events(const struct body *b, const struct item *i)
{
	for (unsigned k = 0; k < i->nsites; k++)
		if (body__site(b, i, k))
			return true;
	return false;
}

/* The original may execute the item: its bytes aren't free any more. Returns false if that is not
 * possible. */
static bool keep_item(struct body *b, const struct item *i)
{
	for (unsigned k = 0; k < i->len; k++)
		if (*body__byte(b, i->addr + k) & BYTE_USED)
			return false;
	body__mark(b, i->addr, i->len, 0, BYTE_FREE);
	return true;
}

static void free_items(struct body *b, const struct item *from, const struct item *end)
{
	for (; from < end; from++)
		if (!(from->flags & ITEM_ALIAS))
			body__mark(b, from->addr, from->len, BYTE_FREE, 0);
}

static bool keep_items(struct body *b, const struct item *from, const struct item *end)
{
	for (const struct item *i = from; i < end; i++)
		if (!keep_item(b, i)) {
			free_items(b, from, i);
			return false;
		}
	return true;
}

/* Leaves the point without a springboard, if nothing has to be logged up to the kept instruction:
 * the original can do that. */
static bool leave(struct body *b, struct spring *s, const struct item *kept)
{
	const struct item *i = &b->items.data[s->item];

	for (const struct item *at = i; at <= kept; at++)
		if (has_events(b, at))
			return false;
	if (!keep_items(b, i, kept))
		return false;
	s->kind = SPRING_LEFT;
	s->done = true;
	return true;
}

/* Places a springboard at a later item. Returns true also if another point's springboard is
 * there. */
static bool place_at(struct body *b, struct spring *s, struct item *i)
{
	if (i->flags & ITEM_POINT) {
		s->kind = SPRING_LEFT;
		s->done = true;
		return true;
	}
	s->at = i->addr;
	if (!place_jump(b, s) && !place_short(b, s))
		return false;
	s->item = i - b->items.data;
	i->flags |= ITEM_LEADER;
	return true;
}

/* Returns true if only the next item can follow this one, and nothing of it is logged. */
static bool passes(const struct body *b, const struct item *i)
{
	return i->flags & ITEM_FALLS && !b->c->g->nodes.data[i->node].branch &&
	       i + 1 < vec__end(&b->items) && i[1].addr == item__next(i) && !has_events(b, i);
}

/* Returns true if control leaves the function after it, and nothing of it is logged. */
static bool falls_out(const struct body *b, const struct item *i)
{
	return i->flags & ITEM_FALLS && !b->c->g->nodes.data[i->node].branch && !body__next(b, i) &&
	       !has_events(b, i);
}

/* A kept instruction has no springboard, unless it is a point itself. */
static bool may_follow(const struct item *i)
{
	return !(i->flags & ITEM_KEPT) || i->flags & ITEM_POINT;
}

/* Moves the springboard forward: the original executes what has no events, up to where there is
 * room, or up to another function. */
static bool slide(struct body *b, struct spring *s)
{
	struct item *first = &b->items.data[s->item], *i = first;
	uint64_t at = s->at;

	if (first->flags & ITEM_ALIAS)
		return false;
	for (; passes(b, i) && may_follow(&i[1]) && keep_item(b, i); i++)
		if (place_at(b, s, i + 1))
			return true;
	if (falls_out(b, i) && keep_item(b, i)) {
		s->kind = SPRING_LEFT;
		s->done = true;
		return true;
	}
	free_items(b, first, i);
	s->at = at;
	return false;
}

/* Returns true if one of the instructions right before the call has put something below the stack
 * pointer. */
static bool uses_below(const struct body *b, const struct item *call)
{
	const struct item *i = call;

	for (unsigned k = 0; b->keeps_below && k < 3 && i > b->items.data; k++) {
		i--;
		if (i->flags & ITEM_CALL)
			break;
		if (copier(b)->keeps_below(body__bytes(b, i), i->len))
			return true;
	}
	return false;
}

/* Returns true if the call can be replaced by a jump, once the return address is on the stack. */
static bool may_emulate(const struct body *b, const struct item *call)
{
	uint8_t jump[16];
	const uint8_t *bytes = body__bytes(b, call);

	return call->flags & ITEM_CALL && !b->c->options->real_calls && !uses_below(b, call) &&
	       (body__branch(b, call)->kind == BRANCH_CALL ||
		copier(b)->call_to_jump(bytes, call->len, jump));
}

/* Places a call that ends where the original one did; its target does all that was before the
 * original call, and jumps. */
static bool place_call(struct body *b, struct spring *s, struct item *call)
{
	unsigned size = item__next(call) - s->at;
	const struct item *i = &b->items.data[s->item];
	uint8_t patch[PATCH_MAX];

	if (size < copier(b)->call_size || size > PATCH_MAX || i->flags & ITEM_ALIAS)
		return false;
	copier(b)->put_call(patch, s->at, s->at);
	if (!body__in_page(s->at, size) &&
	    (size > copier(b)->call_size || !keeps_first_page(b, s->at, size, patch)))
		return false;
	for (uint64_t at = s->at; at < call->addr; at++)
		if (*body__byte(b, at) & BYTE_USED)
			return false;
	s->kind = PATCH_CALL;
	s->call = call - b->items.data;
	s->done = true;
	use(b, s->at, size);
	call->flags = (call->flags & ~ITEM_KEPT) | ITEM_EMULATED;
	b->items.data[s->item].flags |= ITEM_VIA;
	return true;
}

static bool place_emulated(struct body *b, struct spring *s, struct item *call)
{
	body__mark(b, call->addr, call->len, BYTE_FREE, 0);
	if (!place_jump(b, s) && !place_short(b, s) && !(b->far && place_punned(b, s))) {
		body__mark(b, call->addr, call->len, 0, BYTE_FREE);
		return false;
	}
	call->flags = (call->flags & ~ITEM_KEPT) | ITEM_EMULATED;
	return true;
}

/* The original runs on to the call, which is replaced by a call of a stub. */
static bool place_at_call(struct body *b, struct spring *s, struct item *call)
{
	struct item *first = &b->items.data[s->item], *i = first;
	struct spring was = *s;

	while (i < call && passes(b, i) && keep_item(b, i))
		i++;
	s->item = call - b->items.data;
	s->at = call->addr;
	if (i == call && place_call(b, s, call)) {
		call->flags |= ITEM_LEADER;
		return true;
	}
	free_items(b, first, i);
	*s = was;
	return false;
}

static bool place_before_kept(struct body *b, struct spring *s)
{
	struct item *kept = kept_after(b, s);

	if (!kept)
		return false;
	if (leave(b, s, kept))
		return true;
	return may_emulate(b, kept) &&
	       (place_call(b, s, kept) || place_emulated(b, s, kept) || place_at_call(b, s, kept));
}

/* Places a short jump to an island over a call. */
static bool place_over_call(struct body *b, struct spring *s)
{
	unsigned size = copier(b)->jump_size;
	struct item *i;

	vec__each (i, &b->items) {
		int64_t distance = i->addr - (s->at + copier(b)->short_size);

		if (distance < INT8_MIN || distance > INT8_MAX || !(i->flags & ITEM_KEPT) ||
		    i->flags & ITEM_POINT || i->len < size || !may_emulate(b, i))
			continue;
		body__mark(b, i->addr, i->len, BYTE_FREE, 0);
		if (place_short(b, s)) {
			i->flags = (i->flags & ~ITEM_KEPT) | ITEM_EMULATED;
			return true;
		}
		body__mark(b, i->addr, i->len, 0, BYTE_FREE);
	}
	return false;
}

static bool place_elsewhere(struct body *b, struct spring *s)
{
	return slide(b, s) || place_before_kept(b, s) || place_over_call(b, s);
}

static bool place_far(struct body *b, struct spring *s)
{
	b->far = true;
	if (!place_short(b, s) && !place_elsewhere(b, s))
		place_punned(b, s);
	b->far = false;
	return s->done;
}

static bool place(struct body *b, struct spring *s)
{
	return place_jump(b, s) || place_short(b, s) || place_elsewhere(b, s) || place_far(b, s);
}

/* Returns the first point that gets no springboard; NULL if all have one. */
static const struct spring *place_all(struct body *b)
{
	struct spring *s;

	for (unsigned k = 0; k < b->hints.nurgent; k++)
		vec__each (s, &b->springs)
			if (!s->done && s->point == b->hints.urgent[k])
				place(b, s);
	vec__each (s, &b->springs)
		if (!s->done)
			place_jump(b, s);
	vec__each (s, &b->springs)
		if (!s->done)
			place_short(b, s);
	vec__each (s, &b->springs)
		if (!s->done && !place_elsewhere(b, s) && !place_far(b, s))
			return s;
	return NULL;
}

static void note_urgent(struct hints *h, const struct spring *s)
{
	for (unsigned k = 0; k < h->nurgent; k++)
		if (h->urgent[k] == s->point)
			return;
	if (h->nurgent < HINTS_MAX)
		h->urgent[h->nurgent++] = s->point;
}

enum copy_refusal body__place_springs(struct body *b)
{
	const struct spring *narrow;
	struct item *i;

	vec__each (i, &b->items)
		if (i->flags & ITEM_POINT)
			add_spring(b, i);
	narrow = place_all(b);
	if (!narrow)
		return COPY_OK;
	note_urgent(&b->hints, narrow);
	return COPY_ROOM;
}

/* ---- patches ---- */

static void put(struct body *b, struct copy_patch p)
{
	vec__push(&b->c->image->patches, p);
}

static void put_approach(struct body *b, uint64_t start, uint64_t end)
{
	vec__push(&b->c->image->approaches, (struct copy_extent){start, end});
}

static void put_short(struct body *b, uint64_t at, uint64_t to, uint8_t len)
{
	put(b, (struct copy_patch){at, to, PATCH_SHORT, .len = len});
}

/* Returns the address of a part of it (struct placed). */
static uint64_t part_of(const struct spring *s, unsigned part)
{
	return !part ? s->at : part <= s->nhops ? s->hops[part - 1] : s->island;
}

static void put_spring(struct body *b, const struct spring *s)
{
	const struct arch_copier *c = copier(b);
	uint64_t label = copying__label(b->c, b->items.data[s->item].addr);
	unsigned size;

	switch (s->kind) {
	case PATCH_JUMP:
		put(b, (struct copy_patch){s->at, label, PATCH_JUMP, .len = c->jump_size});
		break;
	case PATCH_SHORT:
		put_short(b, s->at, part_of(s, 1), s->punned ? 1 : c->short_size);
		break;
	case PATCH_CALL:
		size = item__next(&b->items.data[s->call]) - s->at;
		put(b, (struct copy_patch){s->at, s->stub, PATCH_CALL, size - c->call_size, size});
		put_approach(b, s->at + 1, s->at + size);
		break;
	default: /* not among those that are ordered */
		return;
	}
	vec__push(&b->c->image->live, s->at);
	vec__push(&b->c->image->springs, s->at);
}

static void put_hop(struct body *b, const struct spring *s, unsigned part)
{
	uint64_t at = part_of(s, part);

	put_short(b, at, part_of(s, part + 1), copier(b)->short_size);
	put_approach(b, at, at + copier(b)->short_size);
}

static void put_island(struct body *b, const struct spring *s)
{
	uint64_t label = copying__label(b->c, b->items.data[s->item].addr);

	put(b, (struct copy_patch){s->island, label, PATCH_JUMP, .len = copier(b)->jump_size});
	put_approach(b, s->island, s->island + copier(b)->jump_size);
}

static void put_part(struct body *b, const struct spring *s, unsigned part)
{
	if (!part)
		put_spring(b, s);
	else if (part <= s->nhops)
		put_hop(b, s, part);
	else
		put_island(b, s);
}

/* The patches of the function that was emitted last. */
void body__put_patches(struct body *b)
{
	struct copy_function *f = vec__last(&b->c->image->functions);
	const struct placed *p;
	const struct item *i;

	f->patches = b->c->image->patches.len;
	vec__each (p, &b->order)
		put_part(b, &b->springs.data[p->spring], p->part);
	f->patches_end = b->c->image->patches.len;
	/* A landing instruction is executed in front of its springboard. */
	vec__each (i, &b->items)
		if (i->flags & (ITEM_KEPT | ITEM_ALIAS))
			vec__push(&b->c->image->live, i->addr);
}
