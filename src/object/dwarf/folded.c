// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that share code. Linkers that fold identical code (--icf) keep the line tables of all
 * of the functions; gold also keeps their DIEs' addresses, and lld clears those. The copies of an
 * inline function in several units all refer to the one that was kept. Runs in the sandbox.
 */
#include <dwarf.h>
#include <stdlib.h>
#include "dies.h"
#include "folded.h"

static const char *linkage_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name ? name
		    : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
}

/* Returns NULL if it has no name. */
static const char *name_in_symbols(const struct folded_function *f)
{
	return f->linkage ? f->linkage : f->name;
}

bool folded__describe(Dwarf_Die *die, Dwarf_Addr bias, const struct debug_session *s,
		      struct folded_function *out)
{
	Dwarf_Addr entry;
	int line;

	if (dwarf_tag(die) != DW_TAG_subprogram ||
	    !(dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)))
		return false;
	*out = (struct folded_function){.name = dwarf_diename(die), .linkage = linkage_of(die)};
	if (!dwarf_decl_line(die, &line) && line > 0)
		out->line = line;
	if (die__entry(die, &entry) && debug__has_code(s, entry + bias, entry + bias + 1))
		out->entry = entry + bias;
	return true;
}

/* ---- units ---- */

struct walk {
	struct folded_unit *u;
	const struct debug_session *session;
	Dwarf_Die *unit;
	Dwarf_Addr bias;
	Dwarf_Off walked;
};

/* Functions within functions are in their blocks. */
static void walk(struct walk *w, Dwarf_Die *die, unsigned depth)
{
	struct folded_function f;
	Dwarf_Die child, of;

	w->walked = dwarf_dieoffset(die);
	if (folded__describe(die, w->bias, w->session, &f)) {
		f.file = die__file(die, DW_AT_decl_file, w->unit, &of);
		vec__push(&w->u->functions, f);
	}
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine || depth >= DIE_DEPTH ||
	    dwarf_child(die, &child))
		return;
	do
		walk(w, &child, depth + 1);
	while (die__next_after(&child, w->walked));
}

void folded_unit__read(struct folded_unit *u, Dwarf_Die *unit, Dwarf_Addr bias,
		       const struct debug_session *s)
{
	struct walk w = {.u = u, .session = s, .unit = unit, .bias = bias};
	Dwarf_Die whole;

	if (u->read)
		return;
	u->read = true;
	whole = unit__whole(unit);
	walk(&w, &whole, 0);
}

void folded_unit__free(struct folded_unit *u)
{
	vec__free(&u->functions);
	u->read = false;
}

/* ---- names ---- */

/* Constructors and destructors have several symbols for one function of the source. */
static bool is_same_function(const char *a, const char *b)
{
	autofree char *x = NULL, *y = NULL;

	if (!a || !b)
		return a == b;
	if (!strcmp(a, b))
		return true;
	if (strncmp(a, "_Z", 2) != 0 || strncmp(b, "_Z", 2) != 0)
		return false;
	x = name__demangle(a, DEMANGLE_FULL);
	y = name__demangle(b, DEMANGLE_FULL);
	return x && y && !strcmp(x, y);
}

/* gcc writes no linkage name for functions of C++ that aren't global. */
static bool is_last_part(const char *symbol, const char *name)
{
	autofree char *shown = name__demangle(symbol, DEMANGLE_NAME);
	size_t len = shown ? strlen(shown) : 0, want = strlen(name);

	return shown && len >= want && !strcmp(shown + len - want, name) &&
	       (len == want || shown[len - want - 1] == ':');
}

static bool is_named(const struct folded_function *f, const char *symbol)
{
	const char *dot = *symbol ? strchr(symbol + 1, '.') : NULL;
	autofree char *plain = dot ? xstrndup(symbol, dot - symbol) : xstrdup(symbol);

	if (f->linkage)
		return is_same_function(f->linkage, plain);
	if (!f->name)
		return false;
	return !strcmp(f->name, plain) || (name__is_mangled(plain) && is_last_part(plain, f->name));
}

enum folded_fit folded__fit(const struct folded_function *f, uint64_t entry, const char *symbol)
{
	bool code = f->entry && f->entry == entry;

	if (f->entry && !code)
		return FOLDED_OTHER;
	if (symbol && is_named(f, symbol))
		return code ? FOLDED_EXACT : FOLDED_NAME;
	return code ? FOLDED_CODE : FOLDED_OTHER;
}

const char *folded__listed(const struct debug_session *s, uint64_t entry)
{
	const struct symbol *found = s->moved ? NULL : object__symbol_at(s->object, entry);

	return found && found->vaddr == entry ? found->name : NULL;
}

/* ---- owners ---- */

