// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the control flow of one object's functions, all at once or in batches. Starts that are
 * not those of functions are proved first.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan/build.h"

/* A function to plan. */
struct member {
	const struct function *function;
	uint64_t at, size; /* of the code to follow for it */
	uint32_t batch;
	bool inner; /* its start needs a proof */
};

static void add_planned(struct following *w, const struct member *m)
{
	struct function copy;
	uint32_t i;

	function__copy(&copy, m->function);
	i = graph__add_function(w->g, &copy);
	w->g->functions.data[i].plan = m->function - w->functions->data;
	w->g->functions.data[i].batch = m->batch;
}

/* ---- where a function may begin ---- */

/* Does it start at a symbol or an FDE? Then its start needs no proof. */
static bool has_own_start(const struct function *f)
{
	const struct symbol *s;
	struct function around;
	bool own;

	if (f->flags & FUNCTION_RANGE)
		return false;
	/* an offset inside of a symbol has the symbol's name, too */
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

/* Adds the function around a start that needs a proof: it is decoded, but gets no sites. entries:
 * the graph's functions by entry. */
static void add_around(struct graph *g, const struct member *m, struct map64 *entries)
{
	const struct function *f = m->function;
	const struct range *r;
	struct function around;
	uint32_t i;

	vec__each (r, &f->ranges) {
		if (!function__around(f->object, r->vaddr, &around))
			continue;
		if (map64__get(entries, around.entry)) {
			function__free(&around);
			continue;
		}
		map64__put(entries, around.entry);
		around.flags = FUNCTION_HIDDEN;
		i = graph__add_function(g, &around);
		g->functions.data[i].batch = m->batch;
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

/* Does a function, or a part of it, start at addr? Then the start needs no proof. */
static bool begins_at(const struct graph *g, uint32_t function, uint64_t addr)
{
	const struct range *r;

	vec__each (r, &g->functions.data[function].f.ranges)
		if (r->vaddr == addr && !r->offset)
			return true;
	return false;
}

/* Are there bytes in the range that flow hasn't reached and that aren't padding? */
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

static int add_inner(struct following *w, const struct member *m)
{
	const struct function *f = m->function;
	struct graph *g = w->g;
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
	add_planned(w, m);
	vec__each (r, &f->ranges) {
		split_at(g, r->vaddr);
		split_at(g, r->vaddr + r->size);
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

/* Where its code is: that of the function around it, if that one is followed. */
static void locate(struct member *m)
{
	struct function around;

	m->at = m->function->ranges.len ? m->function->ranges.data[0].vaddr : m->function->entry;
	m->size = size_of(m->function);
	if (!m->inner || !function__around(m->function->object, m->at, &around))
		return;
	m->at = around.entry;
	m->size = size_of(&around);
	function__free(&around);
}

/* The batch that takes so many more bytes of code: the last one, unless that has too many then. */
static uint32_t batch_for(struct following *w, uint64_t size)
{
	if (w->size && w->most && w->size + size > w->most) {
		w->batches++;
		w->size = 0;
	}
	w->size += size;
	return w->batches;
}

static void end_batch(struct following *w)
{
	w->batches++;
	w->size = 0;
}

/*
 * From the last one to the first: in this order a graph of all would follow them, and a cold part
 * that several functions share belongs to the first one that leads there. What is followed for
 * several members stays together.
 */
static void cut(struct following *w)
{
	struct map64 around = {0};

	for (size_t i = w->members.len; i--;) {
		struct member *m = &w->members.data[i];
		uint64_t *known = m->inner ? map64__put(&around, m->at) : NULL;

		m->batch = known && *known ? *known - 1 : batch_for(w, m->size);
		if (known)
			*known = m->batch + 1;
	}
	end_batch(w);
	map64__free(&around);
}

static void add_members(struct following *w)
{
	const struct function *f;

	vec__each (f, w->functions) {
		struct member m = {.function = f};

		if (f->object != w->g->object)
			continue;
		m.inner = !has_own_start(f);
		locate(&m);
		vec__push(&w->members, m);
	}
}

void following__init(struct following *w, struct graph *g, const function_vec *functions,
		     uint64_t most)
{
	const struct member *m;
	struct map64 entries;

	*w = (struct following){.g = g, .functions = functions, .most = most};
	add_members(w);
	cut(w);
	vec__each (m, &w->members)
		if (!m->inner)
			add_planned(w, m);
	entries = entries_of(g);
	vec__each (m, &w->members)
		if (m->inner)
			add_around(g, m, &entries);
	map64__free(&entries);
}

void following__free(struct following *w)
{
	vec__free(&w->members);
}

int following__follow(struct following *w, uint32_t batch)
{
	const struct member *m;
	bool inner = false;
	int err;

	graph__begin_batch(w->g, batch);
	graph__start(w->g);
	graph__follow(w->g);
	vec__each (m, &w->members) {
		if (!m->inner || m->batch != batch)
			continue;
		err = add_inner(w, m);
		if (err)
			return err;
		inner = true;
	}
	if (inner) {
		graph__start(w->g);
		graph__follow(w->g);
	}
	return 0;
}

void following__repeat(struct following *w, const bool *again)
{
	struct graph_function *f;

	vec__each (f, &w->g->functions) {
		if (f->plan == NO_FUNCTION || !again[f->plan])
			continue;
		f->batch = batch_for(w, size_of(&f->f));
		f->started = false;
		f->seeded = 0;
	}
	end_batch(w);
}
