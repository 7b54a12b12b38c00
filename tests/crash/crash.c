/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash HOW [FILE]: ends in this way, after a loop of branches. For tests/e2e/t_crash.sh. Its last
 * branches are all in these functions. wait: writes its PID to FILE and waits for a signal.
 */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN __attribute__((noipa))

static int *volatile nowhere;
static void (*volatile bad)(void) = (void (*)(void))0x10;
static const char *file;

OWN int odd(unsigned n)
{
	return n * 2654435761u >> 13 & 1 ? (n > 7 ? n + 1 : n) : n ^ 3;
}

OWN int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += odd(i + sum);
	return sum;
}

OWN int null_pointer(int n)
{
	return n ? *nowhere + odd(n) : 0;
}

OWN int overflow(int n)
{
	volatile char room[256];

	room[0] = n;
	return n < 0 ? room[0] : overflow(n + 1) + room[0];
}

OWN int ends(int n)
{
	return n ? abort(), 1 : 0;
}

OWN int double_free(int n)
{
	char *volatile p = malloc(n + 40);

	for (int i = 0; i < 2; i++)
		free(p);
	return n;
}

OWN int divide(int n, int by)
{
	return by > n ? by : n / by;
}

OWN int illegal(int n)
{
	if (n)
		__builtin_trap();
	return odd(n);
}

OWN int bad_jump(int n)
{
	if (n)
		bad();
	return odd(n);
}

OWN int asserts(int n)
{
	assert(n < 0);
	return n;
}

OWN int asks(int n)
{
	return n + 1;
}

/* Goes on for long behind it. */
OWN int goes_on(int n)
{
	return (n > 3 ? asks(n) : n) + work(300000);
}

OWN int status(int n)
{
	if (n)
		_exit(3);
	return n;
}

OWN int waits(int n)
{
	FILE *f = fopen(file, "w");

	fprintf(f, "%d\n", getpid());
	fclose(f);
	while (n)
		n = pause() + 2;
	return n;
}

OWN void *other(void *arg)
{
	return (void *)(long)null_pointer(work(*(int *)arg));
}

/* The crash is of another thread than the main one, which waits for it. */
OWN int thread(int n)
{
	pthread_t t;

	pthread_create(&t, NULL, other, &n);
	pthread_join(t, NULL);
	return n;
}

static pthread_barrier_t all;

OWN void *one(void *arg)
{
	long sum = work(*(int *)arg);

	pthread_barrier_wait(&all);
	return (void *)sum;
}

/* Several threads at a time, which don't crash. */
OWN int many(int n)
{
	pthread_t t[20];
	int sum = 0;

	pthread_barrier_init(&all, NULL, 20);
	for (int i = 0; i < 20; i++)
		pthread_create(&t[i], NULL, one, &n);
	for (int i = 0; i < 20; i++)
		pthread_join(t[i], NULL);
	return sum;
}

/* The program's own handler runs first. */
OWN void handler(int sig)
{
	work(5);
	signal(sig, SIG_DFL);
}

OWN int handled(int n)
{
	signal(SIGSEGV, handler);
	return null_pointer(n);
}

OWN int uses(int (*f)(int), int n)
{
	return f(n) + 1;
}

/* The functions of two libraries in FILE, one after the other. */
OWN int libraries(int n)
{
	static const char *const names[] = {"first", "second"};
	char path[4096];

	for (int i = 0; i < 2; i++) {
		void *library, *f;

		snprintf(path, sizeof(path), "%s/%s.so", file, names[i]);
		library = dlopen(path, RTLD_NOW);
		f = dlsym(library, names[i]);
		printf("%p\n", f);
		n = uses((int (*)(int))f, n);
		dlclose(library);
	}
	fflush(stdout);
	return illegal(n);
}

OWN int choose(const char *how, int n)
{
	switch (how[0]) {
	case 'n':
		return null_pointer(n);
	case 'o':
		return overflow(0);
	case 'a':
		return ends(n);
	case 'd':
		return double_free(n);
	case 'z':
		return divide(n, 0);
	case 'i':
		return illegal(n);
	case 'j':
		return bad_jump(n);
	case 's':
		return asserts(n);
	case 'e':
		return status(n);
	case 'w':
		return waits(n);
	case 't':
		return thread(n);
	case 'm':
		return many(n);
	case 'h':
		return handled(n);
	case 'u':
		return libraries(n);
	case 'g':
		return goes_on(n);
	}
	return 0;
}

int main(int argc, char **argv)
{
	file = argc > 2 ? argv[2] : "";
	return choose(argc > 1 ? argv[1] : "", work(40) ? 9 : 8);
}