/* The symbol's name without what marks a clone. */
static uint64_t hash_of(const char *symbol)
{
	return map64__hash(symbol, *symbol ? 1 + strcspn(symbol + 1, ".") : 0);
}

static bool is_shared(const struct object *o, uint64_t vaddr)
{
	size_t i = object__symbols_from(o, vaddr);

	return i + 1 < o->symbols.len && o->symbols.data[i + 1].vaddr == vaddr;
}

static void add_aliases(struct folded_owners *w, uint64_t vaddr)
{
	const struct object *o = w->session->object;

	for (size_t i = object__symbols_from(o, vaddr);
	     i < o->symbols.len && o->symbols.data[i].vaddr == vaddr; i++)
		*map64__put(&w->by_alias, hash_of(o->symbols.data[i].name)) = vaddr;
}

void folded_owners__begin(struct folded_owners *w, const struct debug_session *s,
			  const struct range *ranges, size_t n)
{
	*w = (struct folded_owners){.session = s, .ranges = ranges};
	for (size_t i = 0; i < n && !s->moved; i++) {
		const char *name = ranges[i].name;

		if (!name)
			continue;
		*map64__put(&w->names, ranges[i].vaddr) = (uintptr_t)name;
		if (is_shared(s->object, ranges[i].vaddr)) {
			*map64__put(&w->by_name, hash_of(name)) = i + 1;
			add_aliases(w, ranges[i].vaddr);
		}
	}
}

void folded_owners__end(struct folded_owners *w)
{
	vec__free(&w->all);
	map64__free(&w->by_entry);
	map64__free(&w->names);
	map64__free(&w->by_name);
	map64__free(&w->by_alias);
	vec__free(&w->claims);
	map64__free(&w->replaced);
}

static const char *name_of(const struct folded_owners *w, uint64_t entry)
{
	const uint64_t *name = map64__get(&w->names, entry);

	return name ? (const char *)(uintptr_t)*name : folded__listed(w->session, entry);
}

bool folded_owners__take(struct folded_owners *w, const struct folded_function *f, uint64_t entry,
			 uint32_t number)
{
	uint64_t *known = map64__put(&w->by_entry, entry);
	struct folded_owner *owner, new = {entry, name_in_symbols(f), number, 0};

	if (!*known) {
		new.fit = folded__fit(f, entry, name_of(w, entry));
		vec__push(&w->all, new);
		*known = w->all.len;
		return true;
	}
	owner = &w->all.data[*known - 1];
	new.fit = owner->fit == FOLDED_EXACT ? FOLDED_OTHER
					     : folded__fit(f, entry, name_of(w, entry));
	if (new.fit <= owner->fit)
		return false;
	*map64__put(&w->replaced, owner->number) = 1;
	*owner = new;
	return true;
}

bool folded_owners__find_entry(const struct folded_owners *w, const struct folded_function *f,
			       uint64_t *entry, uint64_t *size)
{
	const char *name = name_in_symbols(f);
	const uint64_t *known = name ? map64__get(&w->by_name, hash_of(name)) : NULL;
	const struct range *r = known ? &w->ranges[*known - 1] : NULL;

	if (!r || folded__fit(f, r->vaddr, r->name) != FOLDED_NAME)
		return false;
	*entry = r->vaddr;
	*size = r->size;
	return true;
}

/* ---- all functions of some code ---- */

void folded_owners__claim(struct folded_owners *w, const struct folded_function *f)
{
	const char *name = w->by_alias.len ? name_in_symbols(f) : NULL;
	uint64_t *known = name ? map64__get(&w->by_alias, hash_of(name)) : NULL;
	uint64_t entry = f->entry ? f->entry : known ? *known : 0;

	/* gold's DIEs have the address, lld's have none */
	if (name && entry && is_shared(w->session->object, entry))
		vec__push(&w->claims, (struct folded_claim){*f, entry});
}

static int by_entry_and_name(const void *a, const void *b)
{
	const struct folded_claim *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return strcmp(name_in_symbols(&x->f), name_in_symbols(&y->f));
}

void folded_owners__each_other(struct folded_owners *w, folded_fn fn, void *ctx)
{
	const struct folded_claim *c, *last = NULL;

	vec__sort(&w->claims, by_entry_and_name);
	vec__each (c, &w->claims) {
		const uint64_t *known = map64__get(&w->by_entry, c->entry);
		const char *name = name_in_symbols(&c->f);

		if (!known || is_same_function(name, w->all.data[*known - 1].name) ||
		    (last && last->entry == c->entry &&
		     is_same_function(name, name_in_symbols(&last->f))))
			continue;
		fn(ctx, c->entry, &c->f);
		last = c;
	}
}

bool folded_owners__changed(const struct folded_owners *w)
{
	return w->replaced.len;
}

bool folded_owners__is_replaced(const struct folded_owners *w, uint32_t number)
{
	return map64__get(&w->replaced, number);
}
