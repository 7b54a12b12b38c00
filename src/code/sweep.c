// SPDX-License-Identifier: BSD-2-Clause
/*
 * The linear sweep, which confirms instruction starts independently: it decodes consecutive
 * instructions between those that flow reaches.
 */
#include "code/code.h"

static const struct range *range_of(const struct graph *g, uint32_t function, uint64_t addr)
{
	const struct range *r;

	vec__each (r, &g->functions.data[function].f.ranges)
		if (addr - r->vaddr < r->size)
			return r;
	return NULL;
}

static bool reached(struct graph *g, uint64_t addr, uint64_t *end)
{
	uint32_t i = graph__known(g, addr);

	if (!i || !(g->nodes.data[i].flags & NODE_REACHED))
		return false;
	*end = node__next(&g->nodes.data[i]);
	return true;
}

/* Returns the end of the last reached instruction that starts before addr; the range's start if
 * there is none. */
static uint64_t sure_before(struct graph *g, const struct range *r, uint64_t addr)
{
	uint64_t end;

	while (addr-- > r->vaddr)
		if (reached(g, addr, &end))
			return end;
	return r->vaddr;
}

/* Caches the result, since adjacent addresses are usually queried next. */
static void remember(struct graph *g, uint64_t from, uint64_t to)
{
	while (from < to) {
		struct node *n = &g->nodes.data[graph__known(g, from)];

		n->flags |= NODE_SWEPT;
		from = pool__after(g, node__next(n), to);
	}
}

bool sweep__is_past_prefix(struct graph *g, uint32_t outer, uint32_t inner)
{
	const struct node *o = &g->nodes.data[outer], *i = &g->nodes.data[inner];
	size_t avail;
	const uint8_t *bytes = object__bytes(g->object, o->addr, &avail);

	if (node__next(o) != node__next(i))
		return false;
	for (uint64_t at = o->addr; at < i->addr; at++)
		if (!g->arch->is_prefix || !g->arch->is_prefix(bytes[at - o->addr]))
			return false;
	return true;
}

/* Returns true if a reached instruction starts within this one, other than the same one without a
 * prefix. */
static bool is_contradicted(struct graph *g, uint32_t i)
{
	uint64_t addr = g->nodes.data[i].addr, end = node__next(&g->nodes.data[i]), unused;

	for (uint64_t inside = addr + 1; inside < end; inside++)
		if (reached(g, inside, &unused) &&
		    !sweep__is_past_prefix(g, i, graph__known(g, inside)))
			return true;
	return false;
}

/* Returns true if the sweep from addr meets an instruction that flow has reached, or ends at the
 * range's end. */
static bool agrees(struct graph *g, const struct range *r, uint64_t addr)
{
	uint64_t from = addr;

	while (addr < r->vaddr + r->size) {
		uint32_t i = graph__node(g, addr);

		if (!i)
			return false;
		if (g->nodes.data[i].flags & (NODE_REACHED | NODE_SWEPT))
			break;
		if (is_contradicted(g, i))
			return false;
		addr = pool__after(g, node__next(&g->nodes.data[i]), r->vaddr + r->size);
	}
	if (addr > r->vaddr + r->size)
		return false;
	remember(g, from, addr);
	return true;
}

bool sweep__is_start_in(struct graph *g, const struct range *r, uint64_t addr, uint64_t *before,
			uint64_t *after)
{
	uint64_t pos, end;

	*before = *after = addr;
	if (g->nodes.data[graph__known(g, addr)].flags & (NODE_REACHED | NODE_SWEPT))
		return true;
	pos = sure_before(g, r, addr);
	if (pos > addr) { /* inside of a reached instruction */
		*after = pos;
		while (!reached(g, --*before, &end))
			;
		return false;
	}
	*before = pos = pool__after(g, pos, addr);
	while (pos < addr) {
		uint32_t i = graph__node(g, pos);

		*before = pos;
		if (!i)
			return false;
		pos = pool__after(g, node__next(&g->nodes.data[i]), addr);
	}
	*after = pos;
	return pos == addr && agrees(g, r, addr);
}

bool sweep__is_start(struct graph *g, uint32_t function, uint64_t addr, uint64_t *before,
		     uint64_t *after)
{
	const struct range *r = range_of(g, function, addr);

	*before = *after = addr;
	return r && sweep__is_start_in(g, r, addr, before, after);
}

/* Adds the parts of [pos, end) that are not padding. */
static void add_gaps(struct graph *g, uint64_t pos, uint64_t end, gap_vec *out)
{
	struct gap *last = NULL;

	while (pos < end) {
		uint32_t i = graph__node(g, pos);
		uint64_t next = min_of(pos + (i ? g->nodes.data[i].len : g->arch->alignment), end);

		if (pool__holds(g, pos)) {
			last = NULL;
			next = pool__after(g, pos, end);
		} else if (i && g->nodes.data[i].padding) {
			last = NULL;
		} else {
			last = last ? last : vec__add(out);
			last->start = last->end ? last->start : pos;
			last->end = next;
		}
		pos = next;
	}
}

void sweep__gaps(struct graph *g, uint64_t start, uint64_t end, gap_vec *out)
{
	uint64_t covered = start;
	uint32_t i;

	for (uint64_t addr = start; (i = graph__next_reached(g, &addr, end)); addr++) {
		uint64_t next = node__next(&g->nodes.data[i]);

		if (addr > covered)
			add_gaps(g, covered, addr, out);
		covered = max_of(covered, next);
	}
	if (covered < end)
		add_gaps(g, covered, end, out);
}
