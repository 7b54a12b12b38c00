// SPDX-License-Identifier: BSD-2-Clause
/* Follows the control flow of one object's functions, all at once or in batches. A start that isn't
 * a function's is proved first. */
#include <errno.h>
#include <stdlib.h>
#include "plan/plan_private.h"

static uint32_t add_planned(struct following *w, const struct function *f)
{
	struct function copy;
	uint32_t i;

	function__copy(&copy, f);
	i = graph__add_function(w->g, &copy);
	w->g->functions.data[i].plan = f - w->functions->data;
	return i;
}

/* ---- where a function may begin ---- */

/* Returns true if the function starts at a symbol or an FDE. Then its start needs no proof. */
static bool has_own_start(const struct function *f)
{
	const struct symbol *s;
	struct function around;
	bool own;

	if (f->flags & FUNCTION_RANGE)
		return false;
	/* An offset inside of a symbol has the symbol's name, too. */
	s = f->raw ? object__symbol_at(f->object, f->entry) : NULL;
	if ((s && s->vaddr == f->entry) || !function__around(f->object, f->entry, &around))
		return true;
	own = around.entry == f->entry;
	function__free(&around);
	return own;
}

static int not_a_start(uint64_t addr, uint64_t before, uint64_t after)
{
	return err__set(EINVAL,
			"address 0x%llx is not at an instruction boundary; the nearest are 0x%llx "
			"and 0x%llx",
			(unsigned long long)addr, (unsigned long long)before,
			(unsigned long long)after);
}

static struct map64 entries_of(const struct graph *g)
{
	const struct graph_function *f;
	struct map64 entries = {0};

	vec__each (f, &g->functions)
		if (!(f->f.flags & FUNCTION_RANGE))
			map64__put(&entries, f->f.entry);
	return entries;
}

/* Adds the function around a start that needs a proof: it is decoded, but gets no sites. entries
 * has the graph's functions by entry. */
static void add_around(struct graph *g, const struct function *f, struct map64 *entries)
{
	const struct range *r;
	struct function around;

	vec__each (r, &f->ranges) {
		if (!function__around(f->object, r->vaddr, &around))
			continue;
		if (map64__get(entries, around.entry)) {
			function__free(&around);
			continue;
		}
		map64__put(entries, around.entry);
		around.flags = FUNCTION_HIDDEN;
		graph__add_function(g, &around);
	}
}

/* Ends a block before the first instruction at or after addr. A range may end within an
 * instruction, which then belongs to the range. Instructions have at most 15 bytes. */
static void split_at(struct graph *g, uint64_t addr)
{
	for (unsigned at = 0; at < 15; at++) {
		uint32_t i = graph__known(g, addr + at);

		if (!i || !(g->nodes.data[i].flags & NODE_REACHED))
			continue;
		g->nodes.data[i].flags |= NODE_LEADER;
		return;
	}
}

/* Returns true if a function, or a part of one, starts at addr. Then the start needs no proof. */
static bool begins_at(const struct graph *g, uint32_t function, uint64_t addr)
{
	const struct range *r;

	vec__each (r, &g->functions.data[function].f.ranges)
		if (r->vaddr == addr && !r->offset)
			return true;
	return false;
}

/* Returns true if there are bytes in the range that flow hasn't reached and that aren't padding. */
static bool has_unreached(struct graph *g, const struct range *r)
{
	gap_vec gaps = {0};
	bool any;

	sweep__gaps(g, r->vaddr, r->vaddr + r->size, &gaps);
	any = gaps.len;
	vec__free(&gaps);
	return any;
}

/* Padding after a function is not code. */
static int prove_start(struct graph *g, const struct range *r)
{
	uint32_t around = graph__owner(g, r->vaddr), i;
	uint64_t before, after;

	if (around == NO_FUNCTION && has_unreached(g, r))
		return err__set(EINVAL, "address 0x%llx is in no function that is known",
				(unsigned long long)r->vaddr);
	if (around == NO_FUNCTION)
		return 0;
	if (!begins_at(g, around, r->vaddr) &&
	    !sweep__is_start(g, around, r->vaddr, &before, &after))
		return not_a_start(r->vaddr, before, after);
	i = graph__node(g, r->vaddr);
	if (i && !(g->nodes.data[i].flags & NODE_REACHED))
		graph__root(g, r->vaddr, NODE_UNKNOWN_SP);
	return 0;
}

/* Proves the start of a range, or of a function that starts within another one, and lets it take
 * part. */
