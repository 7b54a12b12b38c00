// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the file that OBJECT names: a path, a command in PATH, or a soname as the dynamic loader
 * finds it (ld.so(8)). With a PID, the files that the process has mapped come first, then the same
 * search inside its root.
 */
#include <errno.h>
#include <elf.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "arch/arch.h"
#include "ldcache.h"
#include "near.h"
#include "resolve/forms.h"
#include "search.h"

static const struct root ours;

/* ---- candidates ---- */

/* Type, machine and class are at the same place in headers of both classes. */
const struct arch *object__arch_of_file(int fd, uint16_t *type)
{
	const struct arch *arch;
	Elf32_Ehdr h;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	if (type)
		*type = h.e_type;
	arch = arch__by_machine(h.e_machine);
	return arch && arch__runs_here(arch) &&
			       h.e_ident[EI_CLASS] == (arch->word == 4 ? ELFCLASS32 : ELFCLASS64)
		       ? arch
		       : NULL;
}

/* access(2) asks for the real user alone, which root may be no longer. */
static bool is_command(const struct search *s, int fd)
{
	char self[40];
	struct stat st;

	if (!rights__user())
		return !fstat(fd, &st) && st.st_mode & 0111;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return access(self, X_OK) == 0;
}

static bool always(const struct search *s, int fd)
{
	return true;
}

/* Takes ownership of the file and of the root that it was found in. shown NULL: its real path. */
static void take_file(struct search *s, struct root *root, int fd, char *shown)
{
	*s->out = (struct found){fd, shown ? shown : root__shown_path(root, fd), *root};
	*root = (struct root){0};
}

int search__take(struct search *s, const char *path, bool (*test)(const struct search *s, int fd))
{
	int fd = root__open_file(&s->root, path, OBJECT_LIMIT, NULL);

	if (fd < 0)
		return fd;
	if (!test(s, fd)) {
		close(fd);
		return 0;
	}
	take_file(s, &s->root, fd, NULL);
	s->out->path = s->out->path ? s->out->path : xstrdup(path);
	return 1;
}

static bool search_path(struct search *s)
{
	const char *folder = getenv("PATH"), *end;
	bool found = false;

	for (folder = folder ? folder : "/usr/bin:/bin"; !found; folder = end + 1) {
		end = strchrnul(folder, ':');
		/* an empty entry is the current directory, which was searched already */
		if (end > folder) {
			autofree char *path =
				xasprintf("%.*s/%s", (int)(end - folder), folder, s->name);

			found = search__take(s, path, is_command) == 1;
		}
		if (!*end)
			break;
	}
	return found;
}

/* ---- files that a process has mapped ---- */

/* resolved is the real path of a name with a slash; NULL if it has none. */
static bool same_name(const struct search *s, const char *mapped, const char *resolved)
{
	const char *slash = strrchr(mapped, '/');

	if (resolved && !strcmp(resolved, mapped))
		return true;
	if (strchr(s->name, '/'))
		return !strcmp(s->name, mapped);
	return slash && !strcmp(slash + 1, s->name);
}

/* Returns true if this is the mapped file. The device numbers of maps and stat differ on some file
 * systems. */
static bool is_mapped(int fd, const char *map_file, const struct map *m)
{
	struct stat st, mapped;

	if (fstat(fd, &st))
		return false;
	if (stat(map_file, &mapped) == 0)
		return st.st_dev == mapped.st_dev && st.st_ino == mapped.st_ino;
	return st.st_ino == m->ino;
}

/* Takes the mapped file: from the process's root, as its executable, or, if deleted, through
 * map_files. */
static bool take_map(struct search *s, const struct map *m)
{
	autofree char *map_file =
		xasprintf("/proc/%d/map_files/%llx-%llx", s->pid, (unsigned long long)m->start,
			  (unsigned long long)m->end);
	autofree char *exe = xasprintf("/proc/%d/exe", s->pid);
	const struct {
		const struct root *root;
		const char *path;
	} candidates[] = {{&s->root, m->path}, {&ours, exe}, {&ours, map_file}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(candidates); i++) {
		int fd =
			root__open_file(candidates[i].root, candidates[i].path, OBJECT_LIMIT, NULL);

		if (fd >= 0 && is_mapped(fd, map_file, m)) {
			take_file(s, &s->root, fd, xstrdup(m->path));
			return true;
		}
		if (fd >= 0)
			close(fd);
	}
	return false;
}

