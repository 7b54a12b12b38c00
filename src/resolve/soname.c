// SPDX-License-Identifier: BSD-2-Clause
/* Where the dynamic loader finds a library (ld.so(8)). */
#include <stdlib.h>
#include <sys/stat.h>
#include "arch/arch.h"
#include "ldcache.h"
#include "object/tables/tables.h"
#include "search.h"

#define CACHE_LIMIT (64u << 20)

/* These have a folder for each architecture. */
static const char *const machine_folders[] = {"/lib", "/usr/lib"};
static const char *const default_folders[] = {
	"/lib64", "/usr/lib64", "/lib32", "/usr/lib32", "/lib", "/usr/lib", "/usr/local/lib",
};

/* The loader skips libraries of another class or machine. */
static bool is_loadable(const struct search *s, int fd)
{
	return s->arch && object__arch_of_file(fd, NULL) == s->arch;
}

static bool search_folder(struct search *s, const char *folder, int len)
{
	const char *const *hwcap;
	bool found = false;

	for (hwcap = hwcaps__names(s->arch); *hwcap && !found; hwcap++) {
		autofree char *path =
			xasprintf("%.*s/glibc-hwcaps/%s/%s", len, folder, *hwcap, s->name);

		found = search__take(s, path, is_loadable) == 1;
	}
	if (!found) {
		autofree char *path = xasprintf("%.*s/%s", len, folder, s->name);

		found = search__take(s, path, is_loadable) == 1;
	}
	return found;
}

static bool search_library_path(struct search *s)
{
	const char *folder = getenv("LD_LIBRARY_PATH"), *end;

	/* a traced process has its own LD_LIBRARY_PATH: what it loaded is in its maps */
	for (; folder && *folder && !s->pid; folder = *end ? end + 1 : end) {
		end = folder + strcspn(folder, ":;");
		if (end == folder ? search_folder(s, ".", 1)
				  : search_folder(s, folder, end - folder))
			return true;
	}
	return false;
}

bool search__read_cache(const struct search *s, char **bytes, size_t *len)
{
	autoclose int fd = root__open_file(&s->root, "/etc/ld.so.cache", CACHE_LIMIT, NULL);

	return fd >= 0 && !fd__read(fd, "/etc/ld.so.cache", CACHE_LIMIT, bytes, len);
}

static bool search_cache(struct search *s)
{
	autofree char *bytes = NULL;
	const char *found;
	size_t len;

	if (!search__read_cache(s, &bytes, &len))
		return false;
	found = ldcache__find(s->arch, bytes, len, s->name);
	return found && search__take(s, found, is_loadable) == 1;
}

/* ---- what all programs find ---- */

static bool search_system(struct search *s)
{
	size_t i;

	if (search_cache(s))
		return true;
	for (i = 0; s->arch && i < ARRAY_SIZE(machine_folders); i++) {
		autofree char *folder =
			xasprintf("%s/%s", machine_folders[i], s->arch->loader.folder);

		if (search_folder(s, folder, strlen(folder)))
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(default_folders); i++)
		if (search_folder(s, default_folders[i], strlen(default_folders[i])))
			return true;
	return false;
}

/* ---- what this one finds ---- */

static int search_run_path(void *ctx, const char *folder)
{
	return search_folder(ctx, folder, strlen(folder));
}

static bool search_own(struct search *s)
{
	return (s->of && object__rpath(s->of, search_run_path, s)) || search_library_path(s) ||
	       (s->of && object__runpath(s->of, search_run_path, s));
}

static bool is_systems(const struct search *s)
{
	struct found found = {.fd = -1};
	struct search system = {.name = s->name, .arch = s->arch, .out = &found};
	struct stat a, b;
	bool same = search_system(&system) && !fstat(found.fd, &a) && !fstat(s->out->fd, &b) &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	found__close(&found);
	return same;
}

bool search__soname(struct search *s)
{
	if (!search_own(s))
		return search_system(s);
	s->own = s->of && !is_systems(s);
	return true;
}