static int wake(struct graph *g, struct graph_function *inner)
{
	const struct function *f = &inner->f;
	const struct range *r;
	int err;

	vec__each (r, &f->ranges) {
		if (r != f->ranges.data && !(f->flags & FUNCTION_RANGE))
			break;
		err = prove_start(g, r);
		if (err)
			return err;
	}
	if (g->work.len)
		graph__follow(g);
	inner->dormant = false;
	g->indexed = false;
	vec__each (r, &f->ranges) {
		split_at(g, r->vaddr);
		split_at(g, r->vaddr + r->size);
	}
	return 0;
}

static int wake_inner(struct following *w)
{
	struct graph *g = w->g;
	bool any = false;
	int err;

	for (size_t i = 0; i < g->functions.len; i++) {
		if (!g->functions.data[i].dormant || !graph__in_batch(g, i))
			continue;
		err = wake(g, &g->functions.data[i]);
		if (err)
			return err;
		any = true;
	}
	if (any) {
		graph__start(g);
		graph__follow(g);
	}
	return 0;
}

/* ---- batches ---- */

static uint64_t size_of(const struct function *f)
{
	const struct range *r;
	uint64_t size = 0;

	vec__each (r, &f->ranges)
		size += r->size;
	return size;
}

/* Returns the batch that takes size more bytes of code: the last one, unless that would get too
 * many. */
static uint32_t batch_for(struct following *w, uint64_t size)
{
	if (w->size && w->most && w->size + size > w->most) {
		w->batches++;
		w->size = 0;
	}
	w->size += size;
	return w->batches;
}

/* Puts groups of functions into new batches: those that are set in which, by group, or all if that
 * is NULL. */
static void cut(struct following *w, const bool *which)
{
	struct graph *g = w->g;
	size_t n = g->functions.len;
	autofree uint64_t *size = xcalloc(n + 1, sizeof(*size));
	autofree uint32_t *batch = xcalloc(n + 1, sizeof(*batch));

	for (size_t i = 0; i < n; i++)
		size[graph__group(g, i)] += size_of(&g->functions.data[i].f);
	for (size_t i = 0; i < n; i++) {
		uint32_t group = graph__group(g, i);

		if (which && !which[group])
			continue;
		if (!batch[group])
			batch[group] = 1 + batch_for(w, size[group]);
		graph__repeat(g, i, batch[group] - 1);
	}
	w->batches++;
	w->size = 0;
}

static void add_all(struct following *w)
{
	VEC(const struct function *) inner = {0};
	const struct function *f, **in;
	struct map64 entries;

	vec__each (f, w->functions) {
		if (f->object != w->g->object)
			continue;
		if (has_own_start(f))
			add_planned(w, f);
		else
			vec__push(&inner, f);
	}
	entries = entries_of(w->g);
	vec__each (in, &inner)
		add_around(w->g, *in, &entries);
	vec__each (in, &inner) {
		uint32_t i = add_planned(w, *in);

		w->g->functions.data[i].inner = true;
	}
	map64__free(&entries);
	vec__free(&inner);
}

void following__init(struct following *w, struct graph *g, const function_vec *functions,
		     uint64_t most)
{
	*w = (struct following){.g = g, .functions = functions, .most = most};
	add_all(w);
	if (most)
		graph__join_overlapping(g);
	cut(w, NULL);
	g->batched = w->batches > 1;
}

int following__follow(struct following *w, uint32_t batch)
{
	graph__begin_batch(w->g, batch);
	graph__start(w->g);
	graph__follow(w->g);
	return wake_inner(w);
}

/* Sets the groups of which not all functions were followed in the same batch. */
static bool find_scattered(struct graph *g, bool *groups)
{
	bool any = false;

	for (uint32_t i = 0; i < g->functions.len; i++) {
		uint32_t group = graph__group(g, i);

		if (g->functions.data[i].batch != g->functions.data[group].batch)
			groups[group] = any = true;
	}
	return any;
}

bool following__repeat(struct following *w, bool *again)
{
	struct graph *g = w->g;
	autofree bool *groups = xcalloc(g->functions.len + 1, sizeof(*groups));

	if (!find_scattered(g, groups))
		return false;
	for (uint32_t i = 0; i < g->functions.len; i++) {
		const struct graph_function *f = &g->functions.data[i];

		if (f->plan != NO_FUNCTION)
			again[f->plan] = groups[graph__group(g, i)];
	}
	cut(w, groups);
	return true;
}
