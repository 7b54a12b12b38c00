// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server.h"

/* Most requests of one client to run in a row, before the trace continues. */
#define AT_ONCE 8

struct client {
	int fd;
	struct control_lines lines;
	struct str out; /* to be sent */
	size_t sent;	/* the bytes of out that were sent */
	uint64_t last;	/* when the client last wrote or read something */
	uint32_t waits; /* EPOLLIN or EPOLLOUT, as registered with epoll */
	bool ended;	/* the client has ended its side */
	bool gone;	/* the client reads no more: its requests are run, but not answered */
	bool closes;	/* closed once out is sent */
	bool more;	/* it has lines that were not run yet */
};

struct control_server {
	int epoll, listening;
	uid_t owner;
	control_fn fn;
	void *ctx;
	struct client *clients[CONTROL_CLIENTS];
	size_t n;
};

struct control_server *control_server__new(int listening, uid_t owner, control_fn fn, void *ctx)
{
	struct control_server *s = xcalloc(1, sizeof(*s));
	struct epoll_event e = {.events = EPOLLIN}; /* data is NULL */

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listening = listening;
	s->owner = owner;
	s->fn = fn;
	s->ctx = ctx;
	if (listening >= 0)
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, listening, &e);
	return s;
}

int control_server__fd(const struct control_server *s)
{
	return s->epoll;
}

size_t control_server__clients(const struct control_server *s)
{
	return s->n;
}

/* ---- a client's life ---- */

/* Closes a connection. A forked child may have a copy of the descriptor: so it has to be removed
 * from epoll explicitly, and with hang_up the connection is shut down explicitly. */
static void drop(struct control_server *s, struct client *c, bool hang_up)
{
	size_t i = 0;

	epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	if (hang_up)
		shutdown(c->fd, SHUT_RDWR);
	close(c->fd);
	while (s->clients[i] != c)
		i++;
	memmove(&s->clients[i], &s->clients[i + 1], (--s->n - i) * sizeof(*s->clients));
	str__free(&c->out);
	free(c);
}

static void drop_longest_idle(struct control_server *s)
{
	struct client *c = s->clients[0];

	for (size_t i = 1; i < s->n; i++)
		c = s->clients[i]->last < c->last ? s->clients[i] : c;
	drop(s, c, true);
}

void control_server__add(struct control_server *s, int fd, uint64_t now)
{
	struct client *c = xcalloc(1, sizeof(*c));
	struct epoll_event e = {.events = EPOLLOUT, .data.ptr = c};

	if (s->n == CONTROL_CLIENTS)
		drop_longest_idle(s);
	c->fd = fd;
	c->last = now;
	c->waits = EPOLLOUT;
	str__printf(&c->out, CONTROL_GREETING " %d\n", getpid());
	s->clients[s->n++] = c;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e))
		drop(s, c, true);
}

static bool may_connect(const struct control_server *s, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (!peer.uid || peer.uid == s->owner);
}

static void refuse(int fd)
{
	static const char text[] =
		"not permitted: only root and the user of the trace may control it\n";
	struct str s = {0};

	str__printf(&s, CONTROL_GREETING " %d\n", getpid());
	control_head__put(&s, CONTROL_ERROR, sizeof(text) - 1);
	str__puts(&s, text);
	(void)!send(fd, s.data, s.len, MSG_NOSIGNAL);
	str__free(&s);
	close(fd);
}

static void accept_all(struct control_server *s, uint64_t now)
{
	int fd;

	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		fd = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		if (may_connect(s, fd))
			control_server__add(s, fd, now);
		else
			refuse(fd);
	}
}

/* ---- requests and answers ---- */

enum progress { GOES_ON, WAITS, ENDED };

static enum progress send_out(struct client *c, uint64_t now)
{
	while (!c->gone && c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return WAITS;
		c->gone = n < 0 && errno != EINTR;
		c->sent += max_of(n, 0);
		c->last = now;
	}
	c->sent = 0;
	str__free(&c->out);
	return c->closes ? ENDED : GOES_ON;
}

