// SPDX-License-Identifier: BSD-2-Clause
/*
 * Relative relocations: words of a position-independent object that hold addresses. The loader
 * writes them; the file's own bytes there may differ (relocations of type RELATIVE).
 */
#include <stdlib.h>
#include "arch/arch.h"
#include "elf_file.h"

/* Finds DT_RELA by the dynamic segment, which exists without section headers, too. */
static void find_table(const struct object *o, const struct elf_file *f, uint64_t *vaddr,
		       uint64_t *len)
{
	const Elf64_Phdr *p = f->segments, *end = f->segments + f->nsegments;
	const uint8_t *bytes;
	size_t avail;
	Elf64_Dyn d;

	*vaddr = *len = 0;
	while (p < end && p->p_type != PT_DYNAMIC)
		p++;
	if (p == end)
		return;
	bytes = object__bytes(o, p->p_vaddr, &avail);
	for (avail = min_of(avail, p->p_filesz); avail >= sizeof(d);
	     bytes += sizeof(d), avail -= sizeof(d)) {
		memcpy(&d, bytes, sizeof(d));
		if (d.d_tag == DT_NULL)
			return;
		if (d.d_tag == DT_RELA)
			*vaddr = d.d_un.d_ptr;
		if (d.d_tag == DT_RELASZ)
			*len = d.d_un.d_val;
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct relative *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

void relatives__read(const struct object *o, struct elf_file *f)
{
	const struct arch *arch = arch__by_machine(o->machine);
	uint64_t vaddr, len;
	const uint8_t *bytes;
	size_t avail;
	Elf64_Rela r;

	if (!arch || !arch->relocations.relative || f->header.e_type != ET_DYN || f->relatives.len)
		return;
	find_table(o, f, &vaddr, &len);
	bytes = object__bytes(o, vaddr, &avail);
	len = min_of(len, (uint64_t)avail);
	if (!bytes || !elf__afford(f, len))
		return;
	for (; len >= sizeof(r); bytes += sizeof(r), len -= sizeof(r)) {
		memcpy(&r, bytes, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == arch->relocations.relative)
			vec__push(&f->relatives, (struct relative){r.r_offset, r.r_addend});
	}
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

	if (avail < sizeof(*word))
		return false;
	memcpy(word, bytes, sizeof(*word));
	if (r)
		*word = r->value;
	return true;
}
