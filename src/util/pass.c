// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors that are passed with messages: unix(7), SCM_RIGHTS. */
#include <errno.h>
#include <sys/socket.h>
#include "util.h"

ssize_t fd__send(int socket, const void *data, size_t len, int fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {(void *)(uintptr_t)data, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &m, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int passed(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = m->msg_flags & MSG_CTRUNC ? -EMFILE : -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

ssize_t fd__receive(int socket, void *data, size_t len, int *fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {data, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	do {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	*fd = n < 0 ? -1 : passed(&m);
	return n < 0 ? -errno : n;
}
