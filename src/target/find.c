// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds what OBJECT names: a path, a command in PATH, a soname as the dynamic loader finds it
 * (ld.so(8)); with a PID, what that process has mapped, then the same search inside its root.
 */
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "ldcache.h"
#include "root.h"
#include "target.h"

#define CACHE_LIMIT (64u << 20)
#define MAPS_LIMIT  (256u << 20)

static const char *const default_folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

/* What is being looked for, where, and what was found. */
struct search {
	const char *name;
	struct root root;
	char **path, **shown;
};

/* ---- candidates ---- */

static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The loader passes over libraries of another class or machine. */
static bool is_loadable(const char *path)
{
	Elf64_Ehdr h;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? pread(fd, &h, sizeof(h), 0) : 0;

	if (fd >= 0)
		close(fd);
	return n == sizeof(h) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
	       h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == EM_X86_64;
}

/* Takes path, as seen in the root, if test holds for the file. */
static bool take(struct search *s, const char *path, bool (*test)(const char *))
{
	char *real = root__resolve(&s->root, path, s->shown);

	if (!real)
		return false;
	if (is_regular(real) && test(real)) {
		*s->path = real;
		return true;
	}
	free(real);
	free(*s->shown);
	*s->shown = NULL;
	return false;
}

static bool is_command(const char *path)
{
	return access(path, X_OK) == 0;
}

static bool search_path(struct search *s)
{
	const char *folder = getenv("PATH"), *end;
	bool found = false;

	for (folder = folder ? folder : "/usr/bin:/bin"; !found; folder = end + 1) {
		end = strchrnul(folder, ':');
		/* an empty entry is the current folder, which was looked into already */
		if (end > folder) {
			autofree char *path =
				xasprintf("%.*s/%s", (int)(end - folder), folder, s->name);

			found = take(s, path, is_command);
		}
		if (!*end)
			break;
	}
	return found;
}

/* ---- sonames ---- */

static bool search_folder(struct search *s, const char *folder, int len)
{
	const char *const *hwcap;
	bool found = false;

	for (hwcap = hwcaps__names(); *hwcap && !found; hwcap++) {
		autofree char *path =
			xasprintf("%.*s/glibc-hwcaps/%s/%s", len, folder, *hwcap, s->name);

		found = take(s, path, is_loadable);
	}
	if (!found) {
		autofree char *path = xasprintf("%.*s/%s", len, folder, s->name);

		found = take(s, path, is_loadable);
	}
	return found;
}

static bool search_library_path(struct search *s)
{
	const char *folder = getenv("LD_LIBRARY_PATH"), *end;

	/* of a traced process its own would count: what it loaded is in its maps */
	for (; folder && *folder && s->root.pid <= 0; folder = *end ? end + 1 : end) {
		end = folder + strcspn(folder, ":;");
		if (end == folder ? search_folder(s, ".", 1)
				  : search_folder(s, folder, end - folder))
			return true;
	}
	return false;
}

static bool search_cache(struct search *s)
{
	autofree char *path = root__resolve(&s->root, "/etc/ld.so.cache", NULL);
	autofree char *bytes = NULL;
	const char *found;
	size_t len;

	if (!path || file__read(path, CACHE_LIMIT, &bytes, &len))
		return false;
	found = ldcache__find(bytes, len, s->name);
	return found && take(s, found, is_loadable);
}

static bool search_soname(struct search *s)
{
	size_t i;

	if (search_library_path(s) || search_cache(s))
		return true;
	for (i = 0; i < ARRAY_SIZE(default_folders); i++)
		if (search_folder(s, default_folders[i], strlen(default_folders[i])))
			return true;
	return false;
}

/* ---- what a process has mapped ---- */

static bool same_name(const struct search *s, const char *mapped, const char *resolved)
{
	const char *slash = strrchr(mapped, '/');

	if (resolved && !strcmp(resolved, mapped))
		return true;
	if (strchr(s->name, '/'))
		return !strcmp(s->name, mapped);
	return slash && !strcmp(slash + 1, s->name);
}

/* Is the file at path the one that is mapped? The device numbers of maps and stat differ on some
 * file systems. */
static bool is_mapped(const char *path, const char *map_file, const struct map *m)
{
	struct stat st, mapped;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	if (stat(map_file, &mapped) == 0)
		return st.st_dev == mapped.st_dev && st.st_ino == mapped.st_ino;
	return st.st_ino == m->ino;
}

/* A path that opens the mapped file: in the process's root, as its executable, or, deleted, through
 * map_files. */
static bool take_map(struct search *s, const struct map *m)
{
	autofree char *map_file =
		xasprintf("/proc/%d/map_files/%llx-%llx", s->root.pid, (unsigned long long)m->start,
			  (unsigned long long)m->end);
	char *candidates[] = {
		root__resolve(&s->root, m->path, NULL),
		xasprintf("/proc/%d/exe", s->root.pid),
		xstrdup(map_file),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (!*s->path && candidates[i] && is_mapped(candidates[i], map_file, m)) {
			*s->path = candidates[i];
			*s->shown = xstrdup(m->path);
		} else {
			free(candidates[i]);
		}
	}
	return *s->path;
}

