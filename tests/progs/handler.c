// SPDX-License-Identifier: BSD-2-Clause
/* A signal handler calls the traced function again while it is running; and a handler that is
 * traced itself. */
#include <signal.h>
#include <sys/mman.h>
#include "prog.h"

static volatile int depth;

NOINLINE int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i == 2 && depth == 0)
			raise(SIGUSR1);
		sum += touch(i);
	}
	return sum;
}

NOINLINE void handler(int sig)
{
	depth++;
	if (sig == SIGUSR1)
		printf("in handler %d\n", work(4));
	depth--;
}

/* A fault that the handler mends: the instruction runs again. */
static char *page;

NOINLINE void fault(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	if (sig == SIGSEGV)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

NOINLINE int reader(volatile char *where)
{
	int got = *where;

	return got ? got : touch(1);
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};

	signal(SIGUSR1, handler);
	sigaction(SIGSEGV, &sa, NULL);
	printf("%d\n", work(5));
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%d %d\n", reader(page), reader(page));
	return 0;
}
