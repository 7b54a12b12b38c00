// SPDX-License-Identifier: BSD-2-Clause
/* Names and source lines of the frames of a core dump, with the functions that were inlined
 * there. */
#include "core.h"

/* ---- names ---- */

/* Returns an address within the instruction that the frame is in: a call is before its return
 * address. */
static uint64_t code_of(const struct core_frame *f)
{
	return f->pc - f->calls;
}

static void name(const struct core *c, const struct core_frame *f, struct core_place *p)
{
	const struct symbol *symbol;
	uint64_t vaddr;

	p->at.addr = f->pc;
	p->of = core__find(c, code_of(f), &vaddr);
	/* where its segments are isn't known: only the address is shown */
	if (!p->of || !p->of->object)
		return;
	p->at.object = p->of->path;
	p->at.vaddr = vaddr + f->calls;
	symbol = object__symbol_at(p->of->object, vaddr);
	if (!symbol)
		return;
	p->at.symbol = symbol__show(p->of->object, symbol)->shown;
	p->at.offset = p->at.vaddr - symbol->vaddr;
}

/* ---- lines ---- */

struct scope {
	struct source_scope s;
	VEC(struct range) ranges;
};

struct lines {
	VEC(struct range) ranges;
	VEC(struct line_row) rows;
	VEC(struct scope) scopes;
};

static int by_vaddr(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static void on_row(void *ctx, const struct line_row *row)
{
	struct lines *l = ctx;

	vec__push(&l->rows, *row);
}

static void on_scope(void *ctx, const struct source_scope *s)
{
	struct lines *l = ctx;

	vec__add(&l->scopes)->s = *s;
}

static void on_range(void *ctx, uint32_t scope, uint64_t start, uint64_t end)
{
	struct lines *l = ctx;

	if (scope < l->scopes.len)
		vec__push(&l->scopes.data[scope].ranges,
			  (struct range){.vaddr = start, .size = end - start});
}

static bool has(const struct scope *s, uint64_t vaddr)
{
	const struct range *r;

	vec__each (r, &s->ranges)
		if (vaddr - r->vaddr < r->size)
			return true;
	return false;
}

static uint32_t innermost(const struct lines *l, uint64_t vaddr)
{
	uint32_t found = NO_SCOPE;

	for (uint32_t i = 0; i < l->scopes.len; i++)
		if (has(&l->scopes.data[i], vaddr))
			found = i;
	return found;
}

static char *scope_name(const struct source_scope *s)
{
	char *own = s->raw ? name__demangle(s->raw, DEMANGLE_NAME) : NULL;

	return own ? own : s->name ? xstrdup(s->name) : s->raw ? xstrdup(s->raw) : NULL;
}

static void add_lines(const struct lines *l, uint64_t vaddr, struct core_place *p)
{
	struct core_line line = {0};
	const struct line_row *row;
	uint32_t scope = innermost(l, vaddr);

	vec__each (row, &l->rows)
		if (row->vaddr == vaddr && row->line) {
			line.file = row->file;
			line.line = row->line;
		}
	for (; scope < l->scopes.len; scope = l->scopes.data[scope].s.parent) {
		const struct source_scope *s = &l->scopes.data[scope].s;

		line.function = scope_name(s);
		line.inlined = s->parent != NO_SCOPE;
		vec__push(&p->lines, line);
		line = (struct core_line){.file = s->call_file, .line = s->call_line};
		if (s->parent != NO_SCOPE && s->parent >= scope)
			break;
	}
	if (!p->lines.len)
		vec__push(&p->lines, line);
}

static void read_lines(const struct core *c, const struct core_file *f, struct core_place *places)
{
	static const struct scope_calls calls = {on_scope, on_range, NULL};
	struct lines l = {0};
	struct scope *s;

	for (size_t i = 0; i < c->frames.len; i++)
		if (places[i].of == f)
			vec__push(&l.ranges, (struct range){.vaddr = places[i].at.vaddr -
								     c->frames.data[i].calls,
							    .size = 1});
	if (!l.ranges.len)
		return;
	vec__sort(&l.ranges, by_vaddr);
	for (size_t i = 1, n = l.ranges.len, to = 0; i <= n; i++) {
		if (i == n)
			l.ranges.len = to + 1;
		else if (l.ranges.data[i].vaddr != l.ranges.data[to].vaddr)
			l.ranges.data[++to] = l.ranges.data[i];
	}
	object__lines(f->object, l.ranges.data, l.ranges.len, on_row, &l);
	object__scopes(f->object, l.ranges.data, l.ranges.len, &calls, &l);
	for (size_t i = 0; i < c->frames.len; i++)
		if (places[i].of == f)
			add_lines(&l, places[i].at.vaddr - c->frames.data[i].calls, &places[i]);
	vec__each (s, &l.scopes)
		vec__free(&s->ranges);
	vec__free(&l.ranges);
	vec__free(&l.rows);
	vec__free(&l.scopes);
}

struct core_place *core_places__new(const struct core *c, bool lines)
{
	struct core_place *places = xcalloc(c->frames.len + 1, sizeof(*places));
	const struct core_file *f;

	for (size_t i = 0; i < c->frames.len; i++)
		name(c, &c->frames.data[i], &places[i]);
	vec__each (f, &c->files)
		if (lines && f->object)
			read_lines(c, f, places);
	return places;
}

void core_places__free(struct core_place *p, const struct core *c)
{
	for (size_t i = 0; p && i < c->frames.len; i++) {
		struct core_line *l;

		vec__each (l, &p[i].lines)
			free(l->function);
		vec__free(&p[i].lines);
	}
	free(p);
}
