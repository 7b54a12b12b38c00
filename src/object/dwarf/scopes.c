// SPDX-License-Identifier: BSD-2-Clause
/* The functions of the source that code belongs to, and their inlined copies, by debug information
 * (DWARF, through libdw, in the sandbox). The result is checked row by row. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include "object/debug/debug.h"
#include "dies.h"
#include "dwarf.h"
#include "folded.h"

#define AT_GNU_discriminator 0x2136 /* of binutils, include/dwarf2.def */

/* A row of the answer: a scope; a range of the scope before it; or, after all of them, a function
 * that has the code of the scope at .start, too. */
enum row_kind {
	ROW_SCOPE,
	ROW_RANGE,
	ROW_FOLDED,
};
struct row {
	uint64_t start, end;	  /* of a scope: where control enters it, and 0 */
	uint32_t parent;	  /* of a scope: the number of an earlier one, or NO_SCOPE */
	uint32_t name, raw, file; /* offsets in the strings; NONE */
	uint32_t line, call_file, call_line, call_discriminator;
	uint32_t kind;
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
	Dwarf_Die *unit;
	Dwarf_Addr bias;
	Dwarf_Off walked; /* the last DIE of the unit that was visited */
	uint32_t scopes;
	VEC(uint32_t) roots; /* by scope: the function that it is, or was inlined in */
	struct folded_owners owners;
	VEC(struct address_range)
	code; /* the function's ranges, from first on; then those of functions in it */
	size_t first;
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

/* Returns false if the program doesn't have this code, or if it isn't known where it runs. A
 * compiler may have left nothing of what it has inlined. */
static bool to_running(const struct finder *f, Dwarf_Addr *start, Dwarf_Addr *end)
{
	uint64_t last = max_of(*start + 1, *end) + f->bias;
	const struct moved *m = debug__moved_from(f->session, *start + f->bias);

	if (!m || !debug__has_code(f->session, *start + f->bias, last))
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

static uint32_t put_file(struct finder *f, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute dir;
	Dwarf_Die of;
	const char *file = die__file(die, name, f->unit, &of);

	return file ? put_once(f, file, true,
			       dwarf_formstring(dwarf_attr_integrate(&of, DW_AT_comp_dir, &dir)))
		    : NONE;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name ? name
		    : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
}

static void put_range(struct finder *f, uint64_t start, uint64_t end)
{
	const struct row row = {.kind = ROW_RANGE, .start = start, .end = end};

	str__put(&f->rows, (const char *)&row, sizeof(row));
}

/* Code that was inlined is in the function: other ranges are what a cleared address plus an offset
 * is. */
static bool is_in_function(const struct finder *f, uint64_t start, uint64_t end)
{
	for (size_t i = f->first; i < f->code.len; i++)
		if (start >= f->code.data[i].start && end <= f->code.data[i].end)
			return true;
	return false;
}

static void put_ranges(struct finder *f, Dwarf_Die *die, bool inlined)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end || !to_running(f, &start, &end) ||
		    (inlined && !is_in_function(f, start, end)))
			continue;
		if (!inlined)
			vec__push(&f->code, (struct address_range){start, end});
		put_range(f, start, end);
	}
}

/* Puts a scope without its ranges. Returns its number. */
static uint32_t put_scope(struct finder *f, Dwarf_Die *die, uint32_t parent, uint64_t entry)
{
	struct row row = {.parent = parent,
			  .start = entry,
			  .name = put_name(f, dwarf_diename(die)),
			  .raw = put_name(f, linkage_name(die)),
			  .file = put_file(f, die, DW_AT_decl_file),
			  .call_file = put_file(f, die, DW_AT_call_file),
			  .call_line = number(die, DW_AT_call_line),
			  .call_discriminator = number(die, AT_GNU_discriminator)};
	int line;

	if (row.file != NONE && !dwarf_decl_line(die, &line) && line > 0)
		row.line = line;
	str__put(&f->rows, (const char *)&row, sizeof(row));
	vec__push(&f->roots, parent == NO_SCOPE ? f->scopes : f->roots.data[parent]);
	return f->scopes++;
}

