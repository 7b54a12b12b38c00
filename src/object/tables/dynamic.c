// SPDX-License-Identifier: BSD-2-Clause
/* The entries of the dynamic segment, which exists even without section headers (gABI, "Dynamic
 * Section"). */
#include "readers.h"

void dynamic__each(const struct object *o, const struct elf_file *f,
		   void (*fn)(void *ctx, const Elf64_Dyn *d), void *ctx)
{
	const Elf64_Phdr *p = f->segments, *end = f->segments + f->nsegments;
	const size_t size = f->class->dynamic;
	const uint8_t *bytes;
	size_t avail;
	Elf64_Dyn d;

	while (p < end && p->p_type != PT_DYNAMIC)
		p++;
	if (p == end)
		return;
	bytes = object__bytes(o, p->p_vaddr, &avail);
	for (avail = min_of(avail, p->p_filesz); avail >= size; bytes += size, avail -= size) {
		d = elf__take_dynamic(f->class, bytes);
		if (d.d_tag == DT_NULL)
			break;
		fn(ctx, &d);
	}
}
