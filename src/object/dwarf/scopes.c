// SPDX-License-Identifier: BSD-2-Clause
/* The functions of the source that code belongs to, and their inlined copies, by debug information
 * (DWARF, through libdw, in the sandbox). The result is checked row by row. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include "object/debug/debug.h"
#include "dies.h"
#include "dwarf.h"

#define AT_GNU_discriminator 0x2136 /* of binutils, include/dwarf2.def */

/* A row of the answer: a scope, or a range of the scope before it. */
struct row {
	uint64_t start, end;	  /* of a scope: where control enters it, and 0 */
	uint32_t parent;	  /* of a scope: the number of an earlier one, or NO_SCOPE */
	uint32_t name, raw, file; /* offsets in the strings; NONE */
	uint32_t line, call_file, call_line, call_discriminator;
	uint32_t is_range;
};
#define NONE UINT32_MAX

struct asked {
	const struct range *ranges;
	size_t n;
};

/* ---- in the sandbox ---- */

struct finder {
	const struct asked *asked;
	const struct debug_session *session;
	struct str rows, names;
	struct map64 seen; /* a name and its folder -> 1 + its offset in names */
	Dwarf_Addr bias;
	Dwarf_Off walked; /* the last DIE of the unit that was visited */
	uint32_t scopes;
};

/* folder: for a path, where the compiler was started; NULL if not known, or if it is no path */
static uint32_t put_once(struct finder *f, const char *name, bool path, const char *folder)
{
	const void *key[] = {name, folder};
	uint64_t *known;

	if (!name)
		return NONE;
	known = map64__put(&f->seen, map64__hash(key, sizeof(key)));
	if (!*known) {
		*known = f->names.len + 1;
		if (path)
			debug__put_path(&f->names, folder, name);
		else
			str__put(&f->names, name, strlen(name) + 1);
	}
	return *known - 1;
}

static uint32_t put_name(struct finder *f, const char *name)
{
	return put_once(f, name, false, NULL);
}

/* By the first asked range that ends after addr. */
static bool is_asked(const struct finder *f, uint64_t start, uint64_t end)
{
	size_t low = 0, high = f->asked->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct range *r = &f->asked->ranges[mid];

		if (r->vaddr + r->size <= start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->asked->n && f->asked->ranges[low].vaddr < end;
}

/* Returns false if it isn't known where this code runs. */
static bool to_running(const struct finder *f, Dwarf_Addr *start, Dwarf_Addr *end)
{
	const struct moved *m = debug__moved_from(f->session, *start + f->bias);

	if (!m)
		return false;
	*start += f->bias + m->shift;
	*end = min_of(*end + f->bias, m->end) + m->shift;
	return true;
}

static bool has_asked_code(const struct finder *f, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (to_running(f, &start, &end) && is_asked(f, start, end))
			return true;
	return false;
}

static uint32_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) && value < UINT32_MAX
		       ? value
		       : 0;
}

/* Puts the file that an attribute names by its number in its unit's table, which begins with 1
 * before DWARF 5. The unit may be another one than the DIE's: that of what was inlined. */
static uint32_t put_file(struct finder *f, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr, dir;
	Dwarf_Half version;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (version < 5 && !index) || dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return NONE;
	return put_once(f, dwarf_filesrc(files, index, NULL, NULL), true,
			dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &dir)));
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name ? name
		    : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
}

static void put_ranges(struct finder *f, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct row row = {.is_range = true};

		if (start >= end || !to_running(f, &start, &end))
			continue;
		row.start = start;
		row.end = end;
		str__put(&f->rows, (const char *)&row, sizeof(row));
	}
}

/* Returns its number. */
static uint32_t put_scope(struct finder *f, Dwarf_Die *die, uint32_t parent)
{
	struct row row = {.parent = parent,
			  .name = put_name(f, dwarf_diename(die)),
			  .raw = put_name(f, linkage_name(die)),
			  .file = put_file(f, die, DW_AT_decl_file),
			  .call_file = put_file(f, die, DW_AT_call_file),
			  .call_line = number(die, DW_AT_call_line),
			  .call_discriminator = number(die, AT_GNU_discriminator)};
	Dwarf_Addr pc, end = 0;
	int line;

	if (!dwarf_entrypc(die, &pc) && to_running(f, &pc, &end))
		row.start = pc;
	if (row.file != NONE && !dwarf_decl_line(die, &line) && line > 0)
		row.line = line;
	str__put(&f->rows, (const char *)&row, sizeof(row));
	put_ranges(f, die);
	return f->scopes++;
}

static void walk(struct finder *f, Dwarf_Die *die, uint32_t scope, unsigned depth)
{
	int tag = dwarf_tag(die);
	Dwarf_Die child;

	f->walked = dwarf_dieoffset(die);
	if (tag == DW_TAG_subprogram)
		scope = NO_SCOPE; /* also within another scope */
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		if (!has_asked_code(f, die))
			return;
		scope = put_scope(f, die, scope);
	}
	if (depth < DIE_DEPTH && dwarf_child(die, &child) == 0)
		do
			walk(f, &child, scope, depth + 1);
		while (die__next_after(&child, f->walked));
}

/* A unit may have no ranges. */
static bool may_have_asked_code(const struct finder *f, Dwarf_Die *unit)
{
	return has_asked_code(f, unit) ||
	       !(dwarf_hasattr(unit, DW_AT_ranges) || dwarf_hasattr(unit, DW_AT_high_pc));
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	struct finder f = {.asked = ctx, .session = s};
	Dwarf_Die *unit = NULL;

	if (!debug__has_dwarf(s))
		return;
	while ((unit = dwfl_module_nextcu(s->module, unit, &f.bias))) {
		if (!may_have_asked_code(&f, unit))
			continue;
		walk(&f, unit, NO_SCOPE, 0);
	}
	table__put(answer, &f.rows, sizeof(struct row), &f.names);
	str__free(&f.rows);
	str__free(&f.names);
	map64__free(&f.seen);
}

