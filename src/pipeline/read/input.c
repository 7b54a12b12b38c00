// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "input.h"
#include "util/given.h"

/* ---- bytes ---- */

/* Shows all that was read so far before waiting for more bytes. */
static int before_waiting(struct input *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return !in->streams || !in->waits || poll(&p, 1, 0) ? 0 : in->waits(in->ctx);
}

static ssize_t read_fd(struct input *in, void *data, size_t len)
{
	ssize_t n = before_waiting(in);

	if (n)
		return n;
	do
		n = read(in->fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err__set(errno, "cannot read %s: %s", in->name, strerror(errno));
	progress__add(&in->progress, n);
	return n;
}

static ssize_t read_plain(void *ctx, void *data, size_t len)
{
	struct input *in = ctx;

	if (in->given == in->npeeked)
		return read_fd(in, data, len);
	len = min_of(len, in->npeeked - in->given);
	memcpy(data, in->peeked + in->given, len);
	in->given += len;
	return len;
}

static void note_damage(void *ctx, const char *text)
{
	struct input *in = ctx;

	progress__end(&in->progress);
	note("%s: %s", in->name, text);
}

int input__open(struct input *in, const char *name)
{
	struct stat st;
	ssize_t n = 1;
	with_own_rights;

	in->name = name;
	in->fd = STDIN_FILENO;
	if (!strcmp(in->name, "-"))
		in->name = "stdin";
	else
		in->fd = file__open_given(in->name, &st);
	if (in->fd < 0)
		return in->fd;
	if (fstat(in->fd, &st))
		return err__set(errno, "cannot read %s: %s", in->name, strerror(errno));
	in->streams = !S_ISREG(st.st_mode);
	progress__read(&in->progress, note__level() > NOTE_QUIET, in->streams ? 0 : st.st_size);
	while (n > 0 && in->npeeked < INPUT_PEEK) {
		n = read_fd(in, in->peeked + in->npeeked, INPUT_PEEK - in->npeeked);
		if (n < 0)
			return n;
		in->npeeked += n;
	}
	if (trace_reader__is_magic(in->peeked, in->npeeked)) {
		in->reader = trace_reader__new(read_plain, in);
		return 0;
	}
	in->dearmor = dearmor__new(read_plain, in, note_damage, in);
	in->reader = trace_reader__new(dearmor__read, in->dearmor);
	return 0;
}

void input__close_file(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = -1;
}

void input__close(struct input *in)
{
	trace_reader__free(in->reader);
	dearmor__free(in->dearmor);
	input__close_file(in);
	*in = (struct input){.fd = -1};
}

/* ---- errors ---- */

bool input__is_of_file(int err)
{
	return err == -EBADMSG || err == -ENODATA || err == -ENOEXEC || err == -ENOTSUP;
}

/* A bbtrace that writes the file holds a lock on it. */
bool input__is_growing(const struct input *in)
{
	if (!flock(in->fd, LOCK_SH | LOCK_NB)) {
		flock(in->fd, LOCK_UN);
		return false;
	}
	return errno == EWOULDBLOCK;
}

/* Reports damaged armor as the cause of the error, if there is some. */
int input__report_damage(struct input *in, int err)
{
	autofree char *why = xstrdup(err__text());
	uint64_t bad = in->dearmor ? dearmor__finish(in->dearmor) : 0;

	return bad ? err__set(-err, "%llu armored line%s damaged or missing: %s",
			      (unsigned long long)bad, bad == 1 ? " is" : "s are", why)
		   : err__set(-err, "%s", why);
}

/* ---- names ---- */

/* Text may precede the first line of an armored file. */
#define FIRST_LINE "@bb000000"

bool input__is_trace(const char *name)
{
	autofree char *start = xmalloc(64 << 10);
	struct stat st;
	ssize_t n;
	int fd;
	with_own_rights;

	if (stat(name, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, start, 64 << 10);
	if (fd >= 0)
		close(fd);
	return n > 0 && (trace_reader__is_magic(start, n) ||
			 memmem(start, n, FIRST_LINE, strlen(FIRST_LINE)));
}