/* After a file was replaced, two files of the same name may be mapped. */
static int several(const struct search *s, const struct map *a, const struct map *b)
{
	return err__set(
		ENOTUNIQ,
		"process %d has several files mapped as %s: %s (/proc/%d/map_files/%llx-%llx), "
		"%s (/proc/%d/map_files/%llx-%llx): name one of them",
		s->pid, s->name, a->path, s->pid, (unsigned long long)a->start,
		(unsigned long long)a->end, b->path, s->pid, (unsigned long long)b->start,
		(unsigned long long)b->end);
}

/* 1: found; -ENOTUNIQ: several. */
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

/* The real path of name as the process sees it, also of a deleted file. */
static char *real_path(const struct search *s, const char *name)
{
	autoclose int fd = root__open_file(&s->root, name, UINT64_MAX, NULL);

	return fd < 0 ? near__absolute(name) : root__shown_path(&s->root, fd);
}

/* 1: found, 0: not found, or -errno. */
static int search_maps(struct search *s)
{
	CLEANUP(maps__free) map_vec maps = {0};
	autofree char *resolved = NULL;

	maps__read(s->pid, &maps);
	if (strchr(s->name, '/'))
		resolved = real_path(s, s->name);
	return take_only(s, &maps, resolved);
}

/* If the soname is a link to a mapped file, takes the mapped one. */
static int prefer_mapped(struct search *s)
{
	struct found first = *s->out;
	struct search mapped = {.name = first.path, .pid = s->pid, .out = s->out};
	int found = root__open(&mapped.root, s->pid);

	found = found ? found : search_maps(&mapped);
	root__close(&mapped.root);
	if (found > 0)
		found__close(&first);
	else
		*s->out = first;
	return found < 0 ? found : 0;
}

/* ---- names in /proc ---- */

static bool in_proc(const char *name)
{
	struct statfs fs;

	return !strncmp(name, "/proc/", 6) && !statfs("/proc", &fs) &&
	       fs.f_type == PROC_SUPER_MAGIC;
}

/* Returns the target of /proc/PID/exe, /proc/PID/map_files/... and the like; NULL if it is no such
 * path. */
static char *link_target(const char *path)
{
	char link[PATH_MAX];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	link[max_of(n, 0)] = 0;
	return n > 0 ? path__undeleted(link) : NULL;
}

/* Such a link leads to the file itself, even if its name leads elsewhere by now or in our
 * namespace. It is opened directly. */
static int take_link(struct search *s)
{
	char *shown = link_target(s->name);
	int fd = shown ? root__open_file(&ours, s->name, OBJECT_LIMIT, NULL) : 0;

	if (fd <= 0) {
		free(shown);
		return fd;
	}
	take_file(s, &s->root, fd, shown);
	return 1;
}

/* Takes a path below /proc/PID/root in that process's root. */
static int take_below_root(struct search *s, pid_t pid, const char *path)
{
	struct search in = {.name = path, .pid = pid, .out = s->out};
	int err = root__open(&in.root, pid);

	if (err)
		return err;
	err = search__take(&in, path, always);
	root__close(&in.root);
	if (err == 1) {
		free(s->out->path);
		s->out->path = xstrdup(path);
	}
	return err;
}

/* 1: taken, 0: not such a name, or -errno. */
static int take_from_proc(struct search *s)
{
	int pid, n = 0;

	if (!in_proc(s->name))
		return 0;
	if (sscanf(s->name, "/proc/%d/root%n", &pid, &n) == 1 && n && s->name[n] == '/')
		return take_below_root(s, pid, s->name + n);
	return take_link(s);
}

/* ---- the whole search ---- */

static void add_soname(void *near, const char *soname)
{
	near__soname(near, soname);
}

/* Adds the sonames that may have been meant: of the process, and those that the loader finds. */
static void find_near(const struct search *s, struct near *near)
{
	CLEANUP(maps__free) map_vec maps = {0};
	autofree char *bytes = NULL;
	const struct map *m;
	size_t len;

	if (s->pid)
		maps__read(s->pid, &maps);
	vec__each (m, &maps)
		if (m->exec && strrchr(m->path, '/'))
			near__soname(near, strrchr(m->path, '/') + 1);
	if (search__read_cache(s, &bytes, &len))
		ldcache__each(s->arch, bytes, len, add_soname, near);
}

static int no_such_path(const struct search *s, int err)
{
	autofree struct str deleted = {0};

	if (err == -ENODEV)
		return err__set(ENOENT,
				"%s is not a regular file: name a program or a shared library",
				s->name);
	if (err != -ENOENT && err != -ENOTDIR)
		return err;
	if (s->pid)
		return err__set(ENOENT, "no file %s in the mount namespace of process %d", s->name,
				s->pid);
	near__deleted(s->name, &deleted);
	return err__set(ENOENT, "no file %s%s", s->name, deleted.len ? deleted.data : "");
}

