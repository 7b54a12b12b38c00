// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that executes commands, one per line, so that a test controls when: `work N`, `spawn
 * NAME` (a thread), `thread NAME N`, `fork N`, `exec`, `open NAME PATH` (a library, whose
 * lib_work() `call NAME N` calls), `shut NAME`, `rate N` (what a call of work() takes), `family N`
 * (in a forked child, then in what that becomes by exec), `quit`. It answers each line once done.
 * In between it calls tick(): the first tick in a trace says that the probes are live.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

struct worker {
	char name[16];
	int todo;
	pid_t tid;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static struct worker workers[8];
static int nworkers;

NOINLINE int tick(int n)
{
	__asm__ volatile("");
	return n + 1;
}

NOINLINE int work(int n)
{
	return n & 1 ? rand() : -n;
}

static void work_times(int n)
{
	for (int i = 0; i < n; i++)
		work(i);
}

static void *run(void *arg)
{
	struct worker *w = arg;

	prctl(PR_SET_NAME, w->name);
	pthread_mutex_lock(&w->lock);
	w->tid = syscall(SYS_gettid);
	pthread_cond_broadcast(&w->changed);
	for (;;) {
		while (!w->todo)
			pthread_cond_wait(&w->changed, &w->lock);
		work_times(w->todo);
		w->todo = 0;
		pthread_cond_broadcast(&w->changed);
	}
	return NULL;
}

static void spawn(const char *name)
{
	struct worker *w = &workers[nworkers++];
	pthread_t thread;

	snprintf(w->name, sizeof(w->name), "%s", name);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	pthread_create(&thread, NULL, run, w);
	pthread_mutex_lock(&w->lock);
	while (!w->tid)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	printf("%s %d\n", name, (int)w->tid);
}

static void let_thread_work(const char *name, int n)
{
	for (int i = 0; i < nworkers; i++) {
		struct worker *w = &workers[i];

		if (strcmp(w->name, name))
			continue;
		pthread_mutex_lock(&w->lock);
		w->todo = n;
		pthread_cond_broadcast(&w->changed);
		while (w->todo)
			pthread_cond_wait(&w->changed, &w->lock);
		pthread_mutex_unlock(&w->lock);
	}
}

static void let_child_work(int n)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		work_times(n);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", (int)pid);
}

/* The best of five rounds, in hundredths of a nanosecond a call: what else runs only adds to it. */
static long rate(int n)
{
	struct timespec begin, end;
	long best = -1, took;

	for (int round = 0; round < 5; round++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		work_times(n);
		clock_gettime(CLOCK_MONOTONIC, &end);
		took = (end.tv_sec - begin.tv_sec) * 1000000000l + end.tv_nsec - begin.tv_nsec;
		if (best < 0 || took < best)
			best = took;
	}
	return best * 100 / n;
}

static void rate_family(int n)
{
	char count[16];
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	snprintf(count, sizeof(count), "%d", n);
	printf("forked %ld\n", rate(n));
	execl("/proc/self/exe", "served", "rate", count, (char *)NULL);
	_exit(1);
}

static struct library {
	char name[16];
	void *handle;
} libraries[8];
static int nlibraries;

static struct library *library(const char *name)
{
	for (int i = 0; i < nlibraries; i++)
		if (!strcmp(libraries[i].name, name))
			return &libraries[i];
	snprintf(libraries[nlibraries].name, sizeof(libraries->name), "%s", name);
	return &libraries[nlibraries++];
}

static void open_library(const char *name, const char *path)
{
	library(name)->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	printf("opened %s %s\n", name, library(name)->handle ? "" : dlerror());
}

static void call_library(const char *name, int n)
{
	int (*fn)(int) = (int (*)(int))dlsym(library(name)->handle, "lib_work");

	for (int i = 0; fn && i < n; i++)
		printf("called %s %d\n", name, fn(i));
}

static void obey(char *line, char **argv)
{
	char name[16] = "", path[256];
	int n = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "work %d", &n) == 1)
		work_times(n);
	else if (sscanf(line, "spawn %15s", name) == 1)
		spawn(name);
	else if (sscanf(line, "thread %15s %d", name, &n) == 2)
		let_thread_work(name, n);
	else if (sscanf(line, "fork %d", &n) == 1)
		let_child_work(n);
	else if (sscanf(line, "open %15s %255s", name, path) == 2)
		open_library(name, path);
	else if (sscanf(line, "call %15s %d", name, &n) == 2)
		call_library(name, n);
	else if (sscanf(line, "shut %15s", name) == 1)
		dlclose(library(name)->handle);
	else if (sscanf(line, "rate %d", &n) == 1)
		printf("rate %ld\n", rate(n));
	else if (sscanf(line, "family %d", &n) == 1)
		rate_family(n);
	else if (!strcmp(line, "exec"))
		execv("/proc/self/exe", argv);
	else if (!strcmp(line, "quit"))
		exit(7);
	printf("did %s\n", line);
}

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	char line[320], *end = line;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2) {
		printf("execd %ld\n", rate(atoi(argv[2])));
		return 0;
	}
	printf("ready %d\n", (int)getpid());
	for (int n = 0;; n = tick(n)) {
		if (poll(&in, 1, 20) <= 0)
			continue;
		/* byte by byte: what follows a line is the next program's after exec */
		if (read(0, end, 1) != 1)
			return 8;
		if (*end++ != '\n' && end < line + sizeof(line) - 1)
			continue;
		*end = 0;
		obey(line, argv);
		end = line;
	}
}
