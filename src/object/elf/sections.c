// SPDX-License-Identifier: BSD-2-Clause
/* Sections of an ELF file by name and type, and their bytes, bounds-checked against the file. */
#include <stdlib.h>
#include "elf_file.h"

const Elf64_Shdr *elf__section(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *s;

	for (s = f->sections; s < f->sections + f->nsections; s++)
		if (s->sh_name < f->section_names_len &&
		    !strcmp(f->section_names + s->sh_name, name))
			return s;
	return NULL;
}

const Elf64_Shdr *elf__section_of_type(const struct elf_file *f, uint32_t type)
{
	const Elf64_Shdr *s;

	for (s = f->sections; s < f->sections + f->nsections; s++)
		if (s->sh_type == type)
			return s;
	return NULL;
}

const uint8_t *elf__bytes(struct elf_file *f, const Elf64_Shdr *s, uint64_t *len)
{
	uint8_t *copy;

	*len = 0;
	if (!s || s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED || !s->sh_size)
		return NULL;
	if (s->sh_offset > f->size || s->sh_size > f->size - s->sh_offset)
		return NULL;
	*len = s->sh_size;
	if (s->sh_offset + s->sh_size <= f->image_len)
		return f->image + s->sh_offset;
	if (!elf__afford(f, s->sh_size)) {
		*len = 0;
		return NULL;
	}
	copy = elf__keep(f, xmalloc(s->sh_size));
	if (elf__read(f->fd, copy, s->sh_size, s->sh_offset))
		return copy;
	*len = 0;
	return NULL;
}

const char *elf__strings(struct elf_file *f, uint32_t section, uint64_t *len)
{
	const uint8_t *bytes;
	char *copy;

	*len = 0;
	if (section >= f->nsections || f->sections[section].sh_type != SHT_STRTAB)
		return NULL;
	bytes = elf__bytes(f, &f->sections[section], len);
	if (!bytes || !bytes[*len - 1])
		return (const char *)bytes;
	if (!elf__afford(f, *len)) {
		*len = 0;
		return NULL;
	}
	copy = elf__keep(f, xmalloc(*len + 1));
	memcpy(copy, bytes, *len);
	copy[(*len)++] = 0;
	return copy;
}

const struct address_range *elf__code_at(const struct elf_file *f, uint64_t vaddr)
{
	size_t low = 0, high, mid;

	for (high = f->code.len; low < high;) {
		mid = low + (high - low) / 2;
		if (f->code.data[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && vaddr < f->code.data[low - 1].end ? &f->code.data[low - 1] : NULL;
}

/* Damaged section headers don't keep a program from running. Such a file merely has no symbols
 * here. */
bool elf__read_sections(struct elf_file *f)
{
	const Elf64_Ehdr *h = &f->header;
	const size_t size = f->class->section;
	autofree uint8_t *first = NULL, *all = NULL;
	uint64_t n = h->e_shnum;
	uint32_t names = h->e_shstrndx;
	Elf64_Shdr null;

	if (!h->e_shoff)
		return true;
	if (h->e_shentsize != size || !(first = elf__read_entries(f, h->e_shoff, 1, size)))
		return false;
	null = elf__take_section(f->class, first);
	n = n ? n : null.sh_size; /* elf(5): more than 0xff00 sections */
	names = names == SHN_XINDEX ? null.sh_link : names;
	all = elf__read_entries(f, h->e_shoff, n, size);
	if (!all)
		return false;
	f->sections = xrealloc(f->sections, n, sizeof(*f->sections));
	for (uint64_t i = 0; i < n; i++)
		f->sections[i] = elf__take_section(f->class, all + i * size);
	f->nsections = n;
	f->section_names = elf__strings(f, names, &f->section_names_len);
	return true;
}

bool object__has_line_table(const struct object *o)
{
	const struct elf_file *f = elf__of(o);

	return o->go || (f && (elf__section(f, ".debug_line") || elf__section(f, ".zdebug_line")));
}

/* UPX, src/p_unix.h: struct l_info follows the segments' headers; its second word is l_magic. */
bool object__is_packed(const struct object *o)
{
	struct elf_file *f = elf__of(o);
	autofree uint8_t *magic =
		f ? elf__read_entries(f,
				      f->header.e_phoff +
					      (uint64_t)f->nsegments * f->header.e_phentsize + 4,
				      1, 4)
		  : NULL;

	return magic && !memcmp(magic, "UPX!", 4);
}