static void answer(struct client *c, int err, const struct str *text)
{
	autofree char *message = err ? xasprintf("%s\n", err__text()) : NULL;
	size_t len = err ? strlen(message) : text->len;

	control_head__put(&c->out,
			  !err		    ? CONTROL_OK
			  : err__is_usage() ? CONTROL_USAGE
					    : CONTROL_ERROR,
			  len);
	str__put(&c->out, err ? message : text->data ? text->data : "", len);
	err__clear();
}

static enum progress run(struct control_server *s, struct client *c, char *line, bool whole)
{
	struct control_reply reply = {.fd = c->fd};
	int err = whole ? s->fn(s->ctx, line, &reply) : err__usage("a line with a NUL");

	if (!reply.handed_over)
		answer(c, err, &reply.text);
	str__free(&reply.text);
	return reply.handed_over ? ENDED : GOES_ON;
}

static void end_with(struct client *c, const char *why)
{
	answer(c, err__usage("%s", why), NULL);
	c->closes = true;
}

static enum progress receive(struct client *c, uint64_t now)
{
	size_t room;
	ssize_t n;
	char *at;

	room = control_lines__room(&c->lines, &at);
	n = recv(c->fd, at, room, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? WAITS : ENDED;
	control_lines__add(&c->lines, n);
	c->ended = !n;
	c->last = now;
	return GOES_ON;
}

/* Handles the client's next line, or the end of its input. */
static enum progress take_line(struct control_server *s, struct client *c, uint64_t now)
{
	bool whole;
	char *line = control_lines__next(&c->lines, &whole);

	if (line) {
		c->more = true;
		return run(s, c, line, whole);
	}
	c->more = false;
	if (control_lines__overflow(&c->lines))
		return end_with(c, "a line of more than 4096 bytes"), GOES_ON;
	if (c->ended && c->lines.len)
		return end_with(c, "a line without its end"), GOES_ON;
	return c->ended ? ENDED : receive(c, now);
}

static void serve(struct control_server *s, struct client *c, uint64_t now)
{
	struct epoll_event e = {.data.ptr = c};
	enum progress progress = GOES_ON;
	bool handed_over = false;

	for (int i = 0; progress == GOES_ON && i < 2 * AT_ONCE; i++) {
		progress = send_out(c, now);
		if (progress != GOES_ON)
			break;
		progress = take_line(s, c, now);
		handed_over = progress == ENDED && c->more;
	}
	if (progress == ENDED)
		return drop(s, c, !handed_over);
	e.events = c->out.len ? EPOLLOUT : EPOLLIN;
	if (e.events != c->waits && epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &e))
		return drop(s, c, true);
	c->waits = e.events;
}

static bool is_there(const struct control_server *s, const struct client *c)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->clients[i] == c)
			return true;
	return false;
}

bool control_server__has_more(const struct control_server *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->clients[i]->more && !s->clients[i]->out.len)
			return true;
	return false;
}

static void serve_more(struct control_server *s, uint64_t now)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->clients[i]->more && !s->clients[i]->out.len)
			serve(s, s->clients[i], now);
}

static void drop_idle(struct control_server *s, uint64_t now)
{
	for (size_t i = s->n; i-- > 0;)
		if (now - s->clients[i]->last >= CONTROL_IDLE_NS)
			drop(s, s->clients[i], true);
}

void control_server__serve(struct control_server *s, uint64_t now)
{
	struct epoll_event e[CONTROL_CLIENTS + 1];
	int n = epoll_wait(s->epoll, e, ARRAY_SIZE(e), 0);

	serve_more(s, now);
	for (int i = 0; i < n; i++)
		if (!e[i].data.ptr)
			accept_all(s, now);
		else if (!is_there(s, e[i].data.ptr))
			continue;
		else
			serve(s, e[i].data.ptr, now);
	drop_idle(s, now);
}

void control_server__free(struct control_server *s)
{
	if (!s)
		return;
	while (s->n)
		drop(s, s->clients[0], true);
	util__close(&s->epoll);
	free(s);
}
