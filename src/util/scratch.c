// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "util/scratch.h"

struct scratch {
	int fd;
	const char *dir;
	uint64_t len;
};

/* Where open(2) has no O_TMPFILE, as on NFS: a file that is unlinked at once. */
static int open_unnamed(const char *dir)
{
	autofree char *path = xasprintf("%s/bbtrace-XXXXXX", dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* /tmp may be memory. */
int scratch__open(const char **dir)
{
	const char *const dirs[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
	size_t i = !dirs[0] || !*dirs[0];
	int fd;
	with_own_rights;

	fd = open_unnamed(dirs[i]);
	for (; fd < 0 && i == 1 && errno == ENOENT; i++)
		fd = open_unnamed(dirs[i + 1]);
	*dir = dirs[i];
	return fd >= 0 ? fd
		       : err__set(
				 errno,
				 "cannot make a temporary file in %s: %s; TMPDIR names another place",
				 dirs[i], strerror(errno));
}

struct scratch *scratch__new(void)
{
	const char *dir;
	int fd = scratch__open(&dir);
	struct scratch *s;

	if (fd < 0)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->fd = fd;
	s->dir = dir;
	return s;
}

void scratch__free(struct scratch *s)
{
	if (!s)
		return;
	close(s->fd);
	free(s);
}

int scratch__put(struct scratch *s, const void *data, size_t len, uint64_t *at)
{
	*at = s->len;
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(s->fd, (const char *)data + done, len - done, s->len + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err__set(n ? errno : ENOSPC,
					"cannot write a temporary file in %s: %s; TMPDIR names "
					"another place",
					s->dir, strerror(n ? errno : ENOSPC));
		done += n;
	}
	s->len += len;
	return 0;
}

int scratch__get(const struct scratch *s, uint64_t at, void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(s->fd, (char *)data + done, len - done, at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err__set(n ? errno : EIO, "cannot read a temporary file in %s: %s",
					s->dir, strerror(n ? errno : EIO));
		done += n;
	}
	return 0;
}
