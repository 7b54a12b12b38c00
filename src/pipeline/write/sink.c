// SPDX-License-Identifier: BSD-2-Clause
/* The destination of a trace: stdout, or a file (sink_file.c). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pipeline/render.h"
#include "util/fit.h"

bool sink__is_stdout(const char *path)
{
	return !path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

void sink__measure(struct sink *s)
{
	unsigned columns = s->is_terminal ? terminal__columns(s->fd) : 0;
	unsigned lines = s->is_terminal ? terminal__lines(s->fd) : 0;

	/* a pager may be in between by now */
	s->width = columns ? columns : s->width;
	s->height = lines ? lines : s->height;
}

/* Sets what depends on the kind of file. */
static void use(struct sink *s, int fd)
{
	struct stat st;

	s->fd = fd;
	s->is_terminal = isatty(fd);
	sink__measure(s);
	s->is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	s->has_old = s->is_file && fd != STDOUT_FILENO;
}

static int (*opener)(void); /* NULL if this process may open its files */

void sink__open_by(int (*open)(void))
{
	opener = open;
}

int sink__open(struct sink *s, const char *path, struct sink_place *kept)
{
	int fd = STDOUT_FILENO;

	*s = (struct sink){.fd = -1, .name = "stdout"};
	if (!sink__is_stdout(path)) {
		s->name = path;
		fd = opener ? opener() : sink__open_file(path, kept);
		if (fd < 0)
			return fd;
	} else if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) { /* main.c */
		return err__set(EBADF, "stdout is closed; write to a file with -o");
	}
	use(s, fd);
	return 0;
}

void sink__take(struct sink *s, const char *path, int fd)
{
	*s = (struct sink){.fd = -1, .name = path};
	use(s, fd);
}

void sink__close(struct sink *s)
{
	if (s->fd > STDERR_FILENO)
		close(s->fd);
	s->fd = -1;
}

void sink__ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static int cannot_write(const struct sink *s, int err)
{
	return err__set(err, "cannot write to %s: %s%s", s->name, strerror(err),
			err == EFBIG ? "; raise the limit, ulimit -f" : "");
}

int sink__begin(struct sink *s)
{
	if (s->has_old && ftruncate(s->fd, 0))
		return cannot_write(s, errno);
	s->has_old = false;
	return 0;
}

int sink__write(void *sink, const void *data, size_t len)
{
	struct sink *s = sink;
	int err = sink__begin(s);

	if (err)
		return err;
	while (len) {
		ssize_t n = write(s->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE) {
			s->reader_gone = true;
			return -EPIPE;
		}
		if (n < 0)
			return cannot_write(s, errno);
		data = (const char *)data + n;
		len -= n;
	}
	return 0;
}
