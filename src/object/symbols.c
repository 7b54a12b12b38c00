// SPDX-License-Identifier: BSD-2-Clause
/*
 * Function symbols of an ELF file: .symtab, .dynsym with versions, and, if there is no .symtab,
 * those of .gnu_debugdata or of a separate debug file; for Go programs also those of the Go table.
 * They are merged: sorted by address, with aliases, without duplicates.
 */
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "object/debug/debug.h"
#include "object/golang/gopclntab.h"
#include "object/debug/sandbox.h"
#include "object/tables/readers.h"
#include "symbols.h"

#define VERSION_MASK   0x7fff
#define VERSION_HIDDEN 0x8000

/* A symbol before the merge. */
struct candidate {
	struct symbol symbol;
	uint32_t unit;
	bool label; /* STT_NOTYPE: hand-written code, or a label within it */
};

struct gather {
	struct object *o;
	struct elf_file *f;
	VEC(struct candidate) found;
	uint32_t unit; /* counts STT_FILE symbols */
};

/* ---- versions of .dynsym ---- */

struct versions {
	const uint8_t *index; /* .gnu.version: a 16-bit number a symbol */
	uint64_t index_len;
	VEC(const char *) names; /* by number */
};

static uint16_t u16_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void read_versions(struct elf_file *f, struct versions *v)
{
	const Elf64_Shdr *s = elf__section_of_type(f, SHT_GNU_verdef);
	uint64_t len, at = 0, names_len;
	const char *names;
	const uint8_t *p;
	Elf64_Verdef def;
	Elf64_Verdaux aux;
	unsigned n;

	v->index = elf__bytes(f, elf__section_of_type(f, SHT_GNU_versym), &v->index_len);
	p = elf__bytes(f, s, &len);
	names = p ? elf__strings(f, s->sh_link, &names_len) : NULL;
	/* A version number has 15 bits: a longer chain is damaged or cyclic. */
	for (n = 0; names && n <= VERSION_MASK; n++) {
		if (at > len || len - at < sizeof(def))
			return;
		memcpy(&def, p + at, sizeof(def));
		if (def.vd_aux > len - at || len - at - def.vd_aux < sizeof(aux))
			return;
		memcpy(&aux, p + at + def.vd_aux, sizeof(aux));
		while (v->names.len <= (def.vd_ndx & VERSION_MASK))
			vec__push(&v->names, NULL);
		if (aux.vda_name < names_len && !(def.vd_flags & VER_FLG_BASE))
			v->names.data[def.vd_ndx & VERSION_MASK] = names + aux.vda_name;
		if (!def.vd_next)
			return;
		at += def.vd_next;
	}
}

static void set_version(const struct versions *v, uint64_t i, struct symbol *s)
{
	uint16_t number;

	if (!v || (i + 1) * 2 > v->index_len)
		return;
	number = u16_at(v->index + i * 2);
	if ((number & VERSION_MASK) < v->names.len)
		s->version = v->names.data[number & VERSION_MASK];
	s->default_version = s->version && !(number & VERSION_HIDDEN);
}

/* ---- one symbol ---- */

/* The static linker leaves versioned names in .symtab as "memcpy@@GLIBC_2.14". */
static void split_version(struct gather *g, struct symbol *s)
{
	const char *at = strchr(s->name, '@');

	if (!at || at == s->name || !at[1] || !elf__afford(g->f, at - s->name))
		return;
	s->default_version = at[1] == '@';
	s->version = at + 1 + s->default_version;
	s->name = elf__keep(g->f, xstrndup(s->name, at - s->name));
}

/* Returns true for the bounds of Go's code (ld/data.go), which are not functions. */
static bool is_go_label(const struct gather *g, const Elf64_Sym *sym, const char *name)
{
	return g->f->go && !sym->st_size &&
	       (!strcmp(name, "runtime.text") || !strcmp(name, "runtime.etext"));
}