/* Returns what has a name, but is no file; NULL if it is none of these. */
static const char *is_no_file(const char *name)
{
	static const char vdso[] = "the vdso is memory of the kernel's, not a file: it can't be "
				   "probed; trace what calls it in libc.so.6";
	static const struct {
		const char *name, *what;
	} rows[] = {
		{"[vdso]", vdso},
		{"vdso", vdso},
		{"linux-vdso.so.1", vdso},
		{"vmlinux", "the running kernel has its own commands: bbtrace kernel FUNC, bbtrace "
			    "list kernel"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].what;
	return NULL;
}

static int no_such_object(const struct search *s, const struct near *near)
{
	autofree struct str meant = {0};

	if (is_no_file(s->name))
		return err__set(ENOENT, "no object %s: %s", s->name, is_no_file(s->name));
	if (!s->pid)
		near__deleted(s->name, &meant);
	if (!meant.len)
		near__put(near, &meant);
	if (meant.len)
		return err__set(ENOENT, "no object %s%s", s->name, meant.data);
	return err__set(ENOENT,
			"no object %s: tried the %scurrent folder, PATH, LD_LIBRARY_PATH, "
			"/etc/ld.so.cache and the default library folders; name it by its path",
			s->name, s->pid ? "process's maps, the " : "");
}

static int find_unversioned(struct search *s);

static int find(struct search *s)
{
	int found = take_from_proc(s);

	if (!found && s->pid)
		found = search_maps(s);
	if (found)
		return found < 0 ? no_such_path(s, found) : 0;
	found = search__take(s, s->name, always);
	if (strchr(s->name, '/'))
		return found == 1 ? 0 : no_such_path(s, found);
	if (found == 1 || search_path(s) || search__soname(s))
		return s->pid ? prefer_mapped(s) : 0;
	return find_unversioned(s);
}

/* Takes libc.so.6 for libc, as other tools do, if no other soname begins so. */
static int find_unversioned(struct search *s)
{
	CLEANUP(near__free) struct near near = {.name = s->name};
	const char *soname;

	if (!strchr(s->name, '/') && !is_no_file(s->name))
		find_near(s, &near);
	soname = strstr(s->name, ".so") ? NULL : near__unversioned(&near);
	if (!soname)
		return no_such_object(s, &near);
	s->name = soname;
	return find(s);
}

/* The architecture whose loader is used if no process is named. */
static const struct arch *of_command;

void object__find_as(const char *program)
{
	struct found found;

	of_command = object__find(program, 0, &found) ? NULL : object__arch_of_file(found.fd, NULL);
	found__close(&found);
	err__clear();
}

static const struct arch *arch_of_process(pid_t pid)
{
	autofree char *exe = xasprintf("/proc/%d/exe", pid);
	autoclose int fd = root__open_file(&ours, exe, OBJECT_LIMIT, NULL);

	return fd < 0 ? NULL : object__arch_of_file(fd, NULL);
}

int object__find_needed(const struct object *of, const char *soname, struct found *out, bool *own)
{
	struct search s = {
		.name = soname, .arch = arch__by_machine(of->machine), .of = of, .out = out};

	*out = (struct found){.fd = -1};
	*own = false;
	if (!search__soname(&s))
		return -ENOENT;
	*own = s.own;
	return 0;
}

int object__find(const char *name, pid_t pid, struct found *out)
{
	const struct arch *arch = pid > 0 ? arch_of_process(pid) : of_command;
	struct search s = {.name = name,
			   .pid = max_of(pid, 0),
			   .arch = arch ? arch : arch__native(),
			   .out = out};
	int err;

	*out = (struct found){.fd = -1};
	if (!*name)
		return err__usage("an empty object name: name a program or a shared library");
	err = root__open(&s.root, pid);
	if (err)
		return err;
	err = find(&s);
	root__close(&s.root);
	return err;
}

/* ---- OBJECT:REST ---- */

/* Returns the first colon from text on that is not part of a "::". */
static const char *lone_colon(const char *text)
{
	for (const char *p = text; (p = strchr(p, ':')); p++) {
		if (p[1] != ':')
			return p;
		p++;
	}
	return NULL;
}

static bool is_found(const char *name, pid_t pid)
{
	struct found found;
	bool is = !object__find(name, pid, &found);

	if (is)
		found__close(&found);
	err__clear();
	return is;
}

const char *object__colon(const char *text, pid_t pid)
{
	const char *first = lone_colon(text), *colon;

	if (!first || !lone_colon(first + 1))
		return first;
	for (colon = first; colon; colon = lone_colon(colon + 1)) {
		autofree char *object = xstrndup(text, colon - text);

		if (*object && is_found(object, pid))
			return colon;
	}
	return first;
}
