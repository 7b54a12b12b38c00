// SPDX-License-Identifier: BSD-2-Clause
/* Copies the source lines of a plan's functions from the objects' debug information. */
#include <stdlib.h>
#include "plan/build.h"

struct taking {
	struct plan *p;
	uint32_t object;
	struct map64 seen; /* name's address -> index in line_files + 1 */
};

static uint32_t file_index(struct taking *t, const char *name)
{
	uint64_t *known = map64__put(&t->seen, (uintptr_t)name);

	for (size_t i = 0; !*known && i < t->p->line_files.len; i++)
		if (!strcmp(t->p->line_files.data[i], name))
			*known = i + 1;
	if (!*known) {
		vec__push(&t->p->line_files, xstrdup(name));
		*known = t->p->line_files.len;
	}
	return *known - 1;
}

static void take_row(void *ctx, const struct line_row *row)
{
	struct taking *t = ctx;
	struct plan_line line = {row->vaddr, t->object, 0, row->line};
	const struct plan_line *last = t->p->lines.len ? vec__last(&t->p->lines) : NULL;

	if (row->line)
		line.file = file_index(t, row->file);
	if (last && last->object == line.object && last->vaddr == line.vaddr)
		t->p->lines.len--; /* empty: the next row replaces it */
	else if (last && last->object == line.object && last->line == line.line &&
		 last->file == line.file)
		return;
	vec__push(&t->p->lines, line);
}

static int by_place(const void *a, const void *b)
{
	const struct plan_line *x = a, *y = b;

	int n = vaddr__order(x->object, x->vaddr, y->object, y->vaddr);

	/* at one address, the end of a range sorts before the start of the next */
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
			vec__push(&ranges,
				  (struct range){extent->start, extent->end - extent->start});
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
	for (t.object = 0; t.object < p->objects.len; t.object++)
		take_lines(&t);
	map64__free(&t.seen);
	lines__sort(p);
}
