// SPDX-License-Identifier: BSD-2-Clause
/* Where functions start and have to end: starts that are to be explored, and what the loader and
 * the C library's start code call. */
#include "search_private.h"

int starts__by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint8_t *search__mark(struct search *s, uint64_t addr)
{
	const struct hole *h = holes__at(&s->holes, addr);

	return h ? &s->marks[h - s->holes.data][addr - h->start] : NULL;
}

uint64_t search__limit(struct search *s, uint64_t start, uint8_t ends)
{
	const struct hole *h = holes__at(&s->holes, start);
	const uint8_t *mark = search__mark(s, start);

	for (uint64_t at = start + 1; at < h->end; at++)
		if (mark[at - start] & ends)
			return at;
	return h->end;
}

void search__add_jumped(struct search *s, uint64_t addr)
{
	if (search__mark(s, addr))
		vec__push(&s->certain, addr);
}

void search__add_called(struct search *s, uint64_t addr)
{
	search__add_jumped(s, addr);
	if (search__mark(s, addr))
		*map64__put(&s->is_called, addr) = 1;
}

/* The words of a table of functions, at vaddr, as far as they are in a segment. */
static void add_table(struct search *s, uint64_t vaddr, uint64_t size)
{
	struct elf_file *f = elf__of(s->o);
	uint64_t value;

	for (; size >= f->class->word && elf__word(s->o, f, vaddr, &value);
	     size -= f->class->word, vaddr += f->class->word)
		search__add_called(s, value);
}

struct tables {
	uint64_t init, table[2], size[2];
};

static void see_entry(void *ctx, const Elf64_Dyn *d)
{
	static const struct {
		int64_t tag;
		uint8_t table;
		bool size;
	} rows[] = {{DT_INIT_ARRAY, 0, false},
		    {DT_INIT_ARRAYSZ, 0, true},
		    {DT_PREINIT_ARRAY, 1, false},
		    {DT_PREINIT_ARRAYSZ, 1, true}};
	struct tables *t = ctx;

	if (d->d_tag == DT_INIT)
		t->init = d->d_un.d_ptr;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (d->d_tag == rows[i].tag)
			*(rows[i].size ? &t->size[rows[i].table] : &t->table[rows[i].table]) =
				d->d_un.d_val;
}

/* The resolvers of IFUNCs, which the loader calls, or the start code of a static program. */
static void add_resolvers(struct search *s, const Elf64_Shdr *section)
{
	struct elf_file *f = elf__of(s->o);
	const bool addends = section->sh_type == SHT_RELA;
	const size_t size = addends ? f->class->rela : f->class->rel;
	uint64_t len, value;
	const uint8_t *bytes = elf__bytes(f, section, &len);

	if (!bytes || !elf__afford(f, len))
		return;
	for (; len >= size; bytes += size, len -= size) {
		Elf64_Rela r = elf__take_relocation(f->class, bytes, addends);

		if (ELF64_R_TYPE(r.r_info) != s->arch->relocations.irelative)
			continue;
		if (addends)
			search__add_called(s, r.r_addend);
		else if (elf__word(s->o, f, r.r_offset, &value))
			search__add_called(s, value);
	}
}

void starts__add_loaded(struct search *s)
{
	static const char *const arrays[] = {".init_array", ".preinit_array"};
	struct elf_file *f = elf__of(s->o);
	struct tables t = {0};
	const Elf64_Shdr *section;
	const uint64_t *final;

	relatives__read(s->o, f);
	dynamic__each(s->o, f, see_entry, &t);
	search__add_called(s, f->header.e_entry);
	search__add_called(s, t.init);
	vec__each (final, &s->o->finals)
		search__add_called(s, *final);
	for (size_t i = 0; i < ARRAY_SIZE(t.table); i++)
		add_table(s, t.table[i], t.size[i]);
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		section = elf__section(f, arrays[i]);
		if (section)
			add_table(s, section->sh_addr, section->sh_size);
	}
	section = elf__section(f, ".init");
	if (section)
		search__add_called(s, section->sh_addr);
	for (const Elf64_Shdr *i = f->sections; i < f->sections + f->nsections; i++)
		if (i->sh_type == SHT_RELA || i->sh_type == SHT_REL)
			add_resolvers(s, i);
}
