// SPDX-License-Identifier: BSD-2-Clause
/*
 * Control sockets as files. rename(2) gives a socket its name once it listens: so one where nobody
 * listens is dead and may be removed. Names are reached through /proc/self/fd/FOLDER, which is
 * short enough for sun_path whatever the path is, and can't be redirected after the folder was
 * checked.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "util/named_file.h"
#include "socket.h"

#define SYSTEM_FOLDER "/run/bbtrace"
#define SUFFIX	      ".sock"

/* ---- folders ---- */

char *control_folder__own(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!rights__user())
		return xstrdup(SYSTEM_FOLDER);
	return runtime && *runtime == '/' ? xasprintf("%s/bbtrace", runtime) : NULL;
}

char *control_folder__of(uid_t uid)
{
	return uid ? xasprintf("/run/user/%u/bbtrace", uid) : xstrdup(SYSTEM_FOLDER);
}

/* Fails unless only its owner may change the folder. */
static int check_folder(int fd, uid_t owner)
{
	struct stat st;

	if (fstat(fd, &st))
		return err__set(errno, "%s", strerror(errno));
	if (st.st_uid != owner)
		return err__set(EPERM, "it belongs to user %u", st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err__set(EPERM, "others may write to it");
	return 0;
}

/* Opens a folder. Returns a descriptor, or -errno with a message. */
static int open_folder(const char *path, uid_t owner)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return err__set(errno, "%s", strerror(errno));
	err = check_folder(fd, owner);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* ---- addresses ---- */

static int address_of(int folder, const char *name, struct sockaddr_un *a)
{
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/%s", folder, name);
	return n < (int)sizeof(a->sun_path) ? 0 : -ENAMETOOLONG;
}

/* Never -EINPROGRESS: connect(2) to a local socket whose queue is full fails with EAGAIN. */
static int connect_at(int folder, const char *name, int *fd)
{
	struct sockaddr_un a;
	int err = address_of(folder, name, &a);

	*fd = err ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return err ? err : -errno;
	return connect(*fd, (const struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}

static bool is_dead(int folder, const char *name)
{
	autoclose int fd = -1;

	return connect_at(folder, name, &fd) == -ECONNREFUSED;
}

int control_socket__connect(const char *path, int timeout_ms)
{
	autofree char *copy = xstrdup(path), *name = xstrdup(path);
	with_own_rights;
	autoclose int folder = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000;
	int fd, err;

	if (folder < 0)
		return -errno;
	for (;;) {
		err = connect_at(folder, basename(name), &fd);
		if (!err)
			return fd;
		util__close(&fd);
		if (err != -EAGAIN || now_ns(CLOCK_MONOTONIC) >= end)
			return err == -EAGAIN ? -ETIMEDOUT : err;
		poll(NULL, 0, 20);
	}
}

bool control_socket__remove_dead(const char *path)
{
	autofree char *copy = xstrdup(path), *name = xstrdup(path);
	with_own_rights;
	autoclose int folder = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	return folder >= 0 && !fstatat(folder, basename(name), &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISSOCK(st.st_mode) && st.st_uid == rights__user() &&
	       is_dead(folder, basename(name)) && !unlinkat(folder, basename(name), 0);
}

/* ---- a folder's sockets ---- */

/* Returns the PID in a name as "123.sock"; 0 if it isn't one. */
static uint32_t pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	unsigned long pid = strtoul(name, NULL, 10);

	return digits && *name != '0' && digits < 10 && !strcmp(name + digits, SUFFIX) ? pid : 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

bool control_folder__list(const char *folder, uid_t owner, control_pids *out)
{
	int fd = open_folder(folder, owner), readable;
	const struct dirent *e;
	DIR *dir;

	if (fd < 0)
		return false;
	readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = readable < 0 ? NULL : fdopendir(readable);
	while (dir && (e = readdir(dir))) {
		uint32_t pid = pid_of(e->d_name);

		if (pid && is_dead(fd, e->d_name))
			unlinkat(fd, e->d_name, 0);
		else if (pid)
			vec__push(out, pid);
	}
	if (dir)
		closedir(dir);
	close(fd);
	vec__sort(out, by_number);
	return dir;
}

/* ---- a trace's own socket ---- */

static int cannot(const struct control_socket *s, int err)
{
	return err__set(err, "cannot make the control socket %s: %s", s->path, strerror(err));
}

/* Fails unless the name is free, or that of a socket where nobody listens. */
static int check_name(const struct control_socket *s)
{
	struct stat st;

	if (fstatat(s->file.folder, s->file.name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : cannot(s, errno);
	if (!S_ISSOCK(st.st_mode))
		return err__set(EEXIST,
				"cannot make the control socket %s: it exists and is no "
				"socket; choose another name",
				s->path);
	if (is_dead(s->file.folder, s->file.name))
		return 0;
	return err__set(EADDRINUSE,
			"cannot make the control socket %s: another program listens on it; choose "
			"another name",
			s->path);
}

/* Binds with the right mode from the first moment on. */
static int bind_as(struct control_socket *s, const char *name)
{
	struct sockaddr_un a;
	mode_t mask;
	int err = address_of(s->file.folder, name, &a);

	if (err)
		return err;
	unlinkat(s->file.folder, name, 0);
	mask = umask(0177);
	err = bind(s->fd, (const struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
	umask(mask);
	return err;
}

#define WAITING 16 /* most clients that wait to be accepted */

static int listen_at(struct control_socket *s)
{
	autofree char *early = xasprintf(".bbtrace-%d", getpid());
	int err;

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return cannot(s, errno);
	err = bind_as(s, early);
	if (err)
		return cannot(s, -err);
	if (listen(s->fd, WAITING) ||
	    renameat(s->file.folder, early, s->file.folder, s->file.name)) {
		err = cannot(s, errno);
		unlinkat(s->file.folder, early, 0);
		return err;
	}
	err = named_file__look(&s->file);
	return err ? cannot(s, -err) : 0;
}

static int open_given(struct control_socket *s)
{
	autofree char *copy = xstrdup(s->path), *name = xstrdup(s->path);
	int err;

	s->file.name = xstrdup(basename(name));
	if (strlen(s->file.name) > NAME_MAX || !strcmp(s->file.name, "/") ||
	    !strcmp(s->file.name, ".."))
		return cannot(s, strlen(s->file.name) > NAME_MAX ? ENAMETOOLONG : EISDIR);
	s->file.folder = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->file.folder < 0)
		return cannot(s, errno);
	err = check_name(s);
	return err ? err : listen_at(s);
}

static int open_default(struct control_socket *s, const char *folder)
{
	control_pids others = {0};

	if (mkdir(folder, rights__user() ? 0700 : 0755) && errno != EEXIST)
		return cannot(s, errno);
	s->file.folder = open_folder(folder, rights__user());
	if (s->file.folder < 0)
		return err__prefix(s->file.folder, "%s", folder);
	control_folder__list(folder, rights__user(), &others); /* removes dead ones */
	vec__free(&others);
	s->file.name = xasprintf("%d" SUFFIX, getpid());
	return listen_at(s);
}

int control_socket__open(const char *path, struct control_socket *s)
{
	autofree char *folder = path ? NULL : control_folder__own();
	int err;
	with_own_rights;

	*s = (struct control_socket){.fd = -1, .file.folder = -1};
	if (path) {
		s->path = xstrdup(path);
		err = open_given(s);
	} else if (folder) {
		s->path = xasprintf("%s/%d" SUFFIX, folder, getpid());
		err = open_default(s, folder);
	} else {
		err = err__set(ENOENT, "XDG_RUNTIME_DIR is not set");
	}
	if (!err)
		return 0;
	control_socket__close(s);
	if (path)
		return err;
	note_verbose("bbtrace ctl can't reach this trace: %s; --control-socket PATH makes it a "
		     "socket",
		     err__text());
	err__clear();
	return 0;
}

void control_socket__close(struct control_socket *s)
{
	if (s->fd >= 0)
		named_file__remove(&s->file);
	util__close(&s->fd);
	util__close(&s->file.folder);
	free(s->file.name);
	free(s->path);
	*s = (struct control_socket){.fd = -1, .file.folder = -1};
}
