// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens an output file safely. In world-writable directories, other users' files are not written to
 * and their links are not followed, for every component of the path. That is what the kernel's
 * fs.protected_* do (Documentation/admin-guide/sysctl/fs.rst), but also if these are off.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "render.h"

#define MAX_LINKS 40

/* The result of resolving path: name in dir, not a link. */
struct place {
	const char *path;
	int dir;
	char *name, *rest; /* rest: name and what follows it */
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

/* Is it another user's, in a world-writable directory? */
static bool is_strange(int dir, const struct stat *st)
{
	struct stat folder;

	return !fstat(dir, &folder) && folder.st_mode & S_IWOTH && st->st_uid != geteuid() &&
	       st->st_uid != folder.st_uid;
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

static int follow(struct place *p, int link, const char *behind)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to) - 1);

	if (is_strange(p->dir, &p->st))
		return refuse(p->path, "or goes through a symbolic link");
	if (n <= 0 || ++p->links > MAX_LINKS)
		return cannot(p->path, n < 0 ? errno : ELOOP);
	to[n] = 0;
	return set_rest(p, *behind ? xasprintf("%s/%s", to, behind) : xstrdup(to));
}

/* Resolves one component. 1: it was the last one: name in dir, which may not exist. */
static int take_step(struct place *p)
{
	char *start = p->rest + strspn(p->rest, "/"), *behind = start + strcspn(start, "/");
	autoclose int fd = -1;
	bool last;

	free(p->name);
	p->name = xstrndup(start, behind - start);
	last = !*behind;
	behind += strspn(behind, "/");
	if (!*p->name)
		return cannot(p->path, EISDIR);
	fd = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && last)
		return 1;
	if (fd < 0 || fstat(fd, &p->st))
		return cannot(p->path, errno);
	/* links in /proc/PID/fd don't lead to their text */
	if (S_ISLNK(p->st.st_mode) && !in_proc(p->dir))
		return follow(p, fd, behind);
	p->there = last;
	if (last)
		return 1;
	behind = xstrdup(behind);
	last = go_to(p, openat(p->dir, p->name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	return last ? (free(behind), -EACCES) : set_rest(p, behind);
}

/* ---- the existing file ---- */

/* Documentation/admin-guide/devices.txt: null, zero, full; terminals of all kinds. */
static bool takes_text(const struct stat *st)
{
	unsigned ma = major(st->st_rdev), mi = minor(st->st_rdev);

	return (ma == 1 && (mi == 3 || mi == 5 || mi == 7)) || ma == 4 || ma == 5 ||
	       (ma >= 136 && ma <= 143) || ma == 166 || ma == 188 || ma == 204 || ma == 229;
}

/* A program's or library's file: the name of a trace was forgotten, or mistyped. */
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
	struct stat folder;

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
	if (S_ISREG(p->st.st_mode) && p->st.st_nlink > 1 && !fstat(p->dir, &folder) &&
	    folder.st_mode & S_IWOTH)
		return err__set(EACCES,
				"cannot write to %s: the file has several hard links, and this "
				"one is in a world-writable directory; choose another name",
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
	fd = openat(p->dir, p->name, flags, 0600);
	if (fd < 0)
		return cannot(p->path, errno);
	if (!p->there)
		return fd;
	if (fstat(fd, &st) ||
	    (flags & O_NOFOLLOW && (st.st_ino != p->st.st_ino || st.st_dev != p->st.st_dev)))
		errno = EAGAIN; /* replaced meanwhile */
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

int sink__open_file(const char *path)
{
	CLEANUP(forget) struct place p = {.path = path, .dir = -1};
	with_own_rights;
	int err = find(&p);

	if (err)
		return err;
	err = check(&p);
	return err ? err : open_place(&p);
}

int sink__check_old(const char *path)
{
	autofree char *copy = xstrdup(path);
	with_own_rights;
	autoclose int dir = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : cannot(path, errno);
	if (is_strange(dir, &st))
		return refuse(path, "a file");
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)
		       ? 0
		       : err__set(EEXIST, "cannot write to %s: it is not a file", path);
}
