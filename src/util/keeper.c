// SPDX-License-Identifier: BSD-2-Clause
/* See keeper.h. A request is a number; the answer to it is 0 with or without a descriptor, or
 * -errno with the message. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "keeper.h"

struct answer {
	int32_t err;
	char text[1024];
};

/* ---- in the keeper ---- */

static bool send_answer(int socket, int fd)
{
	struct answer answer = {.err = min_of(fd, 0)};

	if (fd < 0)
		snprintf(answer.text, sizeof(answer.text), "%s", err__text());
	return fd__send(socket, &answer, sizeof(answer), fd > 0 ? fd : -1, 0) > 0;
}

/* Serves until the parent has closed its end. */
static void serve(const struct keeper_job *job, int socket)
{
	int32_t request;
	ssize_t n;

	while ((n = recv(socket, &request, sizeof(request), 0))) {
		int fd;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(request))
			return;
		fd = job->answer(job->ctx, request);
		if (!send_answer(socket, fd))
			return;
		if (fd > 0)
			close(fd);
	}
}

static void ignore_signals(void)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGALRM,
				      SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
}

/* Moves the socket to another number than those of standard input, output and error. */
static int close_others(const struct keeper_job *job, int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int own = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, own, job->kept[0], job->kept[1]};

	if (job->keeps_all)
		return own;
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null, i);
	fd__close_others(kept, ARRAY_SIZE(kept));
	return own;
}

static void __attribute__((noreturn)) keep(const struct keeper_job *job, int socket)
{
	setsid();
	ignore_signals();
	prctl(PR_SET_NAME, job->name);
	socket = close_others(job, socket);
	if (socket < 0 || job->give_up(job->ctx))
		_exit(1);
	if (send_answer(socket, 0))
		serve(job, socket);
	_exit(0);
}

/* ---- in its parent ---- */

static int receive(const struct keeper *k)
{
	struct answer answer;
	int fd;

	if (fd__receive(k->socket, &answer, sizeof(answer), &fd, 0) != sizeof(answer))
		return err__set(EPIPE, "the process that keeps a right has ended, or could not "
				       "give up the others");
	answer.text[sizeof(answer.text) - 1] = 0;
	if (answer.err)
		return err__set(-answer.err, "%s", answer.text);
	return fd == -EMFILE ? err__set(EMFILE, "too many files are open") : max_of(fd, 0);
}

int keeper__start(struct keeper *k, const struct keeper_job *job)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(errno, "cannot make a socket: %s", strerror(errno));
	fflush(NULL);
	k->pid = fork();
	if (!k->pid) {
		close(ends[0]);
		keep(job, ends[1]);
	}
	close(ends[1]);
	k->socket = ends[0];
	/* When it answers, it has closed its copies of all descriptors. */
	err = k->pid < 0 ? err__set(errno, "cannot fork: %s", strerror(errno)) : receive(k);
	if (err)
		keeper__end(k);
	return err;
}

int keeper__ask(const struct keeper *k, int32_t request)
{
	(void)!send(k->socket, &request, sizeof(request), MSG_NOSIGNAL);
	return receive(k);
}

void keeper__end(struct keeper *k)
{
	if (!k->pid)
		return;
	close(k->socket);
	while (k->pid > 0 && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}
