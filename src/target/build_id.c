// SPDX-License-Identifier: BSD-2-Clause
/* The build-id of an ELF file, out of its notes (elf(5), Elf64_Nhdr). */
#include "elf_file.h"

static bool build_id_in(struct object *o, const uint8_t *p, uint64_t len, uint64_t align)
{
	uint64_t name, desc;
	Elf64_Nhdr n;

	while (len >= sizeof(n)) {
		memcpy(&n, p, sizeof(n));
		p += sizeof(n), len -= sizeof(n);
		name = (n.n_namesz + align - 1) & ~(align - 1);
		desc = (n.n_descsz + align - 1) & ~(align - 1);
		if (name > len || n.n_descsz > len - name)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p, "GNU", 4) &&
		    n.n_descsz) {
			o->build_id_len = min_of(n.n_descsz, sizeof(o->build_id));
			memcpy(o->build_id, p + name, o->build_id_len);
			return true;
		}
		if (desc > len - name)
			return false;
		p += name + desc, len -= name + desc;
	}
	return false;
}

void build_id__find(struct object *o, struct elf_file *f)
{
	const Elf64_Phdr *p;

	for (p = f->segments; p < f->segments + f->nsegments; p++)
		if (p->p_type == PT_NOTE && span__within(p->p_offset, p->p_filesz, f->image_len) &&
		    elf__afford(f, p->p_filesz) &&
		    build_id_in(o, f->image + p->p_offset, p->p_filesz, p->p_align == 8 ? 8 : 4))
			return;
}
