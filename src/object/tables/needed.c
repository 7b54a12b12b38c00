// SPDX-License-Identifier: BSD-2-Clause
/* The shared libraries that an object needs: DT_NEEDED of its dynamic section (gABI, "Dynamic
 * Section"). */
#include "object/elf/elf_file.h"
#include "tables.h"

int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx)
{
	struct elf_file *f = elf__of(o);
	const Elf64_Shdr *dynamic = f ? elf__section_of_type(f, SHT_DYNAMIC) : NULL;
	uint64_t len = 0, names_len = 0;
	const uint8_t *bytes = dynamic ? elf__bytes(f, dynamic, &len) : NULL;
	const char *names = dynamic ? elf__strings(f, dynamic->sh_link, &names_len) : NULL;
	size_t size = f ? f->class->dynamic : 0;
	Elf64_Dyn d;
	int err = 0;

	if (!bytes || !names)
		return 0;
	for (; !err && len >= size; bytes += size, len -= size) {
		d = elf__take_dynamic(f->class, bytes);
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_NEEDED && d.d_un.d_val < names_len)
			err = fn(ctx, names + d.d_un.d_val);
	}
	return err;
}