/* A name is what is left of a file that was replaced: two of one name may be mapped at once. */
static int several(const struct search *s, const struct map *a, const struct map *b)
{
	return err__set(
		ENOTUNIQ,
		"process %d has several files mapped as %s: %s (/proc/%d/map_files/%llx-%llx), "
		"%s (/proc/%d/map_files/%llx-%llx): name one of them",
		s->root.pid, s->name, a->path, s->root.pid, (unsigned long long)a->start,
		(unsigned long long)a->end, b->path, s->root.pid, (unsigned long long)b->start,
		(unsigned long long)b->end);
}

/* 1: found; -ENOTUNIQ. */
static int take_only(struct search *s, const map_vec *maps, const char *resolved)
{
	const struct map *m, *first = NULL;

	vec__each (m, maps) {
		if (!m->exec || m->path[0] != '/' || !same_name(s, m->path, resolved))
			continue;
		if (first && (first->dev != m->dev || first->ino != m->ino))
			return several(s, first, m);
		first = first ? first : m;
	}
	return first && take_map(s, first);
}

/* 1: found, 0: not; or -errno. */
static int search_maps(struct search *s)
{
	autofree char *file = xasprintf("/proc/%d/maps", s->root.pid);
	autofree char *text = NULL, *resolved = NULL;
	map_vec maps = {0};
	size_t len;
	int found;

	if (file__read(file, MAPS_LIMIT, &text, &len) || maps__parse(text, &maps))
		return 0;
	if (strchr(s->name, '/'))
		free(root__resolve(&s->root, s->name, &resolved));
	found = take_only(s, &maps, resolved);
	maps__free(&maps);
	return found;
}

/* The soname may be a link to the file that is mapped: then it's the mapped one that counts. */
static int prefer_mapped(struct search *s)
{
	struct search mapped = *s;
	char *path = NULL, *shown = NULL;
	int found;

	mapped.name = *s->shown;
	mapped.path = &path;
	mapped.shown = &shown;
	found = search_maps(&mapped);
	if (found <= 0)
		return found;
	free(*s->path);
	free(*s->shown);
	*s->path = path;
	*s->shown = shown;
	return 0;
}

/* The path of a file below /proc/PID/root as that process sees it; NULL: it is not there. */
static char *below_root(const char *path)
{
	int n = 0;

	sscanf(path, "/proc/%*u/root%n", &n);
	return n && path[n] == '/' ? xstrdup(path + n) : NULL;
}

/* What /proc/PID/exe, /proc/PID/map_files/... and their like lead to; NULL: it is none of them. */
static char *link_target(const char *path)
{
	char link[PATH_MAX];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	link[max_of(n, 0)] = 0;
	return n > 0 ? path__undeleted(link) : NULL;
}

/* These lead to a file, whatever its name leads to by now, or for us: they are taken as they are.
 */
static bool take_from_proc(struct search *s)
{
	struct statfs fs;
	char *shown;

	if (strncmp(s->name, "/proc/", 6) || !is_regular(s->name) || statfs("/proc", &fs) ||
	    fs.f_type != PROC_SUPER_MAGIC)
		return false;
	shown = below_root(s->name);
	shown = shown ? shown : link_target(s->name);
	if (!shown)
		return false;
	*s->path = xstrdup(s->name);
	*s->shown = shown;
	return true;
}

/* ---- all of it ---- */

static bool always(const char *path)
{
	return true;
}

static int no_such_path(const struct search *s)
{
	struct stat st;

	if (stat(s->name, &st) == 0 && !S_ISREG(st.st_mode))
		return err__set(ENOENT,
				"%s is not a regular file: name a program or a shared library",
				s->name);
	if (s->root.pid > 0)
		return err__set(ENOENT, "no file %s in the mount namespace of process %d", s->name,
				s->root.pid);
	return err__set(ENOENT, "no file %s", s->name);
}

static int find(struct search *s)
{
	int mapped;

	if (take_from_proc(s))
		return 0;
	mapped = s->root.pid > 0 ? search_maps(s) : 0;
	if (mapped)
		return mapped < 0 ? mapped : 0;
	if (strchr(s->name, '/'))
		return take(s, s->name, always) ? 0 : no_such_path(s);
	if (take(s, s->name, always) || search_path(s) || search_soname(s))
		return s->root.pid > 0 ? prefer_mapped(s) : 0;
	return err__set(ENOENT,
			"no object %s: tried the %scurrent folder, PATH, LD_LIBRARY_PATH, "
			"/etc/ld.so.cache and the default library folders; name it by its path",
			s->name, s->root.pid > 0 ? "process's maps, the " : "");
}

int object__find(const char *name, pid_t pid, char **path, char **shown)
{
	struct search s = {.name = name, .path = path, .shown = shown};
	int err;

	*path = *shown = NULL;
	if (!*name)
		return err__set(EINVAL, "an empty object name: name a program or a shared library");
	err = root__open(&s.root, pid);
	if (err)
		return err;
	err = find(&s);
	root__close(&s.root);
	return err;
}
