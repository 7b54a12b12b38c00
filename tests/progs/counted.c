// SPDX-License-Identifier: BSD-2-Clause
/*
 * Known numbers of executions, for counters: counted MODE N [...]. work(n) executes its first jcc n
 * times (n even: taken n / 2 times), its second one n times (taken n - 1 times), and its ret once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n);
__asm__(".globl work\n.type work, @function\n"
	"work:	xor %eax, %eax\n"
	"1:	test $1, %edi\n"
	"	jz 2f\n"
	"	inc %eax\n"
	"2:	lea 1(%rax), %rax\n"
	"	dec %edi\n"
	"	jnz 1b\n"
	"	ret\n"
	".size work, .-work");

/* One indirect call, and its ret. */
__attribute__((noipa)) int apply(int (*fn)(int), int n)
{
	return fn(n) + 1;
}

__attribute__((noipa)) static int one(int n)
{
	return n + 1;
}

__attribute__((noipa)) static int two(int n)
{
	return n + 2;
}

static int calls;

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < calls; i++) {
		work(100);
		apply(i & 1 ? one : two, i);
	}
	return NULL;
}

/* `all` threads, `most` of them at a time. */
static void run_threads(int all, int most)
{
	pthread_t threads[64];

	for (int done = 0; done < all; done += most) {
		for (int i = 0; i < most; i++)
			if (pthread_create(&threads[i], NULL, worker, NULL))
				exit(2);
		for (int i = 0; i < most; i++)
			pthread_join(threads[i], NULL);
	}
}

/* 2^(depth + 1) - 1 processes. */
static void fork_all(int depth)
{
	work(10);
	apply(depth & 1 ? one : two, depth);
	for (int i = 0; depth && i < 2; i++) {
		pid_t child = fork();

		if (child < 0)
			perror("fork");
		if (!child) {
			fork_all(depth - 1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static int call_in(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*fn)(int) = handle ? (int (*)(int))dlsym(handle, name) : NULL;

	if (!fn)
		exit(3);
	apply(fn, 1);
	dlclose(handle);
	return 0;
}

/* Each program calls into the other library. */
static int exec_all(char **argv, int n)
{
	char left[16];

	call_in(argv[3 + n % 2], "plug_work");
	if (!n)
		return 0;
	snprintf(left, sizeof(left), "%d", n - 1);
	execv("/proc/self/exe", (char *[]){argv[0], argv[1], left, argv[3], argv[4], NULL});
	return 4;
}

/* n different targets. */
static int spread(int n)
{
	char *code = mmap(NULL, n + 1, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 5;
	memset(code, 0xc3, n + 1);
	for (int i = 0; i < n; i++)
		apply((int (*)(int))(code + i), 1);
	return 0;
}

/* Until it is killed; tells the calls that have returned. */
static int go_on(const char *file)
{
	volatile long *done;
	FILE *f = fopen(file, "w+");

	if (!f || ftruncate(fileno(f), 4096))
		return 6;
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	if (done == MAP_FAILED)
		return 6;
	for (;;) {
		work(100);
		++*done;
	}
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "threads")) {
		calls = n;
		run_threads(4, 4);
	} else if (!strcmp(argv[1], "births")) {
		calls = 2;
		run_threads(n, 20);
	} else if (!strcmp(argv[1], "forks")) {
		fork_all(n);
	} else if (!strcmp(argv[1], "execs")) {
		return exec_all(argv, n);
	} else if (!strcmp(argv[1], "spread")) {
		return spread(n);
	} else if (!strcmp(argv[1], "again")) {
		for (int i = 0; i < n; i++)
			call_in(argv[3 + i % 2], "plug_work");
	} else if (!strcmp(argv[1], "on")) {
		return go_on(argv[2]);
	}
	return 0;
}
