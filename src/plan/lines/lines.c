// SPDX-License-Identifier: BSD-2-Clause
/* Copies the source lines of a plan's functions from the objects' debug information. */
#include <stdlib.h>
#include "plan/plan_private.h"

struct taking {
	struct plan *p;
	uint32_t object;
	struct map64 files;
};

static uint64_t hash(const char *name)
{
	return map64__hash(name, strlen(name));
}

void line_files__begin(const struct plan *p, struct map64 *numbers)
{
	for (size_t i = p->line_files.len; i-- > 0;)
		*map64__put(numbers, hash(p->line_files.data[i])) = i + 1;
}

uint32_t line_files__number(struct plan *p, struct map64 *numbers, const char *name)
{
	uint64_t *known = map64__put(numbers, hash(name));

	if (*known && !strcmp(p->line_files.data[*known - 1], name))
		return *known - 1;
	for (size_t i = 0; *known && i < p->line_files.len; i++) /* another file with this hash */
		if (!strcmp(p->line_files.data[i], name))
			return i;
	vec__push(&p->line_files, xstrdup(name));
	*known = *known ? *known : p->line_files.len;
	return p->line_files.len - 1;
}

static void take_row(void *ctx, const struct line_row *row)
{
	struct taking *t = ctx;
	struct plan_line line = {row->vaddr, t->object, 0, row->line, row->discriminator};
	const struct plan_line *last = t->p->lines.len ? vec__last(&t->p->lines) : NULL;

	if (row->line)
		line.file = line_files__number(t->p, &t->files, row->file);
	if (last && last->object == line.object && last->vaddr == line.vaddr)
		t->p->lines.len--; /* empty, so the next row replaces it */
	else if (last && last->object == line.object && last->line == line.line &&
		 last->file == line.file && last->discriminator == line.discriminator)
		return;
	vec__push(&t->p->lines, line);
}

static int by_place(const void *a, const void *b)
{
	const struct plan_line *x = a, *y = b;

	int n = vaddr__order(x->object, x->vaddr, y->object, y->vaddr);

	/* At the same address, the end of a range sorts before the start of the next one. */
	return n ? n : (x->line != 0) - (y->line != 0);
}

static void drop_doubles(struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->lines.len; i++) {
		const struct plan_line *next = i + 1 < p->lines.len ? &p->lines.data[i + 1] : NULL;

		if (!next || next->object != p->lines.data[i].object ||
		    next->vaddr != p->lines.data[i].vaddr)
			p->lines.data[n++] = p->lines.data[i];
	}
	p->lines.len = n;
}

/* Takes all lines of an object together, so that its debug information is read once. */
static void take_lines(struct taking *t)
{
	const struct object *o = t->p->objects.data[t->object].object;
	const struct plan_extent *extent;
	VEC(struct range) ranges = {0};

	vec__each (extent, &t->p->extents)
		if (extent->object == t->object &&
		    !(t->p->functions.data[extent->function].flags & FUNCTION_HELPER))
			vec__push(
				&ranges,
				(struct range){extent->start, extent->end - extent->start,
					       (char *)t->p->functions.data[extent->function].raw});
	if (o && ranges.len)
		object__lines(o, ranges.data, ranges.len, take_row, t);
	vec__free(&ranges);
}

void lines__sort(struct plan *p)
{
	vec__sort(&p->lines, by_place);
	drop_doubles(p);
}

void plan__lines(struct plan *p)
{
	struct taking t = {.p = p};

	if (p->lines.len)
		return;
	line_files__begin(p, &t.files);
	for (t.object = 0; t.object < p->objects.len; t.object++)
		take_lines(&t);
	map64__free(&t.files);
	lines__sort(p);
}

void plan__read_source(struct plan *p, uint32_t object, bool lines, bool scopes, bool variables)
{
	struct taking t = {.p = p, .object = object};

	line_files__begin(p, &t.files);
	if (lines)
		take_lines(&t);
	map64__free(&t.files);
	lines__sort(p);
	if (scopes)
		scopes__read_of(p, object);
	if (variables && p->tests)
		variables__read_of(p, object);
}
