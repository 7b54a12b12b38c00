// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens an output file safely. In world-writable directories, other users' files are not written to
 * and their links are not followed, in every component of the path. The kernel's fs.protected_* do
 * the same (Documentation/admin-guide/sysctl/fs.rst), but may be off. Root follows no link of
 * another user at all, and writes to no second name of a file in another user's folder: that user
 * would choose what root writes to.
 *
 * A path is resolved once, to a name in a directory that stays open: what its components become
 * later doesn't affect rotation.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "pipeline/render.h"

#define MAX_LINKS 40
#define FILE_MODE 0600

/* The result of resolving a path: name in dir, which is no link. */
struct place {
	const char *path;
	int dir;
	char *name, *rest; /* rest: name, and what follows it in the path */
	unsigned links;
	bool there;
	struct stat st; /* of the existing file */
};

static int cannot(const char *path, int err)
{
	return err__set(err, "cannot write to %s: %s", path, strerror(err));
}

static int refuse(const char *path, const char *what)
{
	return err__set(EACCES,
			"cannot write to %s: it is %s of another user in a world-writable "
			"directory; choose another name",
			path, what);
}

/* True if it belongs to another user, in a world-writable directory. */
static bool is_strange(int dir, const struct stat *st)
{
	struct stat folder;

	return !fstat(dir, &folder) && folder.st_mode & S_IWOTH && st->st_uid != rights__user() &&
	       st->st_uid != folder.st_uid;
}

/* True if another user than root could have made a name in it. */
static bool is_shared(int dir)
{
	struct stat st;

	return fstat(dir, &st) || st.st_mode & S_IWOTH ||
	       (st.st_uid && st.st_uid != rights__user());
}

static bool is_foreign_link(const struct stat *st)
{
	return !rights__user() && st->st_uid;
}

static bool in_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* ---- resolving the path ---- */

static int go_to(struct place *p, int dir)
{
	if (dir < 0)
		return cannot(p->path, errno);
	if (p->dir >= 0)
		close(p->dir);
	p->dir = dir;
	return 0;
}

/* Continues with rest. */
static int set_rest(struct place *p, char *rest)
{
	free(p->rest);
	p->rest = rest;
	if (*rest && *rest != '/' && p->dir >= 0)
		return 0;
	return go_to(p, open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int follow(struct place *p, int link, const char *rest)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to) - 1);

	if (is_strange(p->dir, &p->st))
		return refuse(p->path, "or goes through a symbolic link");
	if (is_foreign_link(&p->st))
		return err__set(EACCES,
				"cannot write to %s: it is or goes through a symbolic link of user "
				"%u, which root doesn't follow; name the file that it leads to",
				p->path, p->st.st_uid);
	if (n <= 0 || ++p->links > MAX_LINKS)
		return cannot(p->path, n < 0 ? errno : ELOOP);
	to[n] = 0;
	return set_rest(p, *rest ? xasprintf("%s/%s", to, rest) : xstrdup(to));
}

/* Enters the directory that was looked at, not what has its name by now; opens a link in /proc. */
static int enter(struct place *p, int *fd, const char *rest)
{
	int dir = *fd, err;

	if (S_ISLNK(p->st.st_mode))
		dir = openat(p->dir, p->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	else if (S_ISDIR(p->st.st_mode))
		*fd = -1;
	else
		return cannot(p->path, ENOTDIR);
	rest = xstrdup(rest);
	err = go_to(p, dir);
	return err ? (free((char *)rest), err) : set_rest(p, (char *)rest);
}

/* Resolves one component. Returns 1 for the last one: name in dir, which may not exist. */
static int take_step(struct place *p)
{
	char *start = p->rest + strspn(p->rest, "/"), *rest = start + strcspn(start, "/");
	autoclose int fd = -1;
	bool last;

	free(p->name);
	p->name = xstrndup(start, rest - start);
	last = !*rest;
	rest += strspn(rest, "/");
	if (!*p->name)
		return cannot(p->path, EISDIR);
	fd = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && last)
		return 1;
	if (fd < 0 || fstat(fd, &p->st))
		return cannot(p->path, errno);
	/* the text of links in /proc/PID/fd isn't a path */
	if (S_ISLNK(p->st.st_mode) && !in_proc(p->dir))
		return follow(p, fd, rest);
	p->there = last;
	if (last)
		return 1;
	return enter(p, &fd, rest);
}

/* ---- the existing file ---- */

/* Documentation/admin-guide/devices.txt: null, zero, full; terminals of all kinds. */
static bool takes_text(const struct stat *st)
{
	unsigned ma = major(st->st_rdev), mi = minor(st->st_rdev);

	return (ma == 1 && (mi == 3 || mi == 5 || mi == 7)) || ma == 4 || ma == 5 ||
	       (ma >= 136 && ma <= 143) || ma == 166 || ma == 188 || ma == 204 || ma == 229;
}

/* True for the file of a program or library: the name of the trace was forgotten, or mistyped. */
static bool is_elf(const struct place *p)
{
	autoclose int fd =
		openat(p->dir, p->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char magic[4];

	return fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, "\177ELF", sizeof(magic));
}

