// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens files that are not bbtrace's own. Their owner may have put anything under the name: a FIFO,
 * a device, a link out of the container; and may replace it at any moment. So a name is looked up
 * once, beneath its root, without opening the file (O_PATH). Only a regular file of a bounded size
 * is then opened, through the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "object/object.h"

/* ---- roots ---- */

static bool same_place(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The main thread has ended, but others have not. */
static bool has_threads(pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/status", pid), *status = NULL;
	const char *threads;

	if (file__read(path, 1u << 16, &status, NULL))
		return false;
	threads = strstr(status, "\nThreads:");
	return threads && strtoul(threads + sizeof("\nThreads:") - 1, NULL, 10) > 1;
}

int root__open(struct root *r, pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/root", pid);
	autofree char *ns = xasprintf("/proc/%d/ns/mnt", pid);
	int fd;

	*r = (struct root){0};
	if (pid <= 0 || (same_place(path, "/") && same_place(ns, "/proc/self/ns/mnt")))
		return 0;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		*r = (struct root){pid, fd};
		return 0;
	}
	if ((errno == ENOENT || errno == ESRCH) && has_threads(pid))
		return err__set(ESRCH,
				"the main thread of process %d has ended, and with it what /proc "
				"shows of the process; trace without -p",
				pid);
	if (errno == ENOENT || errno == ESRCH)
		return err__set(ESRCH, "no process %d", pid);
	return err__set(errno,
			"can't look into process %d: %s; run with sudo, or with CAP_SYS_PTRACE",
			pid, strerror(errno));
}

int root__open_folder(struct root *r, const char *path)
{
	int fd;
	with_own_rights;

	*r = (struct root){0};
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err__set(errno, "can't use %s as a root: %s: name a folder", path,
				strerror(errno));
	*r = (struct root){ROOT_FOLDER, fd};
	return 0;
}

int root__copy(struct root *r, const struct root *from)
{
	*r = *from;
	if (!from->pid)
		return 0;
	r->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
	if (r->fd >= 0)
		return 0;
	*r = (struct root){0};
	return err__set(errno, "can't open another file: %s", strerror(errno));
}

void root__close(struct root *r)
{
	if (r->pid)
		close(r->fd);
	*r = (struct root){0};
}

/* ---- files ---- */

/* Without openat2(2) (Linux 5.6, may be forbidden in containers) no safe lookup is possible. */
static int look_up(const struct root *r, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd, tries = 0;

	if (!r->pid || path[0] != '/')
		return open(path, O_PATH | O_CLOEXEC);
	do /* EAGAIN: a concurrent rename in the path */
		fd = syscall(SYS_openat2, r->fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && tries++ < 16);
	return fd;
}

static int cannot_open(const char *path, int err)
{
	return err__set(err,
			err == EACCES	? "can't read %s: %s; run with sudo, or with "
					  "CAP_DAC_READ_SEARCH"
			: err == ENOSYS ? "can't open %s in the root of another process: %s: that "
					  "needs openat2(2), which Linux has from 5.6 on"
					: "can't open %s: %s",
			path, strerror(err));
}

/* Opens the looked-up file itself, even if its name changed. NONBLOCK, since there may be a lease
 * on it. */
static int open_itself(int at)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	return open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int root__open_file(const struct root *r, const char *path, uint64_t limit, struct stat *st)
{
	autoclose int at = look_up(r, path);
	struct stat own;
	int fd;

	st = st ? st : &own;
	if (at < 0 || fstat(at, st))
		return cannot_open(path, errno);
	if (!S_ISREG(st->st_mode))
		return err__set(ENODEV, "%s is not a regular file", path);
	if ((uint64_t)st->st_size > limit)
		return err__set(EFBIG, "%s is larger than %llu bytes", path,
				(unsigned long long)limit);
	fd = open_itself(at);
	return fd < 0 ? cannot_open(path, errno) : fd;
}

/* ---- names ---- */

static bool read_fd_link(int fd, char out[PATH_MAX])
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = 0;
	return out[0] == '/';
}

bool root__path_leads_to(const char *path, int fd)
{
	struct stat x, y;

	return stat(path, &x) == 0 && fstat(fd, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

char *root__path_inside(const struct root *r, int fd)
{
	char path[PATH_MAX], root[PATH_MAX];
	size_t len = 0;

	if (!read_fd_link(fd, path))
		return NULL;
	if (r->pid && read_fd_link(r->fd, root))
		len = strlen(root);
	return path__undeleted(len > 1 && !strncmp(path, root, len) && path[len] == '/' ? path + len
											: path);
}

/* A file in a chroot has a path in our root, too, which /proc/PID/maps shows. */
char *root__shown_path(const struct root *r, int fd)
{
	char path[PATH_MAX];

	return read_fd_link(fd, path) && root__path_leads_to(path, fd) ? xstrdup(path)
								       : root__path_inside(r, fd);
}
