// SPDX-License-Identifier: BSD-2-Clause
/*
 * Static tracepoints of the kernel: their names and fields, as tracefs has them in
 * events/GROUP/NAME/format (Documentation/trace/events.rst).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>
#include "source/probes/session.h"
#include "source/probes/mechanisms/tracefs.h"

#define FORMAT_MAX (1u << 20)

/* ---- names ---- */

typedef VEC(char *) name_vec;

static void free_names(name_vec *v)
{
	char **name;

	vec__each (name, v)
		free(*name);
	vec__free(v);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in a folder. */
static int read_folder(int root, const char *path, name_vec *out)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			vec__push(out, xstrdup(e->d_name));
	closedir(dir);
	vec__sort(out, by_name);
	return 0;
}

static bool is_in(const char *folder, const char *pattern)
{
	return !pattern || !fnmatch(pattern, folder, 0);
}

static void add_group(int root, const char *group, const char *pattern,
		      void (*fn)(void *ctx, const char *name), void *ctx)
{
	autofree char *path = xasprintf("events/%s", group);
	CLEANUP(free_names) name_vec names = {0};
	char **name;

	if (read_folder(root, path, &names))
		return;
	vec__each (name, &names)
		if (is_in(*name, pattern)) {
			autofree char *full = xasprintf("%s:%s", group, *name);

			fn(ctx, full);
		}
}

/* Groups of probes that tracers define, whose events belong to these. */
static bool is_defined(const char *group)
{
	static const char *const rows[] = {"bbtrace_*", "kprobes", "uprobes", "probe_*",
					   "synthetic"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!fnmatch(rows[i], group, 0))
			return true;
	return false;
}

int tracepoints__each(const char *pattern, void (*fn)(void *ctx, const char *name), void *ctx)
{
	const char *colon = pattern ? strchr(pattern, ':') : NULL;
	autofree char *group = colon ? xstrndup(pattern, colon - pattern) : NULL;
	autoclose int root = tracefs__mount();
	CLEANUP(free_names) name_vec groups = {0};
	char **g;
	int err;

	if (root < 0)
		return root;
	err = read_folder(root, "events", &groups);
	if (err)
		return err__set(-err, "cannot read the kernel's tracepoints in tracefs: %s",
				strerror(-err));
	vec__each (g, &groups)
		if (is_in(*g, group) && !is_defined(*g))
			add_group(root, *g, colon ? colon + 1 : pattern, fn, ctx);
	return 0;
}

int tracepoint__add(struct plan *p, const char *name)
{
	const char *colon = strchr(name, ':');
	autofree char *path =
		xasprintf("events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	autofree char *text = NULL;
	autoclose int root = tracefs__mount();
	int fd, err;

	if (root < 0)
		return root;
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : fd__read(fd, path, FORMAT_MAX, &text, NULL);
	util__close(&fd);
	if (err)
		return err__set(-err, "tracepoint %s: cannot read its fields: %s", name,
				strerror(-err));
	plan__add_named(p, NAMED_TRACEPOINT, name);
	tracepoint__parse(text, p);
	return 0;
}