static int check(const struct place *p)
{
	if (!p->there || S_ISDIR(p->st.st_mode) || S_ISLNK(p->st.st_mode))
		return 0;
	if (is_strange(p->dir, &p->st))
		return refuse(p->path, "a file");
	if (S_ISBLK(p->st.st_mode) || (S_ISCHR(p->st.st_mode) && !takes_text(&p->st)))
		return err__set(EINVAL,
				"cannot write to %s: it is a device; choose a file, a terminal, a "
				"pipe or /dev/null",
				p->path);
	/* another user may have made the second name (fs.protected_hardlinks) */
	if (S_ISREG(p->st.st_mode) && p->st.st_nlink > 1 && is_shared(p->dir))
		return err__set(EACCES,
				"cannot write to %s: the file has several hard links, and this "
				"one is in a directory where other users may have made it; choose "
				"another name",
				p->path);
	if (S_ISREG(p->st.st_mode) && is_elf(p))
		return err__set(EEXIST,
				"cannot write to %s: it is a program or a library; choose another "
				"name",
				p->path);
	return 0;
}

static int open_place(const struct place *p)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	struct stat st;
	int fd;

	if (!p->there)
		flags |= O_CREAT | O_EXCL;
	else if (!S_ISLNK(p->st.st_mode))
		flags |= O_NOFOLLOW;
	fd = openat(p->dir, p->name, flags, FILE_MODE);
	if (fd < 0)
		return cannot(p->path, errno);
	if (!p->there)
		return fd;
	if (fstat(fd, &st) ||
	    (flags & O_NOFOLLOW && (st.st_ino != p->st.st_ino || st.st_dev != p->st.st_dev)))
		errno = EAGAIN; /* it was replaced meanwhile */
	else
		return fd;
	close(fd);
	return cannot(p->path, errno);
}

static int find(struct place *p)
{
	int err = set_rest(p, xstrdup(p->path));

	while (!err)
		err = take_step(p);
	return err == 1 ? 0 : err;
}

static void forget(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	free(p->name);
	free(p->rest);
}

/* Keeps the directory and the name, independent of the path that led there. */
static void keep(struct sink_place *kept, struct place *p)
{
	*kept = (struct sink_place){p->dir, p->name};
	p->dir = -1;
	p->name = NULL;
}

int sink__open_file(const char *path, struct sink_place *kept)
{
	CLEANUP(forget) struct place p = {.path = path, .dir = -1};
	with_own_rights;
	int err = find(&p), fd;

	if (!err)
		err = check(&p);
	if (err)
		return err;
	fd = open_place(&p);
	if (fd >= 0 && kept)
		keep(kept, &p);
	return fd;
}

void sink_place__close(struct sink_place *p)
{
	util__close(&p->dir);
	free(p->name);
	*p = (struct sink_place){.dir = -1};
}

/* ---- rotation ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static char *old_name(const char *name)
{
	return xasprintf("%s.1", name);
}

int sink_place__check_old(const struct sink_place *p, const char *path)
{
	autofree char *old = old_name(p->name), *shown = old_name(path);
	struct stat st;
	with_own_rights;

	if (fstatat(p->dir, old, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : cannot(shown, errno);
	if (is_strange(p->dir, &st))
		return refuse(shown, "a file");
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)
		       ? 0
		       : err__set(EEXIST, "cannot write to %s: it is not a file", shown);
}

static int make(int dir, const char *name)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		      FILE_MODE);
}

/*
 * Exchanges the file with a new one, so that the name never is free for another user to take. Both
 * names are in one directory, of which nothing else is changed, and no link is followed. Returns
 * the new descriptor, or -1.
 */
static int exchange(const struct sink_place *p, const char *old)
{
	autofree char *early =
		xasprintf(".%.200s.%llx", p->name, (unsigned long long)now_ns(CLOCK_REALTIME));
	int fd = make(p->dir, early);

	if (fd < 0)
		return -1;
	if (syscall(SYS_renameat2, p->dir, early, p->dir, p->name, RENAME_EXCHANGE)) {
		unlinkat(p->dir, early, 0);
	} else if (!renameat(p->dir, early, p->dir, old)) {
		return fd;
	}
	close(fd);
	return -1;
}

/* For file systems that can't exchange names: a name that another user takes meanwhile is
 * refused. */
static int rename_and_make(const struct sink_place *p, const char *old)
{
	return renameat(p->dir, p->name, p->dir, old) ? -1 : make(p->dir, p->name);
}

static bool exchanges_no_names(int err)
{
	return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP;
}

int sink_place__rotate(const struct sink_place *p, const char *path, const struct stat *current)
{
	autofree char *old = old_name(p->name);
	struct stat st;
	int err = sink_place__check_old(p, path), fd;
	with_own_rights;

	if (err)
		return err;
	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW))
		return cannot(path, errno);
	if (!is_same(&st, current))
		return err__set(ESTALE,
				"cannot go on writing to %s: another program has replaced it; "
				"choose a folder that nobody else writes to",
				path);
	fd = exchange(p, old);
	if (fd < 0 && exchanges_no_names(errno))
		fd = rename_and_make(p, old);
	return fd < 0 ? cannot(path, errno) : fd;
}
