// SPDX-License-Identifier: BSD-2-Clause
/* Where distributions, and the kernel's own build, put the debug information of the running kernel
 * and its modules. */
#include <stdlib.h>
#include <sys/utsname.h>
#include "debug.h"

#define INDEX_LIMIT (64u << 20)

/* %s is the release. */
static const char *const kernels[] = {
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/usr/lib/debug/boot/vmlinux-%s",
	"/lib/modules/%s/build/vmlinux",
	"/boot/vmlinux-%s",
};
/* The release, and the module's path without suffix. */
static const char *const modules[] = {
	"/usr/lib/debug/lib/modules/%s/%s.ko.debug",
	"/usr/lib/debug/lib/modules/%s/%s.ko",
	"/lib/modules/%s/%s.ko",
};

/* In a file's name, a '-' of a module's name may be a '_' or a '-'. */
static bool is_module(const char *name, const char *file, size_t len)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((name[i] == '-' ? '_' : name[i]) != (file[i] == '-' ? '_' : file[i]))
			return false;
	return true;
}

/* Returns "kernel/fs/ext4/ext4" of a line "kernel/fs/ext4/ext4.ko.xz: ..." of modules.dep(5); NULL
 * if the line is another module's. */
static char *path_in(const char *line, const char *name)
{
	size_t len = strcspn(line, ":\n");
	const char *colon = line + len, *file = colon, *dot;

	while (file > line && file[-1] != '/')
		file--;
	dot = memchr(file, '.', colon - file);
	return dot && *colon == ':' && is_module(name, file, dot - file) ? strndup(line, dot - line)
									 : NULL;
}

static char *path_of(const char *name, const char *release)
{
	autofree char *index = xasprintf("/lib/modules/%s/modules.dep", release);
	autofree char *text = NULL;
	char *path = NULL;
	size_t len;

	if (file__read(index, INDEX_LIMIT, &text, &len))
		return NULL;
	for (const char *line = text; line && !path;
	     line = (line = strchr(line, '\n')) ? line + 1 : NULL)
		path = path_in(line, name);
	return path;
}

void kernel_debug__paths(const struct object *o, path_vec *out)
{
	autofree char *inner = NULL;
	struct utsname u;

	if (!o->build_id_len || uname(&u))
		return;
	if (o->kind == OBJECT_KERNEL) {
		for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
			vec__push(out, xasprintf(kernels[i], u.release));
		return;
	}
	inner = path_of(o->path, u.release);
	for (size_t i = 0; inner && i < ARRAY_SIZE(modules); i++)
		vec__push(out, xasprintf(modules[i], u.release, inner));
}
