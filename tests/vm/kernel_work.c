// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_work WHAT...: makes one kind of system call after the other, always in the same way, with
 * successes and errors, so that the functions behind them can be traced.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

/* An address that nothing is at. */
static void *volatile nowhere = (void *)8;

static void need(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

/* ---- files ---- */

static void work_file(void)
{
	const char *path = "/tmp/kernel_work.file";
	char buf[9000] = "text";
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	need(fd >= 0, path);
	need(write(fd, buf, sizeof(buf)) == sizeof(buf), "write");
	need(pwrite(fd, buf, 10, 4090) == 10, "pwrite");
	need(pread(fd, buf, sizeof(buf), 1000) == 8000, "pread");
	need(pread(fd, buf, 10, 1 << 20) == 0, "pread behind the end");
	need(lseek(fd, 0, SEEK_SET) == 0 && read(fd, nowhere, 10) == -1 && errno == EFAULT,
	     "read to nowhere");
	close(fd);
	fd = open(path, O_RDONLY);
	need(write(fd, buf, 1) == -1 && errno == EBADF, "write to what is read only");
	close(fd);
	need(stat("/tmp/../tmp/./kernel_work.file", &st) == 0, "stat");
	need(stat("/tmp/none/none", &st) == -1, "stat of nothing");
	need(symlink(path, "/tmp/kernel_work.link") == 0, "symlink");
	/* The kernel updates the link's atime only in a later tick than that of its creation, and
	 * leaves RCU mode for it (fs/namei.c, pick_link()). */
	usleep(100000);
	fd = open("/tmp/kernel_work.link", O_RDONLY);
	need(fd >= 0, "open of a link");
	close(fd);
	need(open("/tmp/kernel_work.link", O_RDONLY | O_NOFOLLOW) == -1 && errno == ELOOP, "loop");
	need(rename(path, "/tmp/kernel_work.new") == 0, "rename");
	unlink("/tmp/kernel_work.new");
	unlink("/tmp/kernel_work.link");
	need(unlink(path) == -1 && errno == ENOENT, "unlink of nothing");
}

static void work_mount(void)
{
	mkdir("/tmp/kernel_work.mnt", 0700);
	need(mount("none", "/tmp/kernel_work.mnt", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") == 0,
	     "mount");
	need(mount(NULL, "/tmp/kernel_work.mnt", NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0,
	     "remount");
	need(mount("none", "/tmp/kernel_work.mnt", "nosuchfs", 0, NULL) == -1 && errno == ENODEV,
	     "mount of no filesystem");
	need(mount("none", "/tmp/none", "tmpfs", 0, NULL) == -1 && errno == ENOENT,
	     "mount nowhere");
	need(mount("none", nowhere, "tmpfs", 0, NULL) == -1 && errno == EFAULT,
	     "mount, bad pointer");
	need(umount("/tmp/kernel_work.mnt") == 0, "umount");
	need(umount("/tmp/kernel_work.mnt") == -1 && errno == EINVAL, "umount twice");
	rmdir("/tmp/kernel_work.mnt");
}

/* ---- memory ---- */

static void work_memory(void)
{
	char *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *here = sbrk(0);
	int status;

	need(p != MAP_FAILED, "mmap");
	memset(p, 1, 16 * PAGE);
	need(mprotect(p + 4 * PAGE, 4 * PAGE, PROT_READ) == 0, "mprotect");
	need(mprotect(p + 2 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect back");
	need(mprotect((void *)PAGE, PAGE, PROT_READ) == -1 && errno == ENOMEM,
	     "mprotect of nothing");
	need(madvise(p, 4 * PAGE, MADV_DONTNEED) == 0 && !p[0], "madvise");
	need(munmap(p + 3 * PAGE, 2 * PAGE) == 0, "a hole");
	need(mmap(p, PAGE, PROT_READ, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		     MAP_FAILED,
	     "mmap over something");
	need(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED,
	     "mmap of 0");
	p = mremap(p + 8 * PAGE, 8 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	need(p != MAP_FAILED, "mremap");
	munmap(p, 64 * PAGE);
	need(brk(here + 5 * PAGE) == 0, "brk");
	memset(here, 1, 5 * PAGE);
	need(brk(here) == 0, "brk back");
	if (!fork()) {
		here[-1] = 1;
		_exit(0);
	}
	wait(&status);
}

static void *thread(void *arg)
{
	return arg;
}

static void work_fork(void)
{
	pthread_t t;
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			_exit(i);
		waitpid(pid, NULL, 0);
	}
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pid = vfork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	need(syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0) == -1 && errno == EINVAL, "clone");
}

static void work_exec(void)
{
	if (!fork()) {
		execl("/tmp/none", "none", NULL);
		execl("/etc/passwd", "passwd", NULL);
		execl("/bb/true", "true", NULL);
		_exit(1);
	}
	wait(NULL);
}

/* ---- pipes, polling ---- */

static void work_pipe(void)
{
	static char big[3 * 65536];
	ssize_t got, sum = 0;
	int p[2];

	need(pipe2(p, O_CLOEXEC) == 0, "pipe2");
	need(pipe2(p, 1) == -1 && errno == EINVAL, "pipe2 with a bad flag");
	if (!fork()) {
		close(p[0]);
		need(write(p[1], big, sizeof(big)) == sizeof(big), "write");
		_exit(0);
	}
	close(p[1]);
	while ((got = read(p[0], big, 10000)) > 0)
		sum += got;
	need(sum == sizeof(big), "read");
	close(p[0]);
	wait(NULL);
	need(pipe2(p, O_NONBLOCK) == 0, "pipe2");
	need(read(p[0], big, 1) == -1 && errno == EAGAIN, "read of nothing");
	while (write(p[1], big, 4000) > 0)
		;
	need(read(p[0], big, 5000) == 5000, "read");
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	need(write(p[1], big, 1) == -1 && errno == EPIPE, "write to nobody");
	close(p[1]);
}

static void work_poll(void)
{
	struct epoll_event e = {.events = EPOLLIN}, got[4];
	int p[2], ep = epoll_create1(0);
	struct pollfd fds[3];

	need(pipe(p) == 0 && ep >= 0, "pipe");
	fds[0] = (struct pollfd){p[0], POLLIN, 0};
	fds[1] = (struct pollfd){p[1], POLLOUT, 0};
	fds[2] = (struct pollfd){12345, POLLIN, 0};
	need(poll(fds, 3, 0) == 2 && fds[2].revents == POLLNVAL, "poll");
	need(poll(fds, 1, 5) == 0, "poll in vain");
	need(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) == 0, "epoll_ctl");
	need(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) == -1 && errno == EEXIST, "epoll_ctl twice");
	need(epoll_wait(ep, got, 4, 2) == 0, "epoll_wait in vain");
	need(write(p[1], "x", 1) == 1, "write");
	need(poll(fds, 1, 1000) == 1, "poll");
	need(epoll_wait(ep, got, 4, 1000) == 1, "epoll_wait");
	need(epoll_wait(ep, got, 0, 0) == -1 && errno == EINVAL, "epoll_wait of none");
	close(ep);
	close(p[0]);
	close(p[1]);
}

/* ---- sockets ---- */

static void work_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), n, one = 1;
	socklen_t len = sizeof(a);
	static char buf[20000];

	need(bind(s, (void *)&a, len) == 0 && listen(s, 1) == 0, "bind");
	need(getsockname(s, (void *)&a, &len) == 0, "getsockname");
	need(bind(c, (void *)&a, len) == -1 && errno == EADDRINUSE, "bind twice");
	need(setsockopt(c, 6, 1, &one, sizeof(one)) == 0, "setsockopt");
	need(connect(c, (void *)&a, len) == 0, "connect");
	n = accept(s, NULL, NULL);
	need(n >= 0, "accept");
	need(send(c, buf, sizeof(buf), 0) == sizeof(buf), "send");
	need(recv(n, buf, sizeof(buf), MSG_WAITALL) == sizeof(buf), "recv");
	need(recv(n, buf, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN, "recv of nothing");
	need(send(n, buf, 100, 0) == 100 && recv(c, buf, 40, 0) == 40, "the other way");
	need(recv(c, buf, 40, MSG_PEEK) == 40 && recv(c, buf, 100, 0) == 60, "peek");
	close(n);
	need(recv(c, buf, 1, 0) == 0, "the end");
	close(c);
	close(s);
}

static void work_udp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_DGRAM, 0), c = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(a);
	char buf[3000] = "";

	need(bind(s, (void *)&a, len) == 0 && getsockname(s, (void *)&a, &len) == 0, "bind");
	need(sendto(c, buf, 100, 0, (void *)&a, len) == 100, "sendto");
	need(recv(s, buf, sizeof(buf), 0) == 100, "recv");
	need(sendto(c, buf, 0, 0, (void *)&a, len) == 0 && recv(s, buf, 10, 0) == 0, "nothing");
	need(sendto(c, buf, 70000, 0, (void *)&a, len) == -1 && errno == EMSGSIZE, "too much");
	need(sendto(c, buf, 2900, 0, (void *)&a, len) == 2900, "sendto");
	need(recv(s, buf, 10, MSG_TRUNC) == 2900, "cut");
	a.sin_addr.s_addr = htonl(0x7f000063);
	need(sendto(c, buf, 5, 0, (void *)&a, len) == 5, "to nobody");
	a.sin_port = 0;
	need(sendto(c, buf, 5, 0, (void *)&a, len) == -1 && errno == EINVAL, "to no port");
	close(s);
	close(c);
}

