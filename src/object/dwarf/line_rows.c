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
	struct str rows, names;
	struct map64 seen; /* a name and its folder -> 1 + its offset in names */
};

/* Returns the unit that contains vaddr. Without .debug_aranges every unit is searched. */
static Dwarf_Die *unit_at(Dwfl_Module *module, uint64_t vaddr, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, vaddr, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, vaddr - *bias) == 1)
			return unit;
	return NULL;
}

/* Returns the index of the last row at or before addr (of the unit); n if there is none. */
static size_t row_before(Dwarf_Lines *lines, size_t n, Dwarf_Addr addr)
{
	size_t low = 0, high = n;
	Dwarf_Addr at;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (!dwarf_lineaddr(dwarf_onesrcline(lines, mid), &at) && at <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : n;
}

/*
 * Returns true if the code at addr belongs to this unit, by its last row at or before addr. A
 * sequence's last row may be empty, and libdw sorts it after the sequence's end: then it is no row
 * of what follows.
 */
static bool is_of_unit(Dwarf_Die *unit, Dwarf_Lines *lines, size_t row, Dwarf_Addr addr)
{
	Dwarf_Addr at, before;
	bool ends = false;

	if (dwarf_lineaddr(dwarf_onesrcline(lines, row), &at))
		return false;
	if (at == addr && row && !dwarf_lineaddr(dwarf_onesrcline(lines, row - 1), &before) &&
	    before == addr)
		dwarf_lineendsequence(dwarf_onesrcline(lines, row - 1), &ends);
	return (at == addr && !ends) || dwarf_haspc(unit, addr) == 1 ||
	       !(dwarf_hasattr(unit, DW_AT_ranges) || dwarf_hasattr(unit, DW_AT_high_pc));
}

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

static void put_row(struct finder *f, Dwarf_Line *line, const char *folder, uint64_t vaddr,
		    size_t range)
{
	struct row row = {.vaddr = vaddr, .range = range};
	const char *file = dwarf_linesrc(line, NULL, NULL);
	unsigned discriminator;
	bool ends = false;
	int number = 0;

	if (!dwarf_lineendsequence(line, &ends) && !ends && !dwarf_lineno(line, &number) &&
	    number > 0 && file) {
		row.line = number;
		row.file = put_name(f, folder, file);
		if (!dwarf_linediscriminator(line, &discriminator))
			row.discriminator = discriminator;
	}
	str__put(&f->rows, (const char *)&row, sizeof(row));
}

static void find_rows(struct finder *f, const struct debug_session *s, const struct range *r,
		      size_t range)
{
	static const struct row damaged = {.range = DAMAGED};
	Dwarf_Addr bias, at;
	Dwarf_Lines *lines;
	const struct moved *m = debug__moved_to(s, r->vaddr);
	Dwarf_Die *unit = m ? unit_at(s->module, r->vaddr - m->shift, &bias) : NULL;
	const char *folder;
	Dwarf_Attribute attr;
	uint64_t end;
	size_t n, i;

	if (!unit || !dwarf_hasattr(unit, DW_AT_stmt_list))
		return;
	if (dwarf_getsrclines(unit, &lines, &n)) {
		str__put(&f->rows, (const char *)&damaged, sizeof(damaged));
		return;
	}
	bias += m->shift;
	end = min_of(r->vaddr + r->size, m->end + m->shift);
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	i = row_before(lines, n, r->vaddr - bias);
	if (i < n && !is_of_unit(unit, lines, i, r->vaddr - bias))
		return;
	for (uint64_t from = r->vaddr; i < n; i++, from = 0) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(line, &at) || at + bias >= end)
			break;
		put_row(f, line, folder, max_of(from, at + bias), range);
	}
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	const struct asked *a = ctx;
	struct finder f = {0};

	if (!debug__has_dwarf(s))
		return;
	for (size_t i = 0; i < a->n; i++)
		find_rows(&f, s, &a->ranges[i], i);
	table__put(answer, &f.rows, sizeof(struct row), &f.names);
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
