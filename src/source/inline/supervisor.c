// SPDX-License-Identifier: BSD-2-Clause
/* The supervisor, seen from bbtrace. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "source/inline/tracer.h"

struct supervisor {
	pid_t pid;
	int socket;
};

/* ---- in its process ---- */

/* It ends when there is nothing left to do: it has breakpoints and threads in its care. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGALRM, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

/* It holds nothing open that others wait for: not the output, nor the command's pipes. In its own
 * session: no signal to bbtrace's group ends it. */
static void __attribute__((noreturn)) supervise(const struct supervisor_options *o, int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, 0};

	setsid();
	ignore_signals();
	prctl(PR_SET_NAME, "bbtrace-inline");
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

static int hear_answer(const struct supervisor *s)
{
	struct say_answer answer;
	ssize_t n;

	do
		n = recv(s->socket, &answer, sizeof(answer), 0);
	while (n < 0 && errno == EINTR);
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

static void await_end(struct supervisor *s)
{
	while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}

void supervisor__close(struct supervisor *s)
{
	if (!s)
		return;
	close(s->socket);
	await_end(s);
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
	err = s->pid < 0 ? err__set(errno, "cannot fork: %s", strerror(errno)) : hear_answer(s);
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

static int fd_of(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int supervisor__hear(int socket, struct say *say, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {say, sizeof(*say)};
	ssize_t n;

	for (;;) {
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control,
				   .msg_controllen = sizeof(control)};

		n = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n == sizeof(*say)) {
			*fd = fd_of(&m);
			return 1;
		}
		/* the first one is reported if it ended without reading all that it was asked,
		 * before what it has said is read (net/unix/af_unix.c, unix_release_sock()) */
		if (n < 0 && (errno == ECONNRESET || errno == EINTR))
			continue;
		return n < 0 && errno == EAGAIN ? 0 : -EPIPE;
	}
}

pid_t supervisor__pid(const struct supervisor *s)
{
	return s->pid;
}

void supervisor__quit(struct supervisor *s)
{
	struct ask quit = {.type = ASK_QUIT};

	(void)!send(s->socket, &quit, sizeof(quit), MSG_NOSIGNAL);
	await_end(s);
}
