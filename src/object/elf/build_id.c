// SPDX-License-Identifier: BSD-2-Clause
/* Finds the build-id in the notes of an ELF file (elf(5), Elf64_Nhdr). */
#include "elf_file.h"

size_t build_id__in(const uint8_t *p, uint64_t len, uint64_t align, uint8_t id[20])
{
	uint64_t name, desc;
	Elf64_Nhdr n;

	while (len >= sizeof(n)) {
		memcpy(&n, p, sizeof(n));
		p += sizeof(n), len -= sizeof(n);
		name = (n.n_namesz + align - 1) & ~(align - 1);
		desc = (n.n_descsz + align - 1) & ~(align - 1);
		if (name > len || n.n_descsz > len - name)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p, "GNU", 4) &&
		    n.n_descsz) {
			memcpy(id, p + name, min_of(n.n_descsz, 20u));
			return min_of(n.n_descsz, 20u);
		}
		if (desc > len - name)
			return 0;
		p += name + desc, len -= name + desc;
	}
	return 0;
}

void build_id__find(struct object *o, struct elf_file *f)
{
	const Elf64_Phdr *p;

	for (p = f->segments; p < f->segments + f->nsegments && !o->build_id_len; p++)
		if (p->p_type == PT_NOTE && bytes__within(p->p_offset, p->p_filesz, f->image_len) &&
		    elf__afford(f, p->p_filesz))
			o->build_id_len = build_id__in(f->image + p->p_offset, p->p_filesz,
						       p->p_align == 8 ? 8 : 4, o->build_id);
}
