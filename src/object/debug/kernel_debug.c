// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the files with the debug information of the running kernel and its modules, where
 * distributions and the kernel's own build have them. A file counts only if it has the object's
 * build-id.
 */
#include <stdlib.h>
#include <sys/utsname.h>
#include "debug.h"

#define INDEX_LIMIT (64u << 20)

/* %s: the release. */
static const char *const kernels[] = {
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/usr/lib/debug/boot/vmlinux-%s",
	"/lib/modules/%s/build/vmlinux",
	"/boot/vmlinux-%s",
};
/* The release, the module's path without suffix. */
static const char *const modules[] = {
	"/usr/lib/debug/lib/modules/%s/%s.ko.debug",
	"/usr/lib/debug/lib/modules/%s/%s.ko",
	"/lib/modules/%s/%s.ko",
};

static bool find_kernel(const struct object *o, const char *release, struct debug_files *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		autofree char *path = xasprintf(kernels[i], release);

		if (debug_files__take(o, path, out))
			return true;
	}
	return false;
}

/* In the names of files, a '-' of a module's name may be a '_' or a '-'. */
static bool is_module(const char *name, const char *file, size_t len)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((name[i] == '-' ? '_' : name[i]) != (file[i] == '-' ? '_' : file[i]))
			return false;
	return true;
}

/* "kernel/fs/ext4/ext4" of a line "kernel/fs/ext4/ext4.ko.xz: …" of modules.dep(5); NULL: another
 * module's. */
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

static bool find_module(const struct object *o, const char *release, struct debug_files *out)
{
	autofree char *inner = path_of(o->path, release);

	for (size_t i = 0; inner && i < ARRAY_SIZE(modules); i++) {
		autofree char *path = xasprintf(modules[i], release, inner);

		if (debug_files__take(o, path, out))
			return true;
	}
	return false;
}

bool kernel_debug__find(const struct object *o, struct debug_files *out)
{
	struct utsname u;

	if (!o->build_id_len || uname(&u))
		return false;
	return o->kind == OBJECT_KERNEL ? find_kernel(o, u.release, out)
					: find_module(o, u.release, out);
}
