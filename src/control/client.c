// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "client.h"
#include "socket.h"

static int no_answer(const struct control_client *c)
{
	if (c->greeted)
		return err__set(ETIMEDOUT, "%s has not answered yet; -t SEC waits longer", c->who);
	return err__set(
		ETIMEDOUT,
		"%s does not answer: it is still attaching its probes, or its output is not "
		"read (a pager, a pipe); -t SEC waits longer",
		c->who);
}

static int ended(const struct control_client *c)
{
	return err__set(EPIPE, "%s ended before it had answered", c->who);
}

static int strange(const struct control_client *c)
{
	return err__set(EPROTO, "%s does not answer as a trace of bbtrace does", c->who);
}

static int await(const struct control_client *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};
	int n;

	do
		n = poll(&p, 1, c->timeout_ms);
	while (n < 0 && errno == EINTR);
	return n ? 0 : no_answer(c);
}

#define PIECE (64u << 10)

/* Receives more. */
static int receive(struct control_client *c)
{
	int err = await(c, POLLIN);
	ssize_t n;

	if (err)
		return err;
	if (c->at) {
		memmove(c->in.data, c->in.data + c->at, c->in.len - c->at);
		c->in.len -= c->at;
		c->at = 0;
	}
	str__reserve(&c->in, PIECE);
	n = recv(c->fd, c->in.data + c->in.len, PIECE, 0);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return ended(c);
	c->in.len += n;
	return 0;
}

/* Takes a line without its end, valid until more is received. */
static int take_line(struct control_client *c, char **line)
{
	char *end;
	int err;

	while (!(end = c->in.len > c->at ? memchr(c->in.data + c->at, '\n', c->in.len - c->at)
					 : NULL)) {
		if (c->in.len - c->at > CONTROL_LINE_MAX)
			return strange(c);
		err = receive(c);
		if (err)
			return err;
	}
	*end = 0;
	*line = c->in.data + c->at;
	c->at = end + 1 - c->in.data;
	return 0;
}

/* Fails if the peer is another user, whose text would pass for the trace's. */
static int check_peer(const struct control_client *c)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return err__set(errno, "%s: %s", c->who, strerror(errno));
	if (!rights__user() || !peer.uid || peer.uid == rights__user())
		return 0;
	return err__set(EPERM, "%s belongs to user %u", c->who, peer.uid);
}

int control_client__open(struct control_client *c, const char *path)
{
	char *line;
	int err;

	c->fd = control_socket__connect(path, c->timeout_ms);
	if (c->fd == -ETIMEDOUT)
		return no_answer(c);
	if (c->fd < 0)
		return err__set(-c->fd, "cannot connect to %s: %s", c->who, strerror(-c->fd));
	err = check_peer(c);
	if (!err)
		err = take_line(c, &line);
	if (err)
		return err;
	c->greeted = true;
	return strncmp(line, CONTROL_GREETING " ", strlen(CONTROL_GREETING " ")) ? strange(c) : 0;
}

static int send_all(struct control_client *c, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);
		int err;

		if (n >= 0) {
			data += n;
			len -= n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return 0; /* the answer is still to be read */
		err = await(c, POLLOUT);
		if (err)
			return err;
	}
	return 0;
}

static int collect(void *text, const char *data, size_t len)
{
	str__put(text, data, len);
	return 0;
}

static int take_answer(struct control_client *c, uint64_t len, control_take_fn take, void *ctx)
{
	while (len) {
		size_t some = min_of(len, (uint64_t)(c->in.len - c->at));
		int err = some ? take(ctx, c->in.data + c->at, some) : receive(c);

		if (err)
			return err;
		c->at += some;
		len -= some;
	}
	return 0;
}

static int take_error(struct control_client *c, enum control_result result, uint64_t len)
{
	struct str text = {0};
	int err = take_answer(c, len, collect, &text);

	if (!err && text.len)
		text.data[strcspn(text.data, "\n")] = 0;
	if (!err && result == CONTROL_USAGE)
		err = err__usage("%s", text.len ? text.data : "");
	else if (!err)
		err = err__set(EIO, "%s: %s", c->who, text.len ? text.data : "failed");
	str__free(&text);
	return err;
}

int control_client__ask(struct control_client *c, const char *request, control_take_fn take,
			void *ctx)
{
	autofree char *line = xasprintf("%s\n", request);
	enum control_result result;
	uint64_t len;
	char *head;
	int err;

	if (strlen(line) > CONTROL_LINE_MAX)
		return err__usage("a command has at most %d bytes", CONTROL_LINE_MAX - 1);
	err = send_all(c, line, strlen(line));
	if (!err)
		err = take_line(c, &head);
	if (err)
		return err;
	if (!control_head__parse(head, &result, &len))
		return strange(c);
	return result == CONTROL_OK ? take_answer(c, len, take, ctx) : take_error(c, result, len);
}

void control_client__await_end(struct control_client *c)
{
	c->timeout_ms = -1;
	while (!receive(c))
		c->at = c->in.len;
	err__clear();
}

void control_client__close(struct control_client *c)
{
	util__close(&c->fd);
	str__free(&c->in);
}