/* ---- in bbtrace's own process ---- */

/*
 * The symbols of functions whose scopes have no linkage name: gcc writes none for those of C++ that
 * are not global, so their names may be those of others. by_place is keyed by the place of the
 * declaration, for inlined copies, which have no symbol.
 */
struct symbols {
	const struct object *o;
	const struct table *table;
	/* place -> the symbol's name; AMBIGUOUS if the functions of that place have several. */
	struct map64 by_place;
};
#define AMBIGUOUS 1

static uint64_t place_of(const struct row *r)
{
	uint32_t key[] = {r->file, r->line, r->name};

	return map64__hash(key, sizeof(key));
}

static const char *kept(const struct object *o, char *name)
{
	debug__keep(o, name);
	return name;
}

/* Returns the symbol's name without what marks a clone: ".part.0". */
static const char *symbol_of(const struct object *o, uint64_t vaddr)
{
	for (size_t i = object__symbols_from(o, vaddr);
	     i < o->symbols.len && o->symbols.data[i].vaddr == vaddr; i++) {
		const char *name = o->symbols.data[i].name, *dot = strchr(name, '.');

		if (!name__is_mangled(name))
			continue;
		return dot ? kept(o, xstrndup(name, dot - name)) : name;
	}
	return NULL;
}

static void find_symbols(struct symbols *s)
{
	for (size_t i = 0; i < s->table->n; i++) {
		const char *name;
		uint64_t *known;
		struct row row;

		memcpy(&row, s->table->records + i * sizeof(row), sizeof(row));
		if (row.is_range || row.parent != NO_SCOPE || row.raw != NONE || !row.line ||
		    !(name = symbol_of(s->o, row.start)))
			continue;
		known = map64__put(&s->by_place, place_of(&row));
		if (!*known)
			*known = (uintptr_t)name;
		else if (*known != AMBIGUOUS && strcmp((const char *)(uintptr_t)*known, name) != 0)
			*known = AMBIGUOUS;
	}
}

/* gcc's linkage name of an inlined constructor or destructor is that of all its variants, C4 or D4;
 * the symbol of its code is C2, D2. */
static const char *of_variant(const struct object *o, const char *name)
{
	for (const char *p = name; (p = strpbrk(p, "CD")); p++) {
		autofree char *own = NULL, *all = NULL;
		char *variant;
		bool same;

		if (p[1] != '4' || (p[2] != 'E' && p[2] != 'I'))
			continue;
		variant = xstrdup(name);
		variant[p + 1 - name] = '2';
		all = name__demangle(name, DEMANGLE_FULL);
		own = name__demangle(variant, DEMANGLE_FULL);
		same = all && own && !strcmp(all, own);
		if (same)
			return kept(o, variant);
		free(variant);
	}
	return name;
}

static const char *raw_name(const struct symbols *s, const struct row *r)
{
	const char *name = r->raw == NONE ? NULL : of_variant(s->o, s->table->strings + r->raw);
	uint64_t *known;

	if (!name && r->parent == NO_SCOPE)
		name = symbol_of(s->o, r->start);
	if (name || !r->line)
		return name;
	known = map64__get(&s->by_place, place_of(r));
	return known && *known != AMBIGUOUS ? (const char *)(uintptr_t)*known : NULL;
}

static bool is_name(const struct table *t, uint32_t name)
{
	return name == NONE || name < t->len;
}

static const char *name_of(const struct table *t, uint32_t name)
{
	return name == NONE ? NULL : t->strings + name;
}

/* Returns false if this isn't valid output of the sandbox. *n is the number of scopes so far. */
static bool take_row(const struct symbols *s, const struct row *r, uint32_t *n,
		     const struct scope_calls *calls, void *ctx)
{
	const struct table *t = s->table;

	if (r->is_range) {
		if (!*n || r->start >= r->end)
			return false;
		calls->range(ctx, *n - 1, r->start, r->end);
		return true;
	}
	if ((r->parent != NO_SCOPE && r->parent >= *n) || !is_name(t, r->name) ||
	    !is_name(t, r->raw) || !is_name(t, r->file) || !is_name(t, r->call_file) ||
	    r->line > INT32_MAX || r->call_line > INT32_MAX || (r->line && r->file == NONE))
		return false;
	calls->scope(ctx, &(struct source_scope){.name = name_of(t, r->name),
						 .raw = raw_name(s, r),
						 .file = name_of(t, r->file),
						 .line = r->line,
						 .parent = r->parent,
						 .call_file = name_of(t, r->call_file),
						 .call_line = r->call_line,
						 .call_discriminator = r->call_discriminator,
						 .entry = r->start});
	++*n;
	return true;
}

void object__scopes(const struct object *o, const struct range *ranges, size_t n,
		    const struct scope_calls *calls, void *ctx)
{
	struct asked asked = {ranges, n};
	struct str answer = {0};
	struct table table;
	struct symbols symbols = {.o = o, .table = &table};
	uint32_t scopes = 0;
	struct row row;

	if (!debug__try(o, find_all, &asked, &answer, "what was inlined"))
		return;
	if (!table__take(&table, &answer, sizeof(row))) {
		str__free(&answer);
		return;
	}
	debug__keep(o, answer.data);
	find_symbols(&symbols);
	for (size_t i = 0; i < table.n; i++) {
		memcpy(&row, table.records + i * sizeof(row), sizeof(row));
		if (!take_row(&symbols, &row, &scopes, calls, ctx))
			break;
	}
	map64__free(&symbols.by_place);
}