/* Returns true if other objects may refer to the symbol. dynamic: it is in .dynsym. */
static bool is_exported(const Elf64_Sym *sym, bool dynamic)
{
	unsigned visibility = ELF64_ST_VISIBILITY(sym->st_other);

	return dynamic && ELF64_ST_BIND(sym->st_info) != STB_LOCAL &&
	       (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static void add(struct gather *g, const Elf64_Sym *sym, const char *name,
		const struct versions *versions, uint64_t i)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);
	struct candidate *c;
	uint64_t vaddr;

	if (type == STT_FILE)
		g->unit++;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !*name)
		return;
	vaddr = modes__note_symbol(g->o, name, sym->st_value, type != STT_NOTYPE);
	if (!object__is_code(g->o, vaddr))
		return;
	/* Assembler-local and mapping symbols are no functions. */
	if (type == STT_NOTYPE && (!strncmp(name, ".L", 2) || name[0] == '$'))
		return;
	if (is_go_label(g, sym, name))
		return;
	/* Sorting and matching read the names, which may all be suffixes of a long one. */
	if (!elf__afford(g->f, strlen(name)))
		return;
	c = vec__add(&g->found);
	c->label = type == STT_NOTYPE;
	c->unit = bind == STB_LOCAL ? g->unit : 0;
	c->symbol = (struct symbol){
		.vaddr = vaddr,
		.size = sym->st_size,
		.name = name,
		.type = type == STT_GNU_IFUNC ? SYMBOL_IFUNC : SYMBOL_FUNC,
		.global = bind != STB_LOCAL,
		.exported = is_exported(sym, versions || !g->f->nsections),
	};
	if (versions)
		set_version(versions, i, &c->symbol);
	else
		split_version(g, &c->symbol);
}

static bool read_table(struct gather *g, uint32_t type)
{
	const Elf64_Shdr *s = elf__section_of_type(g->f, type);
	const size_t size = g->f->class->symbol;
	struct versions versions = {0};
	uint64_t len, names_len, i;
	const uint8_t *p = elf__bytes(g->f, s, &len);
	const char *names = p ? elf__strings(g->f, s->sh_link, &names_len) : NULL;
	Elf64_Sym sym;

	if (!names || s->sh_entsize != size)
		return false;
	if (type == SHT_DYNSYM)
		read_versions(g->f, &versions);
	for (i = 1; i < len / size; i++) {
		sym = elf__take_symbol(g->f->class, p + i * size);
		if (sym.st_name < names_len)
			add(g, &sym, names + sym.st_name, type == SHT_DYNSYM ? &versions : NULL, i);
	}
	vec__free(&versions.names);
	return true;
}

/* ---- symbols from libdwfl, in the sandbox ---- */

/* libdwfl merges .gnu_debugdata, a separate debug file and, without section headers, the dynamic
 * table. */
static void find_symbols(void *ctx, const struct debug_session *s, struct str *answer)
{
	int i, n = s->module ? dwfl_module_getsymtab(s->module) : -1;
	struct str symbols = {0}, names = {0};
	GElf_Addr bias;
	Elf *own = s->module ? dwfl_module_getelf(s->module, &bias) : NULL, *elf = own;
	bool elsewhere = false;
	const char *name;
	GElf_Word section;
	GElf_Addr vaddr;
	GElf_Sym sym;

	for (i = 1; i < n; i++) {
		name = dwfl_module_getsym_info(s->module, i, &sym, &vaddr, &section, &elf, NULL);
		elsewhere |= elf != own;
		if (!name)
			continue;
		/* Without section headers, what the file itself has is its dynamic table. */
		if (elf != own)
			sym.st_other = STV_HIDDEN;
		sym.st_value = vaddr;
		sym.st_name = names.len;
		str__put(&names, name, strlen(name) + 1);
		str__put(&symbols, (const char *)&sym, sizeof(sym));
	}
	if (s->files->symbols && !elsewhere)
		sandbox__give_up();
	table__put(answer, &symbols, sizeof(sym), &names);
	str__free(&symbols);
	str__free(&names);
}