static uint64_t entry_of(const struct finder *f, Dwarf_Die *die)
{
	Dwarf_Addr pc, end;

	if (dwarf_entrypc(die, &pc))
		return 0;
	end = pc + 1;
	return to_running(f, &pc, &end) ? pc : 0;
}

/* Returns the function's number, or NO_SCOPE if it has no code that is asked for, or none of its
 * own. */
static uint32_t take_function(struct finder *f, Dwarf_Die *die)
{
	struct folded_function fn;
	uint64_t entry, size;
	uint32_t scope;

	if (!folded__describe(die, f->bias, f->session, &fn))
		return NO_SCOPE;
	folded_owners__claim(&f->owners, &fn);
	if (!fn.entry) {
		if (!folded_owners__find_entry(&f->owners, &fn, &entry, &size) ||
		    !folded_owners__take(&f->owners, &fn, entry, f->scopes))
			return NO_SCOPE;
		/* what was inlined in it is not known */
		put_scope(f, die, NO_SCOPE, entry);
		put_range(f, entry, entry + size);
		return NO_SCOPE;
	}
	if (!has_asked_code(f, die) || !folded_owners__take(&f->owners, &fn, fn.entry, f->scopes))
		return NO_SCOPE;
	scope = put_scope(f, die, NO_SCOPE, entry_of(f, die));
	f->first = f->code.len;
	put_ranges(f, die, false);
	return scope;
}

static uint32_t take_inlined(struct finder *f, Dwarf_Die *die, uint32_t parent)
{
	uint32_t scope;

	if (!has_asked_code(f, die))
		return NO_SCOPE;
	scope = put_scope(f, die, parent, entry_of(f, die));
	put_ranges(f, die, true);
	return scope;
}

static void walk(struct finder *f, Dwarf_Die *die, uint32_t scope, unsigned depth)
{
	size_t first = f->first, n = f->code.len;
	int tag = dwarf_tag(die);
	Dwarf_Die child;

	f->walked = dwarf_dieoffset(die);
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		/* a function may also be within another scope */
		scope = tag == DW_TAG_subprogram ? take_function(f, die)
						 : take_inlined(f, die, scope);
		if (scope == NO_SCOPE)
			return;
	}
	if (depth < DIE_DEPTH && dwarf_child(die, &child) == 0)
		do
			walk(f, &child, scope, depth + 1);
		while (die__next_after(&child, f->walked));
	f->first = first;
	f->code.len = n;
}

/* Drops the functions that turned out to have the code of others, and numbers the scopes again. */
static void drop_folded(struct finder *f)
{
	autofree VEC(uint32_t) numbers = {0};
	struct row *row, *to = (struct row *)f->rows.data, *last;
	uint32_t scope = 0, n = 0;
	bool keep = false;

	if (!folded_owners__changed(&f->owners) || !to)
		return;
	last = to + f->rows.len / sizeof(*to);
	for (row = to; row < last; row++) {
		if (row->kind == ROW_SCOPE) {
			keep = !folded_owners__is_replaced(&f->owners, f->roots.data[scope++]);
			vec__push(&numbers, n);
			n += keep;
		}
		if (!keep)
			continue;
		*to = *row;
		if (to->kind == ROW_SCOPE && to->parent != NO_SCOPE)
			to->parent = numbers.data[to->parent];
		to++;
	}
	f->rows.len = (char *)to - f->rows.data;
}

