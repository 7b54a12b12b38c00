// SPDX-License-Identifier: BSD-2-Clause
/* Reads whole files; files in memory; closes descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util.h"

#ifndef MFD_NOEXEC_SEAL /* from Linux 6.3 on */
#define MFD_NOEXEC_SEAL 8u
#endif

int fd__in_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC) : fd;
}

int fd__read(int fd, const char *name, size_t limit, char **out, size_t *len)
{
	struct str text = {0};
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (text.len + n > limit) {
			str__free(&text);
			return err__set(EFBIG, "%s is larger than %zu bytes", name, limit);
		}
		str__put(&text, chunk, n);
	}
	if (n < 0) {
		n = errno;
		str__free(&text);
		return err__set((int)n, "cannot read %s: %s", name, strerror((int)n));
	}
	str__put(&text, "", 0);
	*out = text.data;
	if (len)
		*len = text.len;
	return 0;
}

int file__read(const char *path, size_t limit, char **out, size_t *len)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err__set(errno, "cannot open %s: %s", path, strerror(errno));
	return fd__read(fd, path, limit, out, len);
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void fd__close_others(int *keep, size_t n)
{
	int from = 0;

	qsort(keep, n, sizeof(*keep), by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] > from)
			close_range(from, keep[i] - 1, 0);
		from = max_of(from, keep[i] + 1);
	}
	close_range(from, ~0u, 0);
}

bool fd__write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

int folder__make(const char *path, mode_t mode)
{
	autofree char *part = xstrdup(path);

	for (char *slash = part; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(part, mode);
		*slash = '/';
	}
	return mkdir(part, mode) && errno != EEXIST ? -errno : 0;
}
