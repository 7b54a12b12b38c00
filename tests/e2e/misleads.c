// SPDX-License-Identifier: BSD-2-Clause
/* Programs that end in ways whose cause a careless reader of their branches would get wrong:
 * t_explain.sh. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define K __attribute__((noinline, noipa))
struct seen {
	char name[16];
	int error;
};
static volatile int turns;
K void parse(const char *s, struct seen *to)
{
	if (*s == '-')
		to->error = 9;
} /* pointer */
K int helper(int c, int *e)
{
	if (c > 1)
		*e = 7;
	return 7;
} /* out */
K void *worker(void *p)
{
	if (p)
		*(volatile int *)0 = 1;
	return p;
} /* thread */
static int late;
__attribute__((destructor)) static int leave(void)
{
	return late ? 3 : 0;
}
int main(int c, char **v)
{
	struct seen t;
	int e = 0;
	pthread_t id;

	memset(&t, 0, sizeof(t));
	if (c > 5)
		t.error = 2;
	if (!strcmp(v[1], "pointer")) {
		for (int i = 2; i < c; i++)
			parse(v[i], &t);
		return t.error;
	}
	if (!strcmp(v[1], "out")) {
		int r = helper(c, &e);

		if (e == 7) /* 7 is no result */
			return 3;
		return r;
	}
	if (!strcmp(v[1], "joined")) {
		if (c > 2)
			puts("more");
		*(volatile int *)0 = 1;
	}
	if (!strcmp(v[1], "thread")) {
		pthread_create(&id, NULL, worker, &t);
		for (;;)
			turns++;
	}
	if (!strcmp(v[1], "outside")) {
		if (!fork())
			kill(getppid(), SIGKILL), _exit(0);
		for (;;)
			turns++;
	}
	if (!strcmp(v[1], "exec"))
		execlp("false", "false", NULL);
	late = 1;
	if (c > 1) /* main */
		return 3;
	return 0;
}
