// SPDX-License-Identifier: BSD-2-Clause
/* Paths as another process sees them, through /proc/PID/root. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "root.h"

static bool same_place(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int root__open(struct root *r, pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/root", pid);
	autofree char *ns = xasprintf("/proc/%d/ns/mnt", pid);

	*r = (struct root){.pid = pid, .fd = -1};
	if (pid <= 0 || (same_place(path, "/") && same_place(ns, "/proc/self/ns/mnt")))
		return 0;
	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ESRCH)
		return err__set(ESRCH, "no process %d", pid);
	return err__set(errno,
			"can't look into process %d: %s; run with sudo, or with CAP_SYS_PTRACE",
			pid, strerror(errno));
}

void root__close(struct root *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

/* Below /proc/PID/root and its like links lead elsewhere than their text says. */
static char *resolve_here(const char *path, char **shown)
{
	char *real = realpath(path, NULL);

	if (!real || !same_place(real, path)) {
		free(real);
		real = access(path, F_OK) ? NULL : xstrdup(path);
	}
	if (real && shown)
		*shown = xstrdup(real);
	return real;
}

/* Absolute links must lead into the process's root, not ours: openat2(2) does that, from Linux 5.6.
 */
static int open_inside(const struct root *r, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};

	return syscall(SYS_openat2, r->fd, path, &how, sizeof(how));
}

static bool read_fd_link(int fd, char out[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = 0;
	return out[0] == '/';
}

/* The real path of fd as seen from the root, where the kernel shows us the way to the root too. */
static void strip_root(const struct root *r, char path[PATH_MAX])
{
	char root[PATH_MAX];
	size_t len;

	if (!read_fd_link(r->fd, root))
		return;
	len = strlen(root);
	if (len > 1 && !strncmp(path, root, len) && path[len] == '/')
		memmove(path, path + len, strlen(path + len) + 1);
}

/* The path that opens the file behind link, whose path as the kernel shows it is real; NULL: none
 * leads there. */
static char *way_to(const struct root *r, const char *link, char real[PATH_MAX])
{
	char *inside;

	/* a chroot's file has a path for us as well, and /proc/PID/maps shows that */
	if (same_place(real, link))
		return xstrdup(real);
	strip_root(r, real);
	inside = xasprintf("/proc/%d/root%s", r->pid, real);
	if (same_place(inside, link))
		return inside;
	free(inside);
	return NULL;
}

char *root__resolve(const struct root *r, const char *path, char **shown)
{
	char link[64], real[PATH_MAX], *way;
	int fd;

	if (r->fd < 0 || path[0] != '/')
		return resolve_here(path, shown);
	fd = open_inside(r, path);
	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!read_fd_link(fd, real))
		snprintf(real, sizeof(real), "%s", path);
	way = way_to(r, link, real);
	close(fd);
	if (way && shown)
		*shown = xstrdup(real);
	return way;
}
