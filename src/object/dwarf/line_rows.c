// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps code to source lines by debug information (DWARF, through libdw, in the sandbox). The result
 * is checked row by row. Go programs without debug information have their own table.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "object/debug/debug.h"
#include "object/golang/gopclntab.h"
#include "lines.h"

/* A row of the answer. */
struct row {
	uint64_t vaddr;
	uint32_t range; /* the index of the requested range; DAMAGED if lines can't be read */
	uint32_t line;	/* 0 if none */
	uint32_t file;	/* offset of its name in the strings */
	uint32_t discriminator;
};

#define DAMAGED UINT32_MAX

struct asked {
	const struct range *ranges;
	size_t n;
};

/* ---- in the sandbox ---- */

struct finder {
	struct line_tables tables;
	struct str rows, names;
	struct map64 seen; /* a name and its folder -> 1 + its offset in names */
};

/* Units may share a name that is relative to different folders. */
static uint32_t put_name(struct finder *f, const char *folder, const char *name)
{
	const void *key[] = {name, folder};
	uint64_t *known = map64__put(&f->seen, map64__hash(key, sizeof(key)));

	if (!*known) {
		*known = f->names.len + 1;
		debug__put_path(&f->names, folder, name);
	}
	return *known - 1;
}

static void put_row(struct finder *f, const struct line_unit *u, const struct line_place *line,
		    const char *folder, uint64_t vaddr, size_t range)
{
	struct row row = {.vaddr = vaddr, .range = range};
	const char *file = line_unit__file(u, line);

	if (line->line && file) {
		row.line = line->line;
		row.file = put_name(f, folder, file);
		row.discriminator = line->discriminator;
	}
	str__put(&f->rows, (const char *)&row, sizeof(row));
}

static void put_end(struct finder *f, uint64_t vaddr, size_t range)
{
	const struct row row = {.vaddr = vaddr, .range = range};

	str__put(&f->rows, (const char *)&row, sizeof(row));
}

static const char *folder_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
}

/* Puts the rows of a sequence for the code from vaddr on, up to end. All of these are running
 * addresses. */
static void put_sequence(struct finder *f, const struct line_sequence *s, const struct moved *m,
			 uint64_t vaddr, uint64_t end, size_t range)
{
	struct line_unit *u = line_tables__unit(&f->tables, s->unit);
	const struct line_place *row = u->rows.data + s->first, *last = row + s->n;
	const char *folder = folder_of(&u->die);

	/* of the rows at or before vaddr, the last one has its line */
	while (row + 1 < last && row[1].vaddr + m->shift <= vaddr)
		row++;
	for (; row < last && row->vaddr + m->shift < end; row++)
		put_row(f, u, row, folder, max_of(vaddr, row->vaddr + m->shift), range);
	if (s->end + m->shift < end)
		put_end(f, s->end + m->shift, range);
}

static void find_rows(struct finder *f, const struct debug_session *s, const struct range *r,
		      size_t range)
{
	const struct moved *m = debug__moved_to(s, r->vaddr);
	uint64_t at = r->vaddr, end;
	struct line_sequence found;

	if (!m)
		return;
	end = r->vaddr + min_of(r->size, m->end + m->shift - r->vaddr);
	while (at < end) {
		if (line_tables__at(&f->tables, at - m->shift, r->name, &found)) {
			put_sequence(f, &found, m, at, end, range);
			at = found.end + m->shift;
		} else {
			uint64_t next = line_tables__next(&f->tables, at - m->shift);

			at = next < end - m->shift ? next + m->shift : end;
		}
	}
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	static const struct row damaged = {.range = DAMAGED};
	const struct asked *a = ctx;
	struct finder f = {0};
	const struct line_unit *u;
	bool is_damaged = false;

	if (!debug__has_dwarf(s))
		return;
	line_tables__begin(&f.tables, s);
	for (size_t i = 0; i < a->n; i++)
		find_rows(&f, s, &a->ranges[i], i);
	vec__each (u, &f.tables.units)
		is_damaged |= u->damaged;
	if (is_damaged)
		str__put(&f.rows, (const char *)&damaged, sizeof(damaged));
	table__put(answer, &f.rows, sizeof(struct row), &f.names);
	line_tables__end(&f.tables);
	str__free(&f.rows);
	str__free(&f.names);
	map64__free(&f.seen);
}

/* ---- in bbtrace's own process ---- */

struct row_reader {
	const struct asked *asked;
	const struct table *table;
	void (*fn)(void *ctx, const struct line_row *row);
	void *ctx;
	struct row last; /* range is NO_RANGE before the first row */
	bool damaged;
};

#define NO_RANGE UINT32_MAX

static void end_range(struct row_reader *t)
{
	const struct range *r;

	if (t->last.range == NO_RANGE)
		return;
	r = &t->asked->ranges[t->last.range];
	t->fn(t->ctx, &(struct line_row){.vaddr = r->vaddr + r->size});
}

/* Returns false if this isn't valid output of the sandbox. */
static bool take_row(struct row_reader *t, const struct row *r)
{
	struct line_row row = {
		.vaddr = r->vaddr, .line = r->line, .discriminator = r->discriminator};
	bool next = t->last.range == NO_RANGE || r->range > t->last.range;

	if (r->range == DAMAGED)
		return t->damaged = true;
	if (r->range >= t->asked->n || r->line > INT32_MAX || r->file >= t->table->len ||
	    r->vaddr - t->asked->ranges[r->range].vaddr >= t->asked->ranges[r->range].size)
		return false;
	if (!next && (r->range != t->last.range || r->vaddr < t->last.vaddr))
		return false;
	if (next)
		end_range(t);
	row.file = r->line ? t->table->strings + r->file : NULL;
	t->fn(t->ctx, &row);
	t->last = *r;
	return true;
}

void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx)
{
	struct asked asked = {ranges, n};
	struct table table;
	struct row_reader t = {&asked, &table, fn, ctx, {.range = NO_RANGE}};
	struct str answer = {0};
	struct row row;

	if (!debug__try(o, find_all, &asked, &answer, "its source lines"))
		return;
	if (!table__take(&table, &answer, sizeof(row))) {
		str__free(&answer);
		if (elf__of(o) && elf__of(o)->go)
			golang__lines(o, ranges, n, fn, ctx);
		return;
	}
	debug__keep(o, answer.data);
	for (size_t i = 0; i < table.n; i++) {
		memcpy(&row, table.records + i * sizeof(row), sizeof(row));
		if (!take_row(&t, &row))
			break;
	}
	end_range(&t);
	if (t.damaged)
		note("%s: some of its debug information is damaged or takes too much memory: "
		     "continuing without those source lines",
		     o->path);
}
