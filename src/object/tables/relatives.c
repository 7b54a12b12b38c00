// SPDX-License-Identifier: BSD-2-Clause
/* Relative relocations: words of a position-independent object that hold addresses. The loader
 * writes them; the file's own bytes may differ (relocations of type RELATIVE). Packed ones
 * (DT_RELR) have the address in the file, too. */
#include <stdlib.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"

/* Relocations as the dynamic segment has them: with and without addends, and packed. */
struct tables {
	uint64_t rela, relasz, rel, relsz, relr, relrsz;
};

static void see_entry(void *ctx, const Elf64_Dyn *d)
{
	struct tables *out = ctx;

	switch (d->d_tag) {
	case DT_RELA:
		out->rela = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		out->relasz = d->d_un.d_val;
		break;
	case DT_REL:
		out->rel = d->d_un.d_ptr;
		break;
	case DT_RELSZ:
		out->relsz = d->d_un.d_val;
		break;
	case DT_RELR:
		out->relr = d->d_un.d_ptr;
		break;
	case DT_RELRSZ:
		out->relrsz = d->d_un.d_val;
		break;
	default:
		break;
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct relative *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Returns the word at vaddr as it is in the file; 0 if there is none. */
static uint64_t word_in_place(const struct object *o, const struct elf_file *f, uint64_t vaddr)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);

	return avail < f->class->word ? 0 : elf__take_word(f->class, bytes);
}

static void read_table(const struct object *o, struct elf_file *f, uint64_t vaddr, uint64_t len,
		       bool addends)
{
	const uint32_t relative = arch__by_machine(o->machine)->relocations.relative;
	const size_t size = addends ? f->class->rela : f->class->rel;
	size_t avail;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);
	Elf64_Rela r;

	f->relatives_missing |= len > avail;
	len = min_of(len, (uint64_t)avail);
	if (!bytes || !elf__afford(f, len)) {
		f->relatives_missing |= len > 0;
		return;
	}
	for (; len >= size; bytes += size, len -= size) {
		r = elf__take_relocation(f->class, bytes, addends);
		if (ELF64_R_TYPE(r.r_info) != relative)
			continue;
		if (!addends)
			r.r_addend = word_in_place(o, f, r.r_offset);
		vec__push(&f->relatives, (struct relative){r.r_offset, r.r_addend});
	}
}

static void add_packed(const struct object *o, struct elf_file *f, uint64_t vaddr)
{
	vec__push(&f->relatives, (struct relative){vaddr, word_in_place(o, f, vaddr)});
}

/* An even word is an address; an odd one has a bit for each of the words that follow the last one
 * described (generic ABI, "Relative Relocation Table"). */
static void read_packed(const struct object *o, struct elf_file *f, uint64_t vaddr, uint64_t len)
{
	const uint64_t size = f->class->word, described = size * 8 - 1;
	uint64_t next = 0;
	size_t avail;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);

	f->relatives_missing |= len > avail;
	len = bytes ? min_of(len, (uint64_t)avail) : 0;
	for (; len >= size; bytes += size, len -= size) {
		uint64_t word = elf__take_word(f->class, bytes);

		if (!elf__afford(f, size * (1 + __builtin_popcountll(word)))) {
			f->relatives_missing = true;
			return;
		}
		if (!(word & 1)) {
			add_packed(o, f, word);
			next = word + size;
			continue;
		}
		for (uint64_t i = 0; i < described; i++)
			if (word >> (i + 1) & 1)
				add_packed(o, f, next + i * size);
		next += described * size;
	}
}

void relatives__read(const struct object *o, struct elf_file *f)
{
	const struct arch *arch = arch__by_machine(o->machine);
	struct tables t = {0};

	if (!arch || !arch->relocations.relative || f->header.e_type != ET_DYN || f->relatives.len)
		return;
	dynamic__each(o, f, see_entry, &t);
	read_table(o, f, t.rela, t.relasz, true);
	read_table(o, f, t.rel, t.relsz, false);
	read_packed(o, f, t.relr, t.relrsz);
	vec__sort(&f->relatives, by_vaddr);
}

static const struct relative *relative_at(const struct elf_file *f, uint64_t vaddr)
{
	struct relative key = {.vaddr = vaddr};

	return f->relatives.len
		       ? bsearch(&key, f->relatives.data, f->relatives.len, sizeof(key), by_vaddr)
		       : NULL;
}

bool elf__word(const struct object *o, const struct elf_file *f, uint64_t vaddr, uint64_t *word)
{
	const struct relative *r = relative_at(f, vaddr);
	size_t avail;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);

	if (avail < f->class->word)
		return false;
	*word = r ? r->value : elf__take_word(f->class, bytes);
	return true;
}
