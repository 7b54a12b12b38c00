// SPDX-License-Identifier: BSD-2-Clause
/* The functions that were inlined in a plan's functions, from the objects' debug information. */
#include <stdlib.h>
#include "plan/plan_private.h"

/* A range as debug information has it, including what was inlined in it. */
struct outer {
	uint64_t start, end;
	uint32_t scope, depth;
};

struct taking {
	struct plan *p;
	uint32_t object, first; /* first: the number of the object's first scope */
	struct map64 files;
	VEC(struct outer) ranges;
	VEC(uint32_t) depths; /* by scope of the object */
};

static void take_scope(void *ctx, const struct source_scope *s)
{
	struct taking *t = ctx;
	bool inlined = s->parent != NO_SCOPE;
	struct plan_scope row = {.name = s->name,
				 .raw = s->raw,
				 .object = t->object,
				 .parent = inlined ? t->first + s->parent : NO_SCOPE,
				 .line = s->line,
				 .call_line = s->call_line,
				 .call_discriminator = s->call_discriminator,
				 .entry = s->entry};

	if (s->line)
		row.file = line_files__number(t->p, &t->files, s->file);
	if (s->call_file)
		row.call_file = 1 + line_files__number(t->p, &t->files, s->call_file);
	vec__push(&t->p->scopes, row);
	vec__push(&t->depths, inlined ? t->depths.data[s->parent] + 1 : 0);
}

static void take_range(void *ctx, uint32_t scope, uint64_t start, uint64_t end)
{
	struct taking *t = ctx;

	vec__push(&t->ranges, (struct outer){start, end, t->first + scope, t->depths.data[scope]});
}

static void take_folded(void *ctx, uint32_t scope, const char *names)
{
	struct taking *t = ctx;

	t->p->scopes.data[t->first + scope].folded = names;
}

