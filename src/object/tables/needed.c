// SPDX-License-Identifier: BSD-2-Clause
/* The shared libraries that an object needs, and where they are: its dynamic section (gABI,
 * "Dynamic Section"). */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "tables.h"

/* Calls fn with each string of an entry with this tag. */
static int each_string(const struct object *o, int64_t tag, int (*fn)(void *ctx, const char *text),
		       void *ctx)
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
		if (d.d_tag == tag && d.d_un.d_val < names_len)
			err = fn(ctx, names + d.d_un.d_val);
	}
	return err;
}

int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx)
{
	return each_string(o, DT_NEEDED, fn, ctx);
}

/* ---- where they are looked for ---- */

struct folders {
	const struct object *of;
	int (*fn)(void *ctx, const char *folder);
	void *ctx;
};

/* Returns the folder without $ORIGIN; NULL if it has other variables. */
static char *expand(const struct object *o, const char *folder)
{
	static const char *const names[] = {"${ORIGIN}", "$ORIGIN"};
	int own = (int)(path__base_name(o->path) - o->path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(folder, names[i], len) && !strchr(folder + len, '$'))
			return xasprintf("%.*s%s", own, o->path, folder + len);
	}
	return strchr(folder, '$') ? NULL : xstrdup(folder);
}

static int each_folder(void *ctx, const char *list)
{
	autofree char *copy = xstrdup(list);
	struct folders *f = ctx;
	char *save = NULL;
	int err = 0;

	for (char *p = strtok_r(copy, ":", &save); !err && p; p = strtok_r(NULL, ":", &save)) {
		autofree char *folder = expand(f->of, p);

		err = folder ? f->fn(f->ctx, folder) : 0;
	}
	return err;
}

static int is_any(void *ctx, const char *list)
{
	return 1;
}

int object__runpath(const struct object *o, int (*fn)(void *ctx, const char *folder), void *ctx)
{
	return each_string(o, DT_RUNPATH, each_folder, &(struct folders){o, fn, ctx});
}

int object__rpath(const struct object *o, int (*fn)(void *ctx, const char *folder), void *ctx)
{
	if (each_string(o, DT_RUNPATH, is_any, NULL))
		return 0;
	return each_string(o, DT_RPATH, each_folder, &(struct folders){o, fn, ctx});
}
