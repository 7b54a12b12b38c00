// SPDX-License-Identifier: BSD-2-Clause
/* See keeper.h. A request is a thread's number, the answer 0 with a descriptor, or -errno. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "keeper.h"

/* ---- in the keeper ---- */

static int send_answer(int socket, int32_t answer, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int open_event(struct probe *p, int32_t tid)
{
	int fd = tid > 0 ? uprobe_event__open(p, tid) : -1;

	if (tid <= 0)
		errno = EINVAL;
	return fd < 0 ? -errno : fd;
}

/* Until bbtrace has closed its end. */
static void serve(struct probe *p, int socket)
{
	int32_t tid;
	ssize_t n;

	while ((n = recv(socket, &tid, sizeof(tid), 0))) {
		int fd;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(tid))
			return;
		fd = open_event(p, tid);
		if (send_answer(socket, min_of(fd, 0), fd))
			return;
		if (fd >= 0)
			close(fd);
	}
}

/* Nobody's signals but SIGKILL end it: it is to outlive what bbtrace still has to do. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGALRM,
				      SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
}

/* It holds nothing open that others wait for: not the output, nor the probes' links. */
static void __attribute__((noreturn)) keep(struct probe *p, int socket, uint64_t capabilities)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, 0};

	setsid();
	ignore_signals();
	prctl(PR_SET_NAME, "bbtrace-keeper");
	socket = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null, i);
	kept[3] = socket;
	fd__close_others(kept, ARRAY_SIZE(kept));
	if (socket >= 0 && !privileges__keep(capabilities) && !send_answer(socket, 0, -1))
		serve(p, socket);
	_exit(0);
}

/* ---- in bbtrace ---- */

/* The answer; *fd: its descriptor, or -1. */
static int receive(const struct keeper *k, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	int32_t answer = 0;
	struct iovec data = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(k->socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return answer;
}

bool keeper__start(struct probe *p, uint64_t capabilities)
{
	struct keeper *k = &p->keeper;
	int ends[2], fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	fflush(NULL);
	k->pid = fork();
	if (!k->pid)
		keep(p, ends[1], capabilities);
	close(ends[1]);
	k->socket = ends[0];
	/* it has closed its copies of all descriptors when it answers */
	if (k->pid > 0 && !receive(k, &fd))
		return true;
	keeper__end(k);
	return false;
}

int keeper__open_event(const struct keeper *k, pid_t tid)
{
	int32_t wanted = tid;
	int fd = -1, err = -EPIPE;

	if (send(k->socket, &wanted, sizeof(wanted), MSG_NOSIGNAL) == sizeof(wanted))
		err = receive(k, &fd);
	if (!err && fd < 0)
		err = -EMFILE;
	errno = -err;
	return err ? err : fd;
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