/* Inner ranges are after the outer ones that begin at the same address. */
static int by_start(const void *a, const void *b)
{
	const struct outer *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void put(struct taking *t, uint32_t scope, uint64_t start, uint64_t end)
{
	struct plan_scope_range *last =
		t->p->scope_ranges.len ? vec__last(&t->p->scope_ranges) : NULL;

	if (start >= end)
		return;
	if (last && last->object == t->object && last->end == start && last->scope == scope)
		last->end = end;
	else
		vec__push(&t->p->scope_ranges,
			  (struct plan_scope_range){start, end, t->object, scope});
}

/* Reduces each range to the addresses of which it is the innermost one: a range that begins in
 * another one ends in it. */
static void flatten(struct taking *t)
{
	VEC(struct outer) open = {0};
	uint64_t at = 0;
	struct outer *r;

	vec__sort(&t->ranges, by_start);
	vec__each (r, &t->ranges) {
		for (; open.len && vec__last(&open)->end <= r->start; open.len--) {
			put(t, vec__last(&open)->scope, at, vec__last(&open)->end);
			at = max_of(at, vec__last(&open)->end);
		}
		if (open.len) {
			put(t, vec__last(&open)->scope, at, r->start);
			r->end = min_of(r->end, vec__last(&open)->end);
		}
		at = r->start;
		vec__push(&open, *r);
	}
	for (; open.len; open.len--) {
		put(t, vec__last(&open)->scope, at, vec__last(&open)->end);
		at = max_of(at, vec__last(&open)->end);
	}
	vec__free(&open);
}

static void take_object(struct taking *t, scopes_fn read)
{
	static const struct scope_calls calls = {take_scope, take_range, take_folded};
	const struct object *o = t->p->objects.data[t->object].object;
	VEC(struct range) ranges = {0};
	const struct plan_extent *e;

	vec__each (e, &t->p->extents)
		if (e->object == t->object &&
		    !(t->p->functions.data[e->function].flags & FUNCTION_HELPER))
			vec__push(&ranges,
				  (struct range){e->start, e->end - e->start,
						 (char *)t->p->functions.data[e->function].raw});
	t->first = t->p->scopes.len;
	t->depths.len = t->ranges.len = 0;
	if (o && ranges.len)
		read(o, ranges.data, ranges.len, &calls, t);
	flatten(t);
	vec__free(&ranges);
}

static void end_taking(struct taking *t)
{
	map64__free(&t->files);
	vec__free(&t->ranges);
	vec__free(&t->depths);
}

void scopes__read(struct plan *p, scopes_fn read)
{
	struct taking t = {.p = p};

	if (p->scopes.len)
		return;
	line_files__begin(p, &t.files);
	for (t.object = 0; t.object < p->objects.len; t.object++)
		take_object(&t, read);
	end_taking(&t);
}

void scopes__read_of(struct plan *p, uint32_t object)
{
	struct taking t = {.p = p, .object = object};

	line_files__begin(p, &t.files);
	take_object(&t, object__scopes);
	end_taking(&t);
	scopes__sort(p);
}

void plan__scopes(struct plan *p)
{
	scopes__read(p, object__scopes);
}

static int by_place(const void *a, const void *b)
{
	const struct plan_scope_range *x = a, *y = b;

	return vaddr__order(x->object, x->start, y->object, y->start);
}

void scopes__sort(struct plan *p)
{
	vec__sort(&p->scope_ranges, by_place);
}

/* ---- of instructions ---- */

bool plan__source(const struct plan *p, uint32_t object, uint64_t vaddr, struct plan_frame *f)
{
	const struct plan_line *row = plan__line_at(p, object, vaddr);
	uint32_t scope = plan__scope_at(p, object, vaddr);

	*f = (struct plan_frame){.scope = scope == NO_SCOPE ? NULL : &p->scopes.data[scope]};
	if (row && row->line) {
		f->file = p->line_files.data[row->file];
		f->line = row->line;
	}
	return f->scope || f->line;
}

bool plan__source_outer(const struct plan *p, struct plan_frame *f)
{
	const struct plan_scope *s = f->scope;

	if (!s || s->parent == NO_SCOPE)
		return false;
	*f = (struct plan_frame){&p->scopes.data[s->parent],
				 s->call_file ? p->line_files.data[s->call_file - 1] : NULL,
				 s->call_line};
	return true;
}

/* ---- of blocks ---- */

/* Returns true if the row begins at the block's start or before it. */
static bool is_up_to(const struct plan_line *row, const struct plan_block *k)
{
	return row->object != k->object ? row->object < k->object : row->vaddr <= k->start;
}

/* A scope may end within a row. */
static void give_row(const struct plan *p, const struct plan_block *k, const struct plan_line *row,
		     uint64_t end, void (*fn)(void *ctx, const struct plan_piece *piece), void *ctx)
{
	struct plan_piece piece = {.row = row};

	for (uint64_t at = max_of(row->vaddr, k->start); at < end;
	     at = plan__scope_end(p, k->object, at)) {
		piece.scope = plan__scope_at(p, k->object, at);
		piece.start = at;
		fn(ctx, &piece);
	}
}

/* *next is the last row that begins at the block's start or before it, if there is one. */
void plan__each_piece(const struct plan *p, uint32_t block, size_t *next,
		      void (*fn)(void *ctx, const struct plan_piece *piece), void *ctx)
{
	const struct plan_block *k = &p->blocks.data[block];
	const struct plan_line *row, *end = vec__end(&p->lines);

	if (!p->lines.len)
		return;
	while (*next + 1 < p->lines.len && is_up_to(&p->lines.data[*next + 1], k))
		++*next;
	row = &p->lines.data[*next];
	for (row += row->object < k->object;
	     row < end && row->object == k->object && row->vaddr < k->end; row++) {
		bool last = row + 1 == end || row[1].object != k->object;

		if (row->line)
			give_row(p, k, row, last ? k->end : min_of(row[1].vaddr, k->end), fn, ctx);
	}
}
