// SPDX-License-Identifier: BSD-2-Clause
/*
 * waiting KIND N FILE: N threads wait in a system call of that kind until FILE is there; each
 * checks what its call returned. Prints "waits" once all have begun, then "right", or how many were
 * wrong. KIND: futex, timed, sleep, read, poll, select, pause, lock, receive.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "prog.h"

#define MOST 256

struct waiter {
	pthread_t thread;
	int ends[2]; /* the second one is written to */
	int lock;
};

static int word, begun, wrong;
static const char *locked;
static __thread volatile sig_atomic_t handled;

static void handle(int sig)
{
	(void)sig;
	handled = 1;
}

/* Each returns whether the call returned what it has to. */

static NOINLINE int do_futex(struct waiter *w, const struct timespec *limit)
{
	(void)w;
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, limit) && errno != EAGAIN)
			return 0;
	return 1;
}

static NOINLINE int futex(struct waiter *w)
{
	return do_futex(w, NULL);
}

static NOINLINE int timed(struct waiter *w)
{
	static const struct timespec hour = {3600, 0};

	return do_futex(w, &hour);
}

static NOINLINE int do_sleep(struct waiter *w)
{
	const struct timespec hour = {3600, 0};
	struct timespec left = {0, 0};

	(void)w;
	return nanosleep(&hour, &left) == -1 && errno == EINTR && handled && left.tv_sec > 0 &&
	       left.tv_sec < 3600;
}

static NOINLINE int do_read(struct waiter *w)
{
	char c = 0;

	return read(w->ends[0], &c, 1) == 1 && c == 'x';
}

static NOINLINE int do_poll(struct waiter *w)
{
	struct pollfd p = {w->ends[0], POLLIN, 0};

	return poll(&p, 1, 3600000) == 1 && p.revents == POLLIN;
}

static NOINLINE int do_select(struct waiter *w)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(w->ends[0], &set);
	return select(w->ends[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(w->ends[0], &set);
}

static NOINLINE int do_pause(struct waiter *w)
{
	(void)w;
	return pause() == -1 && errno == EINTR && handled;
}

static NOINLINE int lock(struct waiter *w)
{
	return !flock(w->lock, LOCK_EX) && !flock(w->lock, LOCK_UN);
}

static NOINLINE int receive(struct waiter *w)
{
	char c = 0;

	return recv(w->ends[0], &c, 1, 0) == 1 && c == 'x';
}

static const struct {
	const char *name;
	int (*call)(struct waiter *w);
	int by_signal;
} kinds[] = {
	{"futex", futex, 0},	{"timed", timed, 0},  {"sleep", do_sleep, 1},
	{"read", do_read, 0},	{"poll", do_poll, 0}, {"select", do_select, 0},
	{"pause", do_pause, 1}, {"lock", lock, 0},    {"receive", receive, 0},
};
static unsigned kind;

static void *thread(void *arg)
{
	__atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
	if (!kinds[kind].call(arg))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* A signal may come before its thread waits: it is sent until the thread has ended. */
static void release(struct waiter *w)
{
	while (kinds[kind].by_signal && pthread_tryjoin_np(w->thread, NULL)) {
		pthread_kill(w->thread, SIGUSR1);
		usleep(1000);
	}
	if (kinds[kind].by_signal)
		return;
	if (write(w->ends[1], "x", 1) != 1)
		wrong++;
	pthread_join(w->thread, NULL);
}

int main(int argc, char **argv)
{
	static struct waiter all[MOST];
	unsigned n = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	char path[4096];
	int held;

	while (argc > 1 && kind < COUNT(kinds) && strcmp(kinds[kind].name, argv[1]))
		kind++;
	if (!n || n > MOST || kind == COUNT(kinds))
		return 2;
	snprintf(path, sizeof(path), "%s.lock", argv[3]);
	locked = path;
	held = open(locked, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (held < 0 || flock(held, LOCK_EX))
		return 2;
	signal(SIGUSR1, handle);
	for (unsigned i = 0; i < n; i++) {
		all[i].lock = open(locked, O_RDWR | O_CLOEXEC);
		if (all[i].lock < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, all[i].ends) ||
		    pthread_create(&all[i].thread, NULL, thread, &all[i]))
			return 2;
	}
	while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < (int)n)
		usleep(1000);
	printf("waits\n");
	fflush(stdout);
	while (access(argv[3], F_OK))
		usleep(10000);
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, n);
	flock(held, LOCK_UN);
	for (unsigned i = 0; i < n; i++)
		release(&all[i]);
	if (wrong)
		printf("%d of them wrong\n", wrong);
	else
		printf("right\n");
	return wrong != 0;
}
