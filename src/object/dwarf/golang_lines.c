// SPDX-License-Identifier: BSD-2-Clause
/* Source lines of a Go program without debug information: the runtime's table has them for
 * tracebacks. For an inlined call, the line is that of the inlined function. */
#include <stdlib.h>
#include "object/golang/gopclntab.h"
#include "lines.h"

/* Iterates over ranges of code with the same file and line. */
struct walk {
	const struct go_table *t;
	struct go_function fn;
	struct go_values files, lines;
	uint64_t start, end; /* of the row, from the function's start */
};

static struct walk walk__start(const struct go_table *t, const struct go_function *fn)
{
	struct walk w = {.t = t, .fn = *fn};

	w.files = go_values__start(t, fn, fn->files);
	w.lines = go_values__start(t, fn, fn->lines);
	return w;
}

static bool walk__next(struct walk *w)
{
	w->start = w->end;
	if (w->files.end <= w->start && !go_values__next(&w->files))
		return false;
	if (w->lines.end <= w->start && !go_values__next(&w->lines))
		return false;
	w->end = min_of(w->files.end, w->lines.end);
	return true;
}

/* ---- FILE:LINE ---- */

struct search {
	struct line_search *s;
	const struct go_table *t;
	/* a path's address -> 1: not the requested file, 2: the requested file */
	struct map64 files;
};

static bool is_file(struct search *h, const struct walk *w)
{
	const char *path = go_table__file(h->t, &w->fn, w->files.value);
	uint64_t *known = path ? map64__put(&h->files, (uintptr_t)path) : NULL;

	if (known && !*known)
		*known = 1 + lines__is_file(h->s, path);
	return known && *known == 2;
}

static bool starts_inlined(const struct go_table *t, const struct go_function *fn)
{
	struct go_values v = go_values__start(t, fn, fn->inlining);

	return go_values__next(&v) && v.value >= 0;
}

static void put_function(struct search *h, const struct go_function *fn)
{
	answer__put(h->s->answer, ANSWER_FUNCTION, fn->vaddr, go_function__size(h->t, fn));
	answer__put_name(h->s->answer, fn->name);
	h->s->found++;
}

/* By the function's declaration; in older tables, by the line of its first instruction. */
static bool is_declared(struct search *h, const struct walk *first)
{
	if (first->fn.start_line && (int)first->fn.start_line == h->s->line)
		return true;
	return first->lines.value == h->s->line;
}

static void look_at(struct search *h, const struct go_function *fn)
{
	struct walk w = walk__start(h->t, fn);

	while (walk__next(&w)) {
		if (!is_file(h, &w))
			continue;
		h->s->file_known = true;
		if (!w.start && !starts_inlined(h->t, fn) && is_declared(h, &w))
			put_function(h, fn);
		if (w.lines.value == h->s->line)
			lines__add_row(h->s, fn->vaddr + w.start, fn->vaddr + w.end);
		else
			lines__note_near(h->s, w.lines.value);
	}
}

void golang__search_line(struct line_search *s, struct str *answer)
{
	struct search h = {.s = s, .t = elf__of(s->o)->go};
	struct go_function fn;

	str__clear(answer);
	s->answer = answer;
	for (uint64_t i = 0; i < h.t->nfunctions; i++)
		if (go_table__function(h.t, i, &fn))
			look_at(&h, &fn);
	if (s->file_known)
		answer__put(answer, ANSWER_FILE, s->below, s->above);
	if (!s->found)
		lines__put_rows(s);
	vec__free(&s->rows);
	map64__free(&h.files);
}

/* ---- the lines of code ---- */

struct rows {
	const struct go_table *t;
	const struct range *range;
	uint64_t next; /* lower bound of the next row's start */
	void (*fn)(void *ctx, const struct line_row *row);
	void *ctx;
};

static uint64_t end_of(const struct range *r)
{
	return r->vaddr + r->size;
}

/* Passes on the row from the end of the last one up to end. */
static void put_row(struct rows *r, uint64_t end, const char *file, int32_t line)
{
	struct line_row row = {.vaddr = r->next};

	if (end <= r->next || r->next >= end_of(r->range))
		return;
	if (file && line > 0) {
		row.file = file;
		row.line = line;
	}
	r->fn(r->ctx, &row);
	r->next = end;
}

static void put_function_rows(struct rows *r, const struct go_function *fn)
{
	struct walk w = walk__start(r->t, fn);

	put_row(r, fn->vaddr, NULL, 0);
	while (r->next < end_of(r->range) && walk__next(&w))
		put_row(r, fn->vaddr + w.end, go_table__file(r->t, fn, w.files.value),
			w.lines.value);
}

static void put_range(struct rows *r)
{
	uint64_t i = go_table__at(r->t, r->range->vaddr);
	struct go_function fn;

	r->next = r->range->vaddr;
	for (i = i == r->t->nfunctions ? 0 : i; r->next < end_of(r->range); i++) {
		if (!go_table__function(r->t, i, &fn))
			break;
		put_function_rows(r, &fn);
	}
	put_row(r, end_of(r->range), NULL, 0);
	r->fn(r->ctx, &(struct line_row){.vaddr = end_of(r->range)});
}

void golang__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx)
{
	struct rows r = {.t = elf__of(o)->go, .fn = fn, .ctx = ctx};

	for (r.range = ranges; r.range < ranges + n; r.range++)
		put_range(&r);
}
