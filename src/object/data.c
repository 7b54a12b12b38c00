// SPDX-License-Identifier: BSD-2-Clause
/* Variables of an ELF file, by name: of .symtab and .dynsym, and of separate debug files if the
 * file itself has no .symtab. They are read at the first query, since few traces need them. */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "object/lookup/lookup.h"
#include "symbols.h"

struct search {
	struct object *o;
	struct name_query query;
	const char *name;
	data_vec *exact;
	data_vec others; /* static variables of functions, which compilers number */
};

/* gcc: name.123; clang: function.name, with a number if there are several */
static bool is_static_of(const char *symbol, const char *name)
{
	size_t len = strlen(name), whole = strlen(symbol), digits;
	const char *dot;

	if (!strncmp(symbol, name, len) && symbol[len] == '.' && symbol[len + 1])
		return !symbol[len + 1 + strspn(symbol + len + 1, "0123456789")];
	for (digits = 0; digits < whole && strchr("0123456789.", symbol[whole - digits - 1]);)
		digits++;
	dot = memchr(symbol, '.', whole);
	return dot && whole - digits > len && symbol[whole - digits - len - 1] == '.' &&
	       !strncmp(symbol + whole - digits - len, name, len);
}

static void put(data_vec *out, const struct data_symbol *s)
{
	struct data_symbol *known;

	vec__each (known, out)
		if (known->vaddr == s->vaddr && known->tls == s->tls) {
			known->size = max_of(known->size, s->size);
			return;
		}
	vec__push(out, *s);
}

/* Returns true if the symbol isn't one of code. */
static bool is_data(const struct object *o, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	return type == STT_OBJECT || type == STT_COMMON || type == STT_TLS ||
	       (type == STT_NOTYPE && !object__is_code(o, sym->st_value) &&
		object__segment_at(o, sym->st_value));
}

static void see(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct search *s = ctx;
	size_t len = strcspn(name, "@");
	autofree char *plain = xstrndup(name, len);
	struct symbol symbol = {.vaddr = sym->st_value, .name = plain, .shown = plain};
	struct data_symbol found = {.vaddr = sym->st_value,
				    .size = sym->st_size,
				    .tls = ELF64_ST_TYPE(sym->st_info) == STT_TLS};
	enum match how;

	if (!is_data(s->o, sym))
		return;
	how = name_query__match(&s->query, &symbol);
	if (how == MATCH_NAME || how == MATCH_DEMANGLED)
		put(s->exact, &found);
	else if (is_static_of(plain, s->name))
		put(&s->others, &found);
}

void object__find_data(struct object *o, const char *name, data_vec *out)
{
	struct search s = {.o = o, .name = name, .exact = out};
	struct elf_file *f = elf__of(o);

	if (!f)
		return;
	name_query__init(&s.query, name, false);
	symbols__each(o, f, see, &s);
	if (!out->len) {
		vec__free(out);
		*out = s.others;
		s.others = (data_vec){0};
	}
	vec__free(&s.others);
	name_query__free(&s.query);
}

/* ---- by exact name ---- */

struct address {
	const char *name;
	size_t len;
	uint64_t vaddr;
	unsigned found; /* how many addresses have it */
};

static void see_exact(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct address *a = ctx;
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || type == STT_SECTION ||
	    type == STT_FILE || strcspn(name, "@") != a->len || memcmp(name, a->name, a->len) != 0)
		return;
	if (type == STT_TLS)
		a->found = 2;
	else if (!a->found || sym->st_value != a->vaddr)
		a->found++;
	a->vaddr = sym->st_value;
}

bool object__find_address(struct object *o, const char *name, size_t len, uint64_t *vaddr)
{
	struct address a = {.name = name, .len = len};
	struct elf_file *f = elf__of(o);

	if (f)
		symbols__each(o, f, see_exact, &a);
	*vaddr = a.vaddr;
	return a.found == 1;
}

/* ---- by address ---- */

struct holder {
	const struct object *o;
	uint64_t vaddr, start;
	char *name;
};

static void see_holder(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct holder *h = ctx;

	if (ELF64_ST_TYPE(sym->st_info) == STT_TLS || !is_data(h->o, sym) ||
	    h->vaddr - sym->st_value >= sym->st_size || (h->name && sym->st_value <= h->start))
		return;
	free(h->name);
	h->name = xstrndup(name, strcspn(name, "@"));
	h->start = sym->st_value;
}

char *object__data_at(struct object *o, uint64_t vaddr, uint64_t *offset)
{
	struct holder h = {.o = o, .vaddr = vaddr};
	struct elf_file *f = elf__of(o);

	if (f)
		symbols__each(o, f, see_holder, &h);
	*offset = vaddr - h.start;
	return h.name;
}
