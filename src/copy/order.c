// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order in which a function's patches are written. Their writer may be killed between any two
 * writes, and then the function is executed: threads that reach a point without a springboard run
 * on in the original. So after each write no path leads from a point into the middle of overwritten
 * bytes. What is in one page is written at once.
 */
#include <stdlib.h>
#include "copy/copying.h"

struct chunk {
	uint64_t start, end;
	uint32_t spring;
	uint8_t part; /* as in struct placed */
	bool written;
	bool tried; /* it is to be written next */
};
typedef VEC(struct chunk) chunk_vec;

/* ---- the chunks ---- */

static int by_start(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static unsigned size_of(const struct body *b, const struct spring *s)
{
	const struct arch_copier *c = b->c->arch->copier;

	switch (s->kind) {
	case PATCH_SHORT:
		return s->punned ? 1 : c->short_size;
	case PATCH_CALL:
		return (unsigned)(item__next(&b->items.data[s->call]) - s->at);
	default:
		return c->jump_size;
	}
}

/* Returns the chunks, ascending. */
static chunk_vec find_chunks(const struct body *b)
{
	const unsigned jump = b->c->arch->copier->jump_size, hop = b->c->arch->copier->short_size;
	const struct spring *s;
	chunk_vec v = {0};

	vec__each (s, &b->springs) {
		uint32_t n = s - b->springs.data;

		if (s->kind == SPRING_LEFT)
			continue;
		vec__push(&v, ((struct chunk){s->at, s->at + size_of(b, s), n}));
		if (s->kind != PATCH_SHORT)
			continue;
		for (unsigned k = 0; k < s->nhops; k++)
			vec__push(&v, ((struct chunk){s->hops[k], s->hops[k] + hop, n, k + 1}));
		vec__push(&v, ((struct chunk){s->island, s->island + jump, n, s->nhops + 1}));
	}
	vec__sort(&v, by_start);
	return v;
}

/* Returns the page of a patch. A patch that crosses pages gets a number of its own, since it is
 * written by itself. */
static uint64_t page_of(uint64_t start, uint64_t end)
{
	return body__in_page(start, end - start) ? start / LOG_PAGE : start | 1ull << 63;
}

/* ---- whether the function is correct at this point ---- */

static bool is_there(const struct chunk *p)
{
	return p->written || p->tried;
}

struct walk {
	const struct body *b;
	const chunk_vec *chunks;
	const uint32_t *first; /* by item: the first chunk that ends after its start */
	uint8_t *seen;
	uint8_t *lacks; /* by springboard: how many of its parts are not there */
	id_vec todo;
};

/* A punned springboard is right once that is there whose first byte is its distance. */
static void count_distances(struct walk *w)
{
	const struct spring *s;
	const struct chunk *p;

	vec__each (s, &w->b->springs) {
		if (!s->punned)
			continue;
		vec__each (p, w->chunks)
			if (p->spring + 1 == s->distance_of && !p->part)
				w->lacks[s - w->b->springs.data] += !is_there(p);
	}
}

static void count_lacking(struct walk *w)
{
	const struct chunk *p;

	vec__each (p, w->chunks)
		w->lacks[p->spring] += !is_there(p);
	if (w->b->puns)
		count_distances(w);
}

enum meets { MEETS_NOTHING, MEETS_SPRING, MEETS_MIDDLE };
/* What a thread finds that reaches the bytes of an item: a springboard only if all that it leads
 * to is there. */
static enum meets meets(const struct walk *w, const struct item *item)
{
	uint64_t start = item->addr, end = item__next(item);
	const chunk_vec *v = w->chunks;

	for (size_t i = w->first[item - w->b->items.data]; i < v->len && v->data[i].start < end;
	     i++) {
		const struct chunk *p = &v->data[i];

		if (is_there(p))
			return p->start == start && !p->part && !w->lacks[p->spring] ? MEETS_SPRING
										     : MEETS_MIDDLE;
	}
	return MEETS_NOTHING;
}

static void visit(struct walk *w, const struct item *i)
{
	uint32_t n = i ? i - w->b->items.data : 0;

	if (!i || w->seen[n])
		return;
	w->seen[n] = true;
	vec__push(&w->todo, n);
}

static void go_on(struct walk *w, const struct item *i)
{
	if (i->flags & (ITEM_KEPT | ITEM_EMULATED))
		return;
	if (i->flags & ITEM_FALLS)
		visit(w, body__next(w->b, i));
	visit(w, body__target(w->b, i));
}

/* Returns true if the function is correct with the chunks that are written or tried. */
static bool is_right(const struct body *b, const chunk_vec *chunks, const uint32_t *first)
{
	autofree uint8_t *seen = xcalloc(b->items.len + 1, 1);
	autofree uint8_t *lacks = xcalloc(b->springs.len + 1, 1);
	struct walk w = {b, chunks, first, seen, lacks, {0}};
	const struct item *i;
	bool right = true;

	count_lacking(&w);
	vec__each (i, &b->items)
		if (i->flags & ITEM_POINT)
			visit(&w, i);
	while (right && w.todo.len) {
		i = &b->items.data[w.todo.data[--w.todo.len]];
		switch (meets(&w, i)) {
		case MEETS_NOTHING:
			go_on(&w, i);
			break;
		case MEETS_MIDDLE:
			right = false;
			break;
		case MEETS_SPRING:
			break;
		}
	}
	vec__free(&w.todo);
	return right;
}

/* ---- the order ---- */

/* The chunks of a function while their order is made. */
struct ordering {
	struct body *b;
	chunk_vec chunks;
	uint32_t *first; /* as in struct walk */
};

static uint32_t *find_first(const struct body *b, const chunk_vec *v)
{
	uint32_t *first = xcalloc(b->items.len + 1, sizeof(*first)), at = 0;

	for (size_t k = 0; k < b->items.len; k++) {
		while (at < v->len && v->data[at].end <= b->items.data[k].addr)
			at++;
		first[k] = at;
	}
	return first;
}

#define ALL_SPRINGS UINT32_MAX
/* Writes these chunks, or those of one springboard among them, if that is right. */
static bool try(struct ordering *o, size_t from, size_t end, uint32_t spring)
{
	chunk_vec *v = &o->chunks;
	bool right;

	for (size_t i = from; i < end; i++)
		v->data[i].tried = !v->data[i].written &&
				   (spring == ALL_SPRINGS || v->data[i].spring == spring);
	right = is_right(o->b, v, o->first);
	for (size_t i = from; i < end; i++) {
		struct chunk *p = &v->data[i];

		if (right && p->tried) {
			p->written = true;
			vec__push(&o->b->order, ((struct placed){p->spring, p->part}));
		}
		p->tried = false;
	}
	return right;
}

static size_t end_of_page(const chunk_vec *v, size_t from)
{
	size_t end = from;

	while (end < v->len && page_of(v->data[end].start, v->data[end].end) ==
				       page_of(v->data[from].start, v->data[from].end))
		end++;
	return end;
}

/* Writes some chunks of the page, as many as is possible: what a springboard has there, or one. */
static bool try_some(struct ordering *o, size_t from, size_t end)
{
	bool any = false;

	for (size_t i = from; i < end; i++) {
		const struct chunk *p = &o->chunks.data[i];

		if (!p->written && o->b->springs.data[p->spring].kind == PATCH_SHORT)
			any |= try(o, from, end, p->spring);
		if (!p->written)
			any |= try(o, i, i + 1, ALL_SPRINGS);
	}
	return any;
}

static bool is_written(const chunk_vec *v, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (!v->data[i].written)
			return false;
	return true;
}

/* Writes whole pages as long as that is possible, else chunks of them. Returns false if nothing
 * more may be written. */
static bool write_more(struct ordering *o)
{
	const chunk_vec *v = &o->chunks;
	bool any = false;
	size_t end;

	for (size_t from = 0; from < v->len; from = end) {
		end = end_of_page(v, from);
		if (!is_written(v, from, end))
			any |= try(o, from, end, ALL_SPRINGS);
	}
	for (size_t from = 0; !any && from < v->len; from = end) {
		end = end_of_page(v, from);
		any = try_some(o, from, end);
	}
	return any;
}

static void avoid_islands(struct body *b, const chunk_vec *v)
{
	const struct chunk *p;

	vec__each (p, v)
		if (!p->written && p->part > b->springs.data[p->spring].nhops &&
		    b->hints.navoid < HINTS_MAX)
			b->hints.avoid[b->hints.navoid++] = p->start;
}

enum copy_refusal body__order(struct body *b)
{
	struct ordering o = {.b = b, .chunks = find_chunks(b)};
	bool more = true;

	o.first = find_first(b, &o.chunks);
	b->order.len = 0;
	while (more && !is_written(&o.chunks, 0, o.chunks.len))
		more = write_more(&o);
	if (!more)
		avoid_islands(b, &o.chunks);
	vec__free(&o.chunks);
	free(o.first);
	return more ? COPY_OK : COPY_STEPS;
}

/* ---- of all functions ---- */

static uint64_t page_of_patch(const struct copy_image *i, size_t patch)
{
	const struct copy_patch *p = &i->patches.data[patch];

	return page_of(p->vaddr, p->vaddr + p->len);
}

/* A function, and the index of its next patch. */
struct next {
	uint64_t page;
	size_t at, end;
};
typedef VEC(struct next) next_vec;

static int by_page(const void *a, const void *b)
{
	const struct next *x = a, *y = b;

	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Adds the function's next patch, and the following ones in the same page. */
static void put_next(struct copy_image *i, struct next *n)
{
	for (; n->at < n->end && page_of_patch(i, n->at) == n->page; n->at++)
		vec__push(&i->order, (uint32_t)n->at);
}

/* Advances all functions by a page at a time until none has patches any more. */
static void order(struct copy_image *i, size_t from, size_t end)
{
	next_vec todo = {0};
	struct next *n;
	size_t left;

	for (size_t k = from; k < end; k++) {
		const struct copy_function *f = &i->functions.data[k];

		if (f->patches < f->patches_end)
			vec__push(&todo, ((struct next){page_of_patch(i, f->patches), f->patches,
							f->patches_end}));
	}
	while (todo.len) {
		vec__sort(&todo, by_page);
		vec__each (n, &todo)
			put_next(i, n);
		left = 0;
		vec__each (n, &todo)
			if (n->at < n->end)
				todo.data[left++] =
					(struct next){page_of_patch(i, n->at), n->at, n->end};
		todo.len = left;
	}
	vec__free(&todo);
}

/* What was copied in the second round may have islands in functions of the first one: those
 * functions have to be patched before. */
void copying__order(struct copying *c)
{
	struct copy_image *i = c->image;

	order(i, 0, c->later);
	order(i, c->later, i->functions.len);
}
