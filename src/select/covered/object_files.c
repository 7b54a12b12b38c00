// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <elf.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arch/arch.h"
#include "resolve/resolve.h"
#include "object_files.h"
#include "path_glob.h"

#define FILES_MAX 1000000 /* of all kinds: more than in a large source tree with its build */

void path_vec__free(path_vec *v)
{
	char **path;

	vec__each (path, v)
		free(*path);
	vec__free(v);
}

/* Returns true if it is an executable or a shared object whose code runs here, and can be traced.
 */
static bool is_object(const char *path)
{
	static const struct root ours;
	autoclose int fd = root__open_file(&ours, path, OBJECT_LIMIT, NULL);
	const struct arch *arch;
	uint16_t type;

	err__clear();
	arch = fd < 0 ? NULL : object__arch_of_file(fd, &type);
	return arch && (type == ET_EXEC || type == ET_DYN) &&
	       (!arch->untraceable || arch != arch__native());
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static bool is_wanted(const FTSENT *e, const struct timespec *since)
{
	struct stat st = *e->fts_statp;

	if (e->fts_info != FTS_F &&
	    (e->fts_info != FTS_SL || stat(e->fts_accpath, &st) || !S_ISREG(st.st_mode)))
		return false;
	return !since || is_later(&st.st_ctim, since);
}

static bool is_version_control(const FTSENT *e)
{
	return e->fts_level && (!strcmp(e->fts_name, ".git") || !strcmp(e->fts_name, ".hg") ||
				!strcmp(e->fts_name, ".svn"));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static const char *without_dot(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

static int walk(FTS *fts, const char *pattern, const struct timespec *since, path_vec *out)
{
	size_t files = 0;
	FTSENT *e;

	while ((e = fts_read(fts))) {
		const char *path = without_dot(e->fts_path);
		bool folder = e->fts_info == FTS_D;

		if (++files > FILES_MAX)
			return err__set(E2BIG, "%s: there are more than %u files: name a folder",
					pattern, FILES_MAX);
		if (folder && (is_version_control(e) ||
			       (e->fts_level && !path_glob__may_hold(pattern, path))))
			fts_set(fts, e, FTS_SKIP);
		else if (!folder && is_wanted(e, since) && path_glob__matches(pattern, path) &&
			 is_object(e->fts_accpath))
			vec__push(out, xstrdup(path));
	}
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int object_files__find(const char *pattern, const struct timespec *since, path_vec *out)
{
	with_own_rights;
	autofree char *all = is_folder(pattern) ? xasprintf("%s/**", pattern) : xstrdup(pattern);
	size_t base = path_glob__base(all);
	autofree char *folder = base	      ? xstrndup(all, base)
				: *all == '/' ? xstrdup("/")
					      : xstrdup(".");
	char *const roots[] = {folder, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	int err;

	if (!fts)
		return err__set(errno, "cannot read %s: %s", folder, strerror(errno));
	err = walk(fts, all, since, out);
	fts_close(fts);
	return err;
}
