// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits: threads of which each waits for something else, until they are killed. Prints "ROLE TID"
 * of each, and what an address or a number is that it waits for; "main TID" is the last. waits
 * ROLE...: only these.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER, error_lock, held = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t both, all;
sem_t items;
volatile unsigned long turns;

static void say(const char *role, const char *what)
{
	char line[256];

	snprintf(line, sizeof(line), "%s %ld %s\n", role, (long)syscall(SYS_gettid), what);
	if (write(1, line, strlen(line)) < 0)
		abort();
}

static int listening(int port_of[1])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 1) || getsockname(s, (void *)&a, &len))
		abort();
	*port_of = ntohs(a.sin_port);
	return s;
}

static int empty_pipe(void)
{
	int p[2];

	if (pipe(p))
		abort();
	return p[0];
}

/* Both have the first lock before one waits for the second. */
static void *first(void *x)
{
	pthread_mutex_lock(&lock_a);
	pthread_barrier_wait(&both);
	say("first", "");
	pthread_mutex_lock(&lock_b);
	return x;
}
static void *second(void *x)
{
	pthread_mutex_lock(&lock_b);
	pthread_barrier_wait(&both);
	say("second", "");
	pthread_mutex_lock(&lock_a);
	return x;
}
static void *holder(void *x)
{
	pthread_mutex_lock(&held);
	pthread_mutex_lock(&error_lock);
	pthread_rwlock_wrlock(&table);
	say("holder", "");
	pause();
	return x;
}
static void wait_for_holder(void)
{
	while (!pthread_mutex_trylock(&held)) {
		pthread_mutex_unlock(&held);
		usleep(1000);
	}
}
static void *mutex(void *x)
{
	wait_for_holder();
	say("mutex", "");
	pthread_mutex_lock(&held);
	return x;
}
static void *checked(void *x)
{
	wait_for_holder();
	while (!pthread_mutex_trylock(&error_lock)) {
		pthread_mutex_unlock(&error_lock);
		usleep(1000);
	}
	say("checked", "");
	pthread_mutex_lock(&error_lock);
	return x;
}
static void *reader(void *x)
{
	wait_for_holder();
	while (!pthread_rwlock_tryrdlock(&table)) {
		pthread_rwlock_unlock(&table);
		usleep(1000);
	}
	say("reader", "");
	pthread_rwlock_rdlock(&table);
	return x;
}
static void *condition(void *x)
{
	pthread_mutex_lock(&free_lock);
	say("condition", "");
	pthread_cond_wait(&never, &free_lock);
	return x;
}
static void *semaphore(void *x)
{
	say("semaphore", "");
	sem_wait(&items);
	return x;
}
static void *barrier(void *x)
{
	say("barrier", "");
	pthread_barrier_wait(&all);
	return x;
}
static void *naps(void *x)
{
	say("naps", "");
	sleep(5000);
	return x;
}
static void *reads(void *x)
{
	char c, path[64];
	int fd = empty_pipe();
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	say("reads", path);
	return read(fd, &c, 1) > 0 ? x : NULL;
}
static void *polls(void *x)
{
	int port;
	struct pollfd fds[] = {{-1, POLLIN, 0}, {listening(&port), POLLIN, 0}};
	char what[64];

	snprintf(what, sizeof(what), "%d 127.0.0.1:%d", fds[1].fd, port);
	say("polls", what);
	poll(fds, 2, -1);
	return x;
}
static void *selects(void *x)
{
	int fd = empty_pipe();
	char what[64];
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	snprintf(what, sizeof(what), "%d", fd);
	say("selects", what);
	select(fd + 1, &set, NULL, NULL, NULL);
	return x;
}
static void *epolls(void *x)
{
	int e = epoll_create1(0), fd = empty_pipe();
	struct epoll_event event = {.events = EPOLLIN};
	char what[64];

	epoll_ctl(e, EPOLL_CTL_ADD, fd, &event);
	snprintf(what, sizeof(what), "%d", fd);
	say("epolls", what);
	epoll_wait(e, &event, 1, -1);
	return x;
}
static void *accepts(void *x)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "bbtrace-waits-%d", getpid());
	if (bind(s, (void *)&a,
		 offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a.sun_path + 1)) ||
	    listen(s, 1))
		abort();
	say("accepts", a.sun_path + 1);
	accept(s, NULL, NULL);
	return x;
}
static void *child(void *x)
{
	char what[32];
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	snprintf(what, sizeof(what), "%d", pid);
	say("child", what);
	waitpid(pid, NULL, 0);
	return x;
}
static void *signals(void *x)
{
	say("signals", "");
	pause();
	return x;
}
static void *spins(void *x)
{
	say("spins", "");
	for (;;)
		turns++;
	return x;
}

static const struct {
	const char *name;
	void *(*run)(void *);
} roles[] = {
	{"first", first},	  {"second", second},	    {"holder", holder},
	{"mutex", mutex},	  {"checked", checked},	    {"reader", reader},
	{"condition", condition}, {"semaphore", semaphore}, {"barrier", barrier},
	{"naps", naps},		  {"reads", reads},	    {"polls", polls},
	{"selects", selects},	  {"epolls", epolls},	    {"accepts", accepts},
	{"child", child},	  {"signals", signals},	    {"spins", spins},
};

static int wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc < 2;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t checks;
	pthread_t t = 0;

	pthread_mutexattr_init(&checks);
	pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&error_lock, &checks);
	pthread_barrier_init(&both, NULL, 2);
	pthread_barrier_init(&all, NULL, 100);
	sem_init(&items, 0, 0);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (wanted(roles[i].name, argc, argv) &&
		    pthread_create(&t, NULL, roles[i].run, NULL))
			abort();
	usleep(300000);
	say("main", "");
	pthread_join(t, NULL);
	return 0;
}
