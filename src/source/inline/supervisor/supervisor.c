// SPDX-License-Identifier: BSD-2-Clause
/* The supervisor, seen from bbtrace. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tracer.h"

/* How long to wait until it has attached, and until it has detached from everything. Its own waits
 * are bounded. */
#define ATTACH_MS 15000
#define END_NS	  1500000000ull

struct supervisor {
	pid_t pid;
	int socket;
};

/* ---- in its process ---- */

/* It ends when there is nothing left to do, since it is responsible for breakpoints and threads. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGPIPE, SIGUSR1,
				      SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL); /* the watchdog's (serve.c) */
}

/* A stopped thread waits for it: if others are run before, handlers come too late for their timers,
 * and pile up. It does nothing but that. */
#define NICE (-20)

/* It holds nothing open that others wait for: neither the output nor the command's pipes. It is in
 * its own session, so that no signal to bbtrace's group ends it. */
static void __attribute__((noreturn)) supervise(const struct supervisor_options *o, int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, 0};

	setsid();
	ignore_signals();
	prctl(PR_SET_NAME, "bbtrace-inline");
	setpriority(PRIO_PROCESS, 0, NICE);
	socket = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null, i);
	kept[3] = socket;
	fd__close_others(kept, ARRAY_SIZE(kept));
	if (socket < 0)
		_exit(0);
	tracer__serve(o, socket);
}

/* ---- in bbtrace ---- */

static int receive_answer(const struct supervisor *s)
{
	struct pollfd fd = {.fd = s->socket, .events = POLLIN};
	struct start_answer answer;
	ssize_t n;
	int ready;

	do
		ready = poll(&fd, 1, ATTACH_MS);
	while (ready < 0 && errno == EINTR);
	if (!ready) { /* nothing that it has done depends on it */
		kill(s->pid, SIGKILL);
		return err__set(ETIMEDOUT, "attaching has taken more than %d s", ATTACH_MS / 1000);
	}
	n = recv(s->socket, &answer, sizeof(answer), 0);
	if (n != sizeof(answer))
		return err__set(EPIPE, "the supervisor has ended");
	answer.text[sizeof(answer.text) - 1] = 0;
	if (answer.err && *answer.text)
		return err__set(-answer.err, "%s", answer.text);
	if (answer.err == -EPERM)
		return err__set(EPERM, "cannot trace the command: another tracer has it, or this "
				       "needs CAP_SYS_PTRACE");
	return answer.err ? err__set(-answer.err, "cannot trace the command: %s",
				     strerror(-answer.err))
			  : 0;
}

/* Returns false if it still exists after this time. */
static bool await_end(struct supervisor *s)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + END_NS, now;
	struct pollfd fd = {.fd = s->pid > 0 ? (int)syscall(SYS_pidfd_open, s->pid, 0) : -1,
			    .events = POLLIN};
	pid_t got = -1;

	while (s->pid > 0 && !(got = waitpid(s->pid, NULL, WNOHANG)) &&
	       (now = now_ns(CLOCK_MONOTONIC)) < end)
		poll(&fd, 1, fd.fd < 0 ? 1 : (int)((end - now) / 1000000) + 1);
	util__close(&fd.fd);
	if (!got)
		return false;
	s->pid = 0;
	return true;
}

void supervisor__close(struct supervisor *s)
{
	if (!s)
		return;
	/* upon this it detaches from everything */
	shutdown(s->socket, SHUT_WR);
	await_end(s);
	close(s->socket);
	free(s);
}

int supervisor__start(const struct supervisor_options *o, struct supervisor **out)
{
	struct supervisor *s;
	int ends[2], err;

	*out = NULL;
	if (!o->plan->arch || !o->plan->arch->tracee)
		return err__set(ENOTSUP, "functions of this machine's programs can't be copied");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(errno, "cannot make a socket: %s", strerror(errno));
	s = xcalloc(1, sizeof(*s));
	s->socket = ends[0];
	fflush(NULL);
	s->pid = fork();
	if (!s->pid)
		supervise(o, ends[1]);
	close(ends[1]);
	err = s->pid < 0 ? err__set(errno, "cannot fork: %s", strerror(errno)) : receive_answer(s);
	if (err) {
		supervisor__close(s);
		return err;
	}
	*out = s;
	return 0;
}

int supervisor__socket(const struct supervisor *s)
{
	return s->socket;
}

int supervisor__receive(int socket, struct notice *notice, int *fd)
{
	ssize_t n;

	/* the first one is reported if it ended without reading all requests, before its messages
	 * are read (net/unix/af_unix.c, unix_release_sock()) */
	do
		n = fd__receive(socket, notice, sizeof(*notice), fd, MSG_DONTWAIT);
	while (n == -ECONNRESET);
	*fd = max_of(*fd, -1);
	return n == sizeof(*notice) ? 1 : n == -EAGAIN ? 0 : -EPIPE;
}

pid_t supervisor__pid(const struct supervisor *s)
{
	return s->pid;
}

bool supervisor__quit(struct supervisor *s)
{
	struct supervisor_request quit = {.type = REQUEST_QUIT};

	(void)!send(s->socket, &quit, sizeof(quit), MSG_NOSIGNAL);
	return await_end(s);
}