static void put_folded(void *ctx, uint64_t entry, const struct folded_function *fn)
{
	struct finder *f = ctx;
	const struct row row = {.kind = ROW_FOLDED,
				.start = entry,
				.name = put_name(f, fn->name),
				.raw = put_name(f, fn->linkage),
				.file = NONE,
				.call_file = NONE};

	str__put(&f->rows, (const char *)&row, sizeof(row));
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
	Dwarf_Die *unit = NULL, whole;

	if (!debug__has_dwarf(s))
		return;
	folded_owners__begin(&f.owners, s, f.asked->ranges, f.asked->n);
	while ((unit = dwfl_module_nextcu(s->module, unit, &f.bias))) {
		if (!may_have_asked_code(&f, unit))
			continue;
		f.unit = unit;
		whole = unit__whole(unit);
		walk(&f, &whole, NO_SCOPE, 0);
	}
	drop_folded(&f);
	folded_owners__each_other(&f.owners, put_folded, &f);
	table__put(answer, &f.rows, sizeof(struct row), &f.names);
	folded_owners__end(&f.owners);
	vec__free(&f.code);
	vec__free(&f.roots);
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
		if (row.kind != ROW_SCOPE || row.parent != NO_SCOPE || row.raw != NONE ||
		    !row.line || !(name = symbol_of(s->o, row.start)))
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

/* ---- taking the answer ---- */

struct taking {
	struct symbols symbols;
	const struct scope_calls *calls;
	void *ctx;
	uint32_t scopes;	/* so far */
	struct map64 functions; /* entry -> 1 + the scope's number */
	uint64_t entry;		/* of the functions in folded */
	struct str folded;	/* their names, a line each */
};

static void give_folded(struct taking *t)
{
	uint64_t *known = t->folded.len ? map64__get(&t->functions, t->entry) : NULL;

	if (known && t->calls->folded)
		t->calls->folded(t->ctx, *known - 1,
				 kept(t->symbols.o, xstrndup(t->folded.data, t->folded.len)));
	t->folded.len = 0;
}

static bool take_folded(struct taking *t, const struct row *r)
{
	const struct table *table = t->symbols.table;
	autofree char *shown = NULL;
	const char *name;

	if (!is_name(table, r->name) || !is_name(table, r->raw))
		return false;
	name = name_of(table, r->raw == NONE ? r->name : r->raw);
	shown = name ? name__demangle(name, DEMANGLE_FULL) : NULL;
	if (r->start != t->entry)
		give_folded(t);
	t->entry = r->start;
	if (!name)
		return true;
	if (t->folded.len)
		str__putc(&t->folded, '\n');
	str__shown(&t->folded, shown ? shown : name);
	return true;
}

static bool take_scope(struct taking *t, const struct row *r)
{
	const struct table *table = t->symbols.table;

	if ((r->parent != NO_SCOPE && r->parent >= t->scopes) || !is_name(table, r->name) ||
	    !is_name(table, r->raw) || !is_name(table, r->file) || !is_name(table, r->call_file) ||
	    r->line > INT32_MAX || r->call_line > INT32_MAX || (r->line && r->file == NONE))
		return false;
	t->calls->scope(t->ctx, &(struct source_scope){.name = name_of(table, r->name),
						       .raw = raw_name(&t->symbols, r),
						       .file = name_of(table, r->file),
						       .line = r->line,
						       .parent = r->parent,
						       .call_file = name_of(table, r->call_file),
						       .call_line = r->call_line,
						       .call_discriminator = r->call_discriminator,
						       .entry = r->start});
	t->scopes++;
	if (r->parent == NO_SCOPE && t->calls->folded)
		*map64__put(&t->functions, r->start) = t->scopes;
	return true;
}

/* Returns false if this isn't valid output of the sandbox. */
static bool take_row(struct taking *t, const struct row *r)
{
	if (r->kind == ROW_FOLDED)
		return take_folded(t, r);
	if (r->kind == ROW_SCOPE)
		return take_scope(t, r);
	if (!t->scopes || r->start >= r->end)
		return false;
	t->calls->range(t->ctx, t->scopes - 1, r->start, r->end);
	return true;
}

void object__scopes(const struct object *o, const struct range *ranges, size_t n,
		    const struct scope_calls *calls, void *ctx)
{
	struct asked asked = {ranges, n};
	struct str answer = {0};
	struct table table;
	struct taking t = {.symbols = {.o = o, .table = &table}, .calls = calls, .ctx = ctx};
	struct row row;

	if (!debug__try(o, find_all, &asked, &answer, "what was inlined"))
		return;
	if (!table__take(&table, &answer, sizeof(row))) {
		str__free(&answer);
		return;
	}
	debug__keep(o, answer.data);
	find_symbols(&t.symbols);
	for (size_t i = 0; i < table.n; i++) {
		memcpy(&row, table.records + i * sizeof(row), sizeof(row));
		if (!take_row(&t, &row))
			break;
	}
	give_folded(&t);
	map64__free(&t.symbols.by_place);
	map64__free(&t.functions);
	str__free(&t.folded);
}