static void work_unix(void)
{
	char buf[5000] = "";
	int s[2];

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0, "socketpair");
	need(write(s[0], buf, sizeof(buf)) == sizeof(buf), "write");
	need(read(s[1], buf, 100) == 100 && read(s[1], buf, sizeof(buf)) == 4900, "read");
	need(recv(s[1], buf, 1, MSG_DONTWAIT) == -1, "recv of nothing");
	close(s[0]);
	need(read(s[1], buf, 1) == 0, "the end");
	need(send(s[1], buf, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE, "send to nobody");
	close(s[1]);
}

/* ---- scheduling ---- */

static void work_sched(void)
{
	struct sched_param none = {0}, ten = {.sched_priority = 10};
	cpu_set_t all, one;

	need(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
	CPU_ZERO(&one);
	need(sched_setaffinity(0, sizeof(one), &one) == -1 && errno == EINVAL, "no CPU");
	CPU_SET(0, &one);
	need(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
	need(sched_setaffinity(0, sizeof(all), &all) == 0, "sched_setaffinity back");
	sched_yield();
	need(sched_setscheduler(0, SCHED_FIFO, &ten) == 0, "sched_setscheduler");
	sched_yield();
	need(sched_setscheduler(0, SCHED_BATCH, &none) == 0, "sched_setscheduler");
	need(sched_setscheduler(0, SCHED_FIFO, &none) == -1 && errno == EINVAL, "no priority");
	need(sched_setscheduler(0, SCHED_OTHER, &none) == 0, "sched_setscheduler");
	need(setpriority(PRIO_PROCESS, 0, 5) == 0, "setpriority");
	need(setpriority(PRIO_PROCESS, 0, 5) == 0, "setpriority again");
	need(setpriority(PRIO_PROCESS, 0, -3) == 0, "setpriority");
	need(setpriority(PRIO_PROCESS, 999999, 5) == -1 && errno == ESRCH, "setpriority of nobody");
}

/* ---- nothing else happens: what close() was called with ---- */

static void work_close(void)
{
	syscall(SYS_close, 12345);
	syscall(SYS_close, open("/dev/null", O_RDONLY));
	syscall(SYS_close, 0x12345678);
}

/* As 32-bit programs call: dup2(12345, 12346). */
static void work_ia32(void)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(63), "b"(12345), "c"(12346)
			 : "memory", "r8", "r9", "r10", "r11");
	need(result == -EBADF, "dup2 of nothing");
}

/* ---- until SIGUSR1: getppid(2), so that a tracer shows that it has begun ---- */

static volatile sig_atomic_t may_begin;

static void begin(int signal)
{
	may_begin = signal;
}

static void work_wait(void)
{
	signal(SIGUSR1, begin);
	while (!may_begin) {
		syscall(SYS_getppid);
		usleep(10000);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} works[] = {
	{"file", work_file}, {"mount", work_mount}, {"memory", work_memory}, {"fork", work_fork},
	{"exec", work_exec}, {"pipe", work_pipe},   {"poll", work_poll},     {"tcp", work_tcp},
	{"udp", work_udp},   {"unix", work_unix},   {"sched", work_sched},   {"close", work_close},
	{"ia32", work_ia32}, {"wait", work_wait},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t w = 0;

		while (w < sizeof(works) / sizeof(*works) && strcmp(argv[i], works[w].name))
			w++;
		if (w == sizeof(works) / sizeof(*works)) {
			fprintf(stderr, "kernel_work: no such work: %s\n", argv[i]);
			return 2;
		}
		works[w].run();
	}
	return 0;
}