/* Most files without symbols have no separate ones either. */
static bool may_have_more(const struct object *o, const struct elf_file *f)
{
	struct debug_files files;
	bool more;

	debug_files__find(o, &files);
	more = !f->nsections || files.symbols || files.debug >= 0;
	debug_files__close(&files);
	return more;
}

/* Returns false if there are none, or only those of the dynamic table. */
static bool each_separate(struct object *o, struct elf_file *f, symbol_fn fn, void *ctx)
{
	struct str answer = {0};
	struct table t;
	Elf64_Sym sym;

	if (!may_have_more(o, f) || !debug__try_symbols(o, find_symbols, NULL, &answer,
							"the symbols and source lines there"))
		return false;
	if (!table__take(&t, &answer, sizeof(sym))) {
		str__free(&answer);
		return false;
	}
	elf__keep(f, answer.data);
	for (size_t i = 0; i < t.n; i++) {
		memcpy(&sym, t.records + i * sizeof(sym), sizeof(sym));
		if (sym.st_name < t.len)
			fn(ctx, &sym, t.strings + sym.st_name);
	}
	return t.n && f->nsections;
}

static void add_separate(void *ctx, const Elf64_Sym *sym, const char *name)
{
	add(ctx, sym, name, NULL, 0);
}

/* ---- all symbols, on demand ---- */

static bool each_in_table(struct elf_file *f, uint32_t type, symbol_fn fn, void *ctx)
{
	const Elf64_Shdr *s = elf__section_of_type(f, type);
	const size_t size = f->class->symbol;
	uint64_t len, names_len;
	const uint8_t *p = elf__bytes(f, s, &len);
	const char *names = p ? elf__strings(f, s->sh_link, &names_len) : NULL;
	Elf64_Sym sym;

	if (!names || s->sh_entsize != size)
		return false;
	for (uint64_t i = 1; i < len / size; i++) {
		sym = elf__take_symbol(f->class, p + i * size);
		if (sym.st_name < names_len)
			fn(ctx, &sym, names + sym.st_name);
	}
	return true;
}

void symbols__each(struct object *o, struct elf_file *f, symbol_fn fn, void *ctx)
{
	each_in_table(f, SHT_DYNSYM, fn, ctx);
	if (!each_in_table(f, SHT_SYMTAB, fn, ctx))
		each_separate(o, f, fn, ctx);
}

/* ---- the Go runtime's table ---- */

