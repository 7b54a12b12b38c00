// SPDX-License-Identifier: BSD-2-Clause
/* Opens files that the user names, of any kind; no call waits for ever. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include "util/given.h"

/* A FIFO's writer may start after us, and may have to compute what it writes. */
#define WRITER_MS 1000
#define BYTES_MS  5000
#define LOOK_MS	  20
/* The limit of what is read from a file without a size, such as a device. */
#define UNSIZED_MOST ((size_t)16 << 20)

/* Duplicates a byte, which needs one, or a writer. Returns 0 if there is neither. */
static ssize_t has_writer(int fd)
{
	int copy[2];
	ssize_t n;

	if (pipe2(copy, O_CLOEXEC))
		return -errno;
	n = tee(fd, copy[1], 1, SPLICE_F_NONBLOCK);
	close(copy[0]);
	close(copy[1]);
	return n;
}

/* Waits until there is something to read, or until all writers are gone. */
static int await_bytes(int fd, const char *name)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool writer = false;

	for (unsigned ms = 0; ms < (writer ? BYTES_MS : WRITER_MS); ms += LOOK_MS) {
		if (poll(&p, 1, LOOK_MS) > 0)
			return 0;
		writer = writer || has_writer(fd) != 0;
	}
	return writer ? err__set(ETIMEDOUT,
				 "nothing has come from %s for %u s; to wait longer: bbtrace ... - "
				 "<%s",
				 name, BYTES_MS / 1000, name)
		      : err__set(ETIMEDOUT,
				 "%s is a FIFO that nobody writes to; start its writer first",
				 name);
}

static int prepare(int fd, const char *name, struct stat *st)
{
	if (fstat(fd, st))
		return err__set(errno, "cannot read %s: %s", name, strerror(errno));
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
		return err__set(errno, "cannot read %s: %s", name, strerror(errno));
	return S_ISFIFO(st->st_mode) ? await_bytes(fd, name) : 0;
}

int file__open_given(const char *name, struct stat *st)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	struct stat own;

	if (fd < 0)
		return err__set(errno, "cannot open %s: %s", name, strerror(errno));
	err = prepare(fd, name, st ? st : &own);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int file__read_given(const char *name, size_t limit, char **out, size_t *len)
{
	with_own_rights;
	struct stat st;
	autoclose int fd = file__open_given(name, &st);

	if (fd < 0)
		return fd;
	if (!S_ISREG(st.st_mode))
		limit = min_of(limit, UNSIZED_MOST);
	else if ((uint64_t)st.st_size > limit)
		return err__set(EFBIG, "%s is larger than %zu bytes", name, limit);
	return fd__read(fd, name, limit, out, len);
}
