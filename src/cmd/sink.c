// SPDX-License-Identifier: BSD-2-Clause
/* Where a trace is written to: stdout, or a file that is safe to write to. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>
#include "render.h"

static bool is_ours(uid_t uid, const struct stat *folder)
{
	return uid == geteuid() || uid == folder->st_uid;
}

/* In a folder where everybody may put files, those of others are not to be written through: the
 * kernel's fs.protected_symlinks and protected_regular (Documentation/admin-guide/sysctl/fs.rst),
 * where they are off as well. */
static bool is_shared(const struct stat *folder)
{
	return (folder->st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
}

static int refuse(const char *path, const char *what)
{
	return err__set(
		EACCES,
		"cannot write to %s: it is %s of another user in a folder that everybody may "
		"write to; choose another name",
		path, what);
}

static int check_folder(const char *path, bool *shared, struct stat *folder)
{
	autofree char *copy = xstrdup(path);
	struct stat st;

	if (stat(dirname(copy), folder))
		return err__set(errno, "cannot write to %s: %s", path, strerror(errno));
	*shared = is_shared(folder);
	if (!*shared || lstat(path, &st))
		return 0;
	if (S_ISLNK(st.st_mode) && !is_ours(st.st_uid, folder))
		return refuse(path, "a symbolic link");
	return 0;
}

static int open_file(const char *path)
{
	struct stat folder, st;
	bool shared;
	int fd, err = check_folder(path, &shared, &folder);

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return err__set(errno, "cannot write to %s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		err = err__set(errno, "cannot write to %s: %s", path, strerror(errno));
	else if (shared && !is_ours(st.st_uid, &folder))
		err = refuse(path, "a file");
	else if (S_ISREG(st.st_mode) && ftruncate(fd, 0))
		err = err__set(errno, "cannot write to %s: %s", path, strerror(errno));
	if (err)
		close(fd);
	return err ? err : fd;
}

int sink__open(struct sink *s, const char *path)
{
	struct stat st;
	int fd = STDOUT_FILENO;

	*s = (struct sink){.fd = -1, .name = "stdout"};
	if (path && strcmp(path, "-")) {
		s->name = path;
		fd = open_file(path);
		if (fd < 0)
			return fd;
	} else if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) { /* main.c */
		return err__set(EBADF, "stdout is closed; write to a file with -o");
	}
	s->fd = fd;
	s->is_terminal = isatty(fd);
	s->is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	return 0;
}

void sink__close(struct sink *s)
{
	if (s->fd > STDERR_FILENO)
		close(s->fd);
	s->fd = -1;
}

int sink__write(void *sink, const void *data, size_t len)
{
	struct sink *s = sink;

	while (len) {
		ssize_t n = write(s->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE) {
			s->reader_gone = true;
			return -EPIPE;
		}
		if (n < 0)
			return err__set(errno, "cannot write to %s: %s", s->name, strerror(errno));
		data = (const char *)data + n;
		len -= n;
	}
	return 0;
}