/* As in .symtab, where the linker writes a dot for the middle dot (ld/symtab.go). */
static const char *plain_dots(struct gather *g, const char *name)
{
	static const char dot[] = "\xc2\xb7";
	char *out, *at;

	if (!strstr(name, dot))
		return name;
	out = elf__keep(g->f, xstrdup(name));
	while ((at = strstr(out, dot))) {
		*at = '.';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
	return out;
}

static enum symbol_args args_of(const struct go_table *t, const struct go_function *fn)
{
	return t->register_args && !fn->assembly ? ARGS_GO : ARGS_STACK;
}

static void read_go_table(struct gather *g)
{
	const struct go_table *t = g->f->go;
	struct go_function fn;

	for (uint64_t i = 0; t && i < t->nfunctions; i++) {
		if (!go_table__function(t, i, &fn) || !*fn.name ||
		    !elf__afford(g->f, strlen(fn.name)))
			continue;
		vec__push(&g->found,
			  (struct candidate){.symbol = {.vaddr = fn.vaddr,
							.size = go_function__size(t, &fn),
							.name = plain_dots(g, fn.name),
							.type = SYMBOL_FUNC,
							.args = args_of(t, &fn),
							.global = true}});
	}
}

/* ---- merge ---- */

static int by_vaddr(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order;

	if (x->symbol.vaddr != y->symbol.vaddr)
		return x->symbol.vaddr < y->symbol.vaddr ? -1 : 1;
	order = strcmp(x->symbol.name, y->symbol.name);
	if (order)
		return order;
	if (!x->symbol.version != !y->symbol.version)
		return !x->symbol.version - !y->symbol.version;
	order = x->symbol.version ? strcmp(x->symbol.version, y->symbol.version) : 0;
	return order ? order : x->label - y->label;
}

/* Returns true if y repeats x: the same address and name, and no other version. */
static bool repeats(const struct candidate *x, const struct candidate *y)
{
	return x->symbol.vaddr == y->symbol.vaddr && !strcmp(x->symbol.name, y->symbol.name) &&
	       (!y->symbol.version || !x->symbol.version ||
		!strcmp(x->symbol.version, y->symbol.version));
}

static void merge_into(struct candidate *x, const struct candidate *y)
{
	x->symbol.size = max_of(x->symbol.size, y->symbol.size);
	x->unit = max_of(x->unit, y->unit);
	if (y->symbol.type == SYMBOL_IFUNC)
		x->symbol.type = SYMBOL_IFUNC;
	x->label &= y->label;
	x->symbol.global |= y->symbol.global;
	x->symbol.exported |= y->symbol.exported;
	x->symbol.args = max_of(x->symbol.args, y->symbol.args);
}

/* A local label inside a function is not a function. And if other code has frames, a label without
 * one may be a table in the code: a breakpoint there would change data. */
static bool is_inner(const struct object *o, const struct candidate *c, uint64_t covered)
{
	const struct frame *frame;

	if (!c->label || c->symbol.global)
		return false;
	frame = object__frame_at(o, c->symbol.vaddr);
	return c->symbol.vaddr < covered ||
	       (frame ? frame->vaddr != c->symbol.vaddr : o->frames.len > 0);
}

static void merge(struct gather *g)
{
	struct candidate *c, *last = NULL;
	uint64_t covered = 0, end;

	vec__sort(&g->found, by_vaddr);
	vec__each (c, &g->found) {
		if (last && repeats(last, c)) {
			merge_into(last, c);
			continue;
		}
		last = c > g->found.data && last ? last + 1 : g->found.data;
		*last = *c;
	}
	g->found.len = last ? last + 1 - g->found.data : 0;
	vec__each (c, &g->found) {
		if (is_inner(g->o, c, covered))
			continue;
		end = c->symbol.vaddr + c->symbol.size;
		if (!c->label && c->symbol.size && end > c->symbol.vaddr)
			covered = max_of(covered, end);
		c->symbol.shown = c->symbol.name;
		vec__push(&g->o->symbols, c->symbol);
		vec__push(&g->f->units, c->unit);
	}
}

void symbols__read(struct object *o, struct elf_file *f)
{
	struct gather g = {.o = o, .f = f};

	read_table(&g, SHT_DYNSYM);
	o->stripped =
		!read_table(&g, SHT_SYMTAB) && !each_separate(o, f, add_separate, &g) && !f->go;
	read_go_table(&g);
	merge(&g);
	golang__args(o, f);
	vec__free(&g.found);
}

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct symbol *x = &((const struct symbol *)symbols)[*(const uint32_t *)a];
	const struct symbol *y = &((const struct symbol *)symbols)[*(const uint32_t *)b];
	int n = strcmp(x->name, y->name);

	return n ? n : x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

void object__number_locals(const struct object *o)
{
	struct object *own = (struct object *)o;
	VEC(uint32_t) locals = {0};
	const char *name = NULL;
	uint32_t number = 0;

	if (o->numbered || object__is_kernel(o))
		return;
	own->numbered = true;
	for (uint32_t i = 0; i < o->symbols.len; i++)
		if (!o->symbols.data[i].global && o->symbols.data[i].type != SYMBOL_PLT)
			vec__push(&locals, i);
	vec__sort_by(&locals, by_name, o->symbols.data);
	for (size_t i = 0; i < locals.len; i++) {
		struct symbol *s = &own->symbols.data[locals.data[i]];

		number = name && !strcmp(s->name, name) ? number + 1 : 1;
		name = s->name;
		s->number = number;
	}
	vec__free(&locals);
}
