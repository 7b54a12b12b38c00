// SPDX-License-Identifier: BSD-2-Clause
/* Threads and children whose name, user and control group change while they are in traced
 * functions. Argument 1: a folder of a control group (v2) to enter, and the one to go back to
 * behind a colon; "": none. Ends with 0. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *groups;

__attribute__((noinline)) int leaf(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += i % 3 == 1 ? 5 : i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

/* Changes are made by this, which isn't traced. */
static __attribute__((noinline)) void enter(const char *group)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		exit(9);
	close(fd);
}

static __attribute__((noinline)) void change(int what)
{
	static char one[4096];
	char *other = strchr(groups, ':');

	if (what == 1)
		prctl(PR_SET_NAME, "blue");
	else if (what == 2)
		prctl(PR_SET_NAME, "red");
	else if (what == 3)
		syscall(SYS_setresuid, 65534, 0, 0); /* of this thread alone */
	else if (what == 4)
		syscall(SYS_setresuid, 0, 0, 0);
	else if (other && what == 5)
		enter(memcpy(one, groups, other - groups));
	else if (other && what == 6)
		enter(other + 1);
}

__attribute__((noinline)) int changes(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += leaf(i % 5);
		if (i % 4 == 3)
			change(i / 4 % 7);
		sum += i & 1 ? 3 : leaf(2);
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

static void *thread(void *n)
{
	changes((long)n);
	return NULL;
}

/* Named by another thread, while it waits outside of traced functions, but in one. */
static atomic_int named;

static __attribute__((noinline)) void wait_for(int value)
{
	while (atomic_load(&named) != value)
		usleep(100);
}

/* Not traced, so that the thread is in no traced function when it is renamed. */
static __attribute__((noinline)) void hand_over(int i)
{
	atomic_store(&named, 2 * i);
	wait_for(2 * i + 1);
}

__attribute__((noinline)) int waits(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += i & 1 ? leaf(3) : i;
		if (i % 4 == 3)
			hand_over(i);
		sum ^= i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

static void *waiter(void *n)
{
	waits((long)n);
	return NULL;
}

static void rename_other(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waiter, (void *)16L);
	for (int i = 3; i < 16; i += 4) {
		wait_for(2 * i);
		pthread_setname_np(t, i % 8 == 3 ? "blue" : "red");
		atomic_store(&named, 2 * i + 1);
	}
	pthread_join(t, NULL);
}

static void make_child(int n)
{
	if (!fork()) {
		pthread_t t;

		changes(n);
		pthread_create(&t, NULL, thread, (void *)9L);
		pthread_join(t, NULL);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	groups = argc > 1 ? argv[1] : "";
	if (argc > 2) {
		changes(12);
		return 0;
	}
	for (long i = 0; i < 3; i++) {
		pthread_t t;

		pthread_create(&t, NULL, thread, (void *)(30 + i));
		pthread_join(t, NULL);
	}
	rename_other();
	changes(30);
	change(1);
	make_child(20);
	change(2);
	make_child(20);
	leaf(4);
	execl("/proc/self/exe", "blue", groups, "again", NULL);
	return 1;
}
