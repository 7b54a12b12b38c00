// SPDX-License-Identifier: BSD-2-Clause
/* The clients of a control socket, over socket pairs and with a made clock. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "control/server.h"
#include "tap.h"

/* Answers "echo TEXT" with TEXT, "big" with BIG bytes, "wrong" and "fail" with errors. */
#define BIG (8u << 20)
static unsigned requests;

static int on_request(void *ctx, char *line, struct control_reply *reply)
{
	struct control_request r;
	int err = control_request__parse(line, &r);

	requests++;
	if (err)
		return err;
	if (!strcmp(r.command, "echo"))
		str__printf(&reply->text, "%s%s\n", r.json ? "json " : "", r.text);
	else if (!strcmp(r.command, "big"))
		memset(str__extend(&reply->text, BIG), 'x', BIG);
	else if (!strcmp(r.command, "fail"))
		return err__set(EIO, "broken");
	else
		return err__usage("unknown");
	return 0;
}

static struct control_server *server(void)
{
	requests = 0;
	return control_server__new(-1, geteuid(), on_request, NULL);
}

/* Returns the client's end. */
static int connect_to(struct control_server *s, uint64_t now)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		abort();
	control_server__add(s, fds[0], now);
	return fds[1];
}

static bool is_readable(const struct control_server *s)
{
	struct pollfd p = {.fd = control_server__fd(s), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void serve_all(struct control_server *s, uint64_t now)
{
	for (int i = 0; i < 1000 && (is_readable(s) || control_server__has_more(s)); i++)
		control_server__serve(s, now);
}

static void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		abort();
}

/* What has come, without the greeting. */
static const char *heard(int fd)
{
	static char text[4096];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
	char *end;

	text[n > 0 ? n : 0] = 0;
	end = strchr(text, '\n');
	if (strncmp(text, CONTROL_GREETING, strlen(CONTROL_GREETING)) || !end)
		return text;
	return end + 1;
}

/* The answer to one text. */
static const char *answer(struct control_server *s, int fd, const char *text)
{
	say(fd, text);
	serve_all(s, 1);
	return heard(fd);
}

static bool is_closed(int fd)
{
	char byte;
	ssize_t n;

	while ((n = recv(fd, &byte, 1, 0)) > 0)
		;
	return !n || errno == ECONNRESET;
}

static void test_requests(void)
{
	struct control_server *s = server();
	int fd = connect_to(s, 1);
	char greeting[64];

	serve_all(s, 1);
	ok(recv(fd, greeting, sizeof(greeting), 0) > 0 &&
		   atoi(greeting + strlen(CONTROL_GREETING)) == getpid(),
	   "who connects is greeted with the version and the PID");
	is_str(answer(s, fd, "echo a  b \n"), "ok 5\na  b\n", "a request and its answer");
	is_str(answer(s, fd, "echo a\r\n"), "ok 2\na\n", "a line may end as on other systems");
	is_str(answer(s, fd, "\techo\t-F json x\n"), "ok 7\njson x\n", "-F json");
	is_str(answer(s, fd, "echo -F text x\n"), "ok 2\nx\n", "-F text");
	is_str(answer(s, fd, "echo -Fast\n"), "ok 6\n-Fast\n", "what only begins like -F is text");
	is_str(answer(s, fd, "echo -F xml\n"), "usage 22\n-F takes text or json\n",
	       "another format is wrong usage");
	is_str(answer(s, fd, "fail\n"), "error 7\nbroken\n", "an error is an error");
	is_str(answer(s, fd, "echo 1\necho 2\necho 3\n"), "ok 2\n1\nok 2\n2\nok 2\n3\n",
	       "three requests at once have three answers");
	say(fd, "ec");
	serve_all(s, 1);
	is_str(answer(s, fd, "ho part\n"), "ok 5\npart\n", "a request in two pieces");
	ok(!is_readable(s), "the descriptor rests when all is done");
	close(fd);
	serve_all(s, 1);
	is(control_server__clients(s), 0, "who goes is forgotten");
	control_server__free(s);
}

static void test_garbage(void)
{
	struct control_server *s = server();
	char line[CONTROL_LINE_MAX + 100];
	int fd = connect_to(s, 1);

	is_str(answer(s, fd, "\n"), "usage 39\nan empty line; help lists the commands\n",
	       "an empty line");
	if (send(fd, "echo a\0b\n", 9, 0) != 9)
		abort();
	serve_all(s, 1);
	is_str(heard(fd), "usage 18\na line with a NUL\n",
	       "a NUL is not taken for the end of a text");
	memset(line, 'x', sizeof(line));
	memcpy(line, "echo ", 5);
	line[CONTROL_LINE_MAX - 1] = '\n';
	line[CONTROL_LINE_MAX] = 0;
	say(fd, line);
	serve_all(s, 1);
	ok(!strncmp(heard(fd), "ok 4091\n", 8), "the longest line");
	(void)heard(fd); /* the rest of it */
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = 0;
	is_str(answer(s, fd, line), "usage 31\na line of more than 4096 bytes\n",
	       "a longer one is refused");
	ok(is_closed(fd) && !control_server__clients(s), "and the client dropped");
	close(fd);
	fd = connect_to(s, 1);
	say(fd, "echo 1\nqui");
	shutdown(fd, SHUT_WR);
	serve_all(s, 1);
	is_str(heard(fd), "ok 2\n1\nusage 23\na line without its end\n",
	       "half a line is not run, those before it are answered");
	ok(is_closed(fd) && !control_server__clients(s), "and it is over");
	close(fd);
	control_server__free(s);
}

static void test_who_goes(void)
{
	struct control_server *s = server();
	int fd = connect_to(s, 1);

	say(fd, "echo 1\necho 2\n");
	close(fd);
	serve_all(s, 1);
	ok(requests == 2 && !control_server__clients(s),
	   "what was asked for before the client went is done");
	fd = connect_to(s, 1);
	say(fd, "big\necho 1\n");
	serve_all(s, 1);
	close(fd);
	serve_all(s, 1);
	ok(requests == 4 && !control_server__clients(s), "also in the middle of an answer");
	control_server__free(s);
}

static void test_slow(void)
{
	struct control_server *s = server();
	int fd = connect_to(s, 1), other = connect_to(s, 1);
	char text[4096];
	uint64_t got = 0;
	ssize_t n;

	say(fd, "big\necho end\n");
	serve_all(s, 1);
	ok(control_server__clients(s) == 2 && !is_readable(s) && !control_server__has_more(s),
	   "who doesn't read is not waited for");
	is_str(answer(s, other, "echo 1\n"), "ok 2\n1\n", "others are served meanwhile");
	is(requests, 2, "its next request waits");
	while ((n = recv(fd, text, sizeof(text), 0)) > 0) {
		got += n;
		serve_all(s, 2);
	}
	ok(got > BIG && requests == 3, "when it reads, it gets all of it, and the next answer");
	say(fd, "big\n");
	serve_all(s, 2);
	control_server__serve(s, 1 + CONTROL_IDLE_NS);
	ok(is_closed(other) && control_server__clients(s) == 1,
	   "who says nothing for long is dropped");
	control_server__serve(s, 1 + CONTROL_IDLE_NS);
	is(control_server__clients(s), 1, "not before");
	control_server__serve(s, 2 + CONTROL_IDLE_NS);
	is(control_server__clients(s), 0, "so is who reads nothing");
	close(fd);
	close(other);
	control_server__free(s);
}

static void test_many(void)
{
	struct control_server *s = server();
	int fds[CONTROL_CLIENTS + 1];

	for (int i = 0; i <= CONTROL_CLIENTS; i++) {
		if (i == CONTROL_CLIENTS) { /* the first one has spoken since */
			say(fds[0], "echo 1\n");
			serve_all(s, 10 * i);
		}
		fds[i] = connect_to(s, 10 * i);
		serve_all(s, 10 * i);
	}
	is(control_server__clients(s), CONTROL_CLIENTS, "the number of clients is bounded");
	ok(is_closed(fds[1]), "one too many replaces who was quiet for longest");
	is_str(answer(s, fds[CONTROL_CLIENTS], "echo 1\n"), "ok 2\n1\n", "and is served");
	for (int i = 0; i <= CONTROL_CLIENTS; i++)
		close(fds[i]);
	control_server__free(s);
}

/* One client's endless requests don't keep the caller. */
static void test_flood(void)
{
	struct control_server *s = server();
	int fd = connect_to(s, 1);

	for (int i = 0; i < 100; i++)
		say(fd, "echo 1\n");
	control_server__serve(s, 1);
	ok(requests > 0 && requests < 20, "only some of many requests are run at once");
	for (int i = 0; i < 100; i++) {
		serve_all(s, 1);
		(void)heard(fd);
	}
	is(requests, 100, "the others after them");
	close(fd);
	control_server__free(s);
}

static void test_heads(void)
{
	enum control_result result;
	uint64_t len;

	ok(control_head__parse("ok 12", &result, &len) && result == CONTROL_OK && len == 12, "ok");
	ok(control_head__parse("usage 0", &result, &len) && result == CONTROL_USAGE, "usage");
	ok(control_head__parse("denied 3", &result, &len) && result == CONTROL_ERROR && len == 3,
	   "a result of a later version is an error");
	ok(!control_head__parse("ok", &result, &len) &&
		   !control_head__parse("ok ", &result, &len) &&
		   !control_head__parse("ok -1", &result, &len) &&
		   !control_head__parse("ok 1 2", &result, &len) &&
		   !control_head__parse(" 1", &result, &len) &&
		   !control_head__parse("ok 99999999999999999999999", &result, &len),
	   "what is no head");
}

int main(void)
{
	test_requests();
	test_garbage();
	test_who_goes();
	test_slow();
	test_many();
	test_flood();
	test_heads();
	return tap__done();
}
