// SPDX-License-Identifier: BSD-2-Clause
/* Invocations to be judged by their arguments and results: nested and recursive ones, tail calls,
 * through pointers as well, exceptions of C (longjmp), signal handlers on both stacks, threads, and
 * forked processes that go on in an invocation. Each thread has a name of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline, noclone))

enum mode { MODE_SLOW = 1, MODE_FAST = 4, MODE_ODD = -3 };
struct inner {
	unsigned flag : 3;
	int level : 5;
	char name[8];
};
struct item {
	struct inner *in;
	unsigned char small;
	short wide;
	enum mode mode;
};

static volatile long sink;
static __thread jmp_buf back;

SEPARATE int leaf(int n)
{
	sink += n;
	return n % 7 - 3;
}

SEPARATE long look(const struct item *item, const char *name, size_t size, int fd)
{
	long sum = leaf(fd) + item->wide;

	if (size & 1)
		sum += leaf((int)size);
	return name[0] == 'x' ? -ENOENT : sum;
}

SEPARATE int descend(int n, unsigned char width)
{
	int sum = leaf(n);

	if (n > 0)
		sum += descend(n - 1, width + 60) + leaf(width);
	return n % 3 ? sum : -n;
}

/* Ends in a call of another function, or by a pointer, with its own stack pointer. */
SEPARATE int second(int n, int m)
{
	return leaf(n) + m;
}
SEPARATE int third(int m, int n)
{
	return second(n + m, leaf(m));
}
int (*volatile pointer)(int n, int m) = second;

SEPARATE int first(int n, int m)
{
	sink += m;
	if (n & 1)
		return second(m, n);
	return n & 2 ? third(m, n) : pointer(n + 1, m);
}

SEPARATE int thrower(int n, int deep)
{
	leaf(deep);
	if (deep)
		return thrower(n, deep - 1) + 1;
	if (n & 1)
		longjmp(back, n);
	return leaf(n);
}

SEPARATE int catcher(int n)
{
	int r = setjmp(back);

	if (r)
		return leaf(r) + look(&(struct item){.wide = r}, "caught", r, 2);
	return thrower(n, n % 4) + leaf(n);
}

SEPARATE void handler(int signal)
{
	leaf(signal);
	descend(2, signal);
}

SEPARATE int interrupted(int n)
{
	leaf(n);
	raise(n & 1 ? SIGUSR1 : SIGUSR2);
	return leaf(n) + n;
}

SEPARATE int forks(int n)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_NAME, n & 1 ? "child-1" : "child-0");
	leaf(n);
	if (!pid) {
		descend(n, n);
		/* what it returns to runs on in both */
		return -1;
	}
	waitpid(pid, &status, 0);
	return leaf(status);
}

static void work(int seed)
{
	static const char *const names[] = {"abc", "x", "tail", "abcd", ""};
	struct inner in = {.flag = seed & 7, .level = seed % 16 - 8};
	struct item item = {.in = &in};

	for (int i = 0; i < 14; i++) {
		snprintf(in.name, sizeof(in.name), "n%d", i % 3);
		in.level = i % 16 - 8;
		in.flag = i & 7;
		item.small = i * 40;
		item.wide = i * 3000 - 20000;
		item.mode = i % 3 ? i % 3 == 1 ? MODE_SLOW : MODE_ODD : MODE_FAST;
		look(&item, names[i % 5], (size_t)i * 1000 + (i == 13 ? -20000ul : 0), i - 5);
		first(i, seed);
		catcher(i);
	}
	for (int i = 0; i < 5; i++) {
		descend(i, i * 50);
		interrupted(i);
	}
}

static void *thread(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", (long)arg);
	pthread_setname_np(pthread_self(), name);
	work((int)(long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	static char other[65536];
	stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction own = {.sa_handler = handler}, on = {.sa_handler = handler};
	pthread_t threads[2];

	sigaltstack(&alternate, NULL);
	on.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &own, NULL);
	sigaction(SIGUSR2, &on, NULL);
	work(5);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2 && argc > 1; i++)
		if (forks(i) < 0)
			_exit(0);
	return 0;
}
