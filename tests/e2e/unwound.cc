// SPDX-License-Identifier: BSD-2-Clause
// Calls here() in ways that only unwind tables tell from the stack. Build without frame pointers.
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;

extern "C" NOINLINE void here(int n)
{
	sink = sink + n;
}

NOINLINE static int varies(int n)
{
	volatile char *room = (volatile char *)alloca(16 + 40 * (n & 3));

	room[0] = n;
	if (n)
		varies(n - 1);
	else
		here(1);
	return room[0] + sink;
}

// Its frame is found by a register that it saved: the stack pointer was rounded.
NOINLINE static int realigned(int n)
{
	alignas(64) volatile char aligned[64];
	volatile char *room = (volatile char *)alloca(n * 8);

	room[0] = aligned[0] = n;
	here(2);
	return room[0] + aligned[0];
}

static int compare(const void *a, const void *b)
{
	here(3);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sorts()
{
	int v[] = {2, 1};

	qsort(v, 2, sizeof(*v), compare);
	sink = sink + v[0];
}

static sigjmp_buf back;

static void handler(int signo)
{
	here(signo);
	if (signo == SIGSEGV)
		siglongjmp(back, 1);
}

NOINLINE static void faults(volatile int *p)
{
	sink = sink + *p;
}

NOINLINE static void signals()
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	sigaction(SIGUSR1, &act, nullptr);
	sigaction(SIGSEGV, &act, nullptr);
	raise(SIGUSR1);
	if (!sigsetjmp(back, 1))
		faults(nullptr);
}

struct guard {
	~guard()
	{
		here(5);
	}
};

NOINLINE static void throws(int n)
{
	guard g;

	if (sink != -1)
		throw std::runtime_error("thrown");
	here(n);
}

NOINLINE static void catches()
{
	try {
		throws(1);
	} catch (const std::exception &e) {
		here(6);
	}
}

NOINLINE static void *thread(void *arg)
{
	here(7);
	sink = sink + 1;
	return arg;
}

// The call is its last instruction: the return address is of no code of it.
[[noreturn]] NOINLINE static void leaves()
{
	here(8);
	exit(0);
}

NOINLINE static void ends(int n)
{
	if (n)
		leaves();
	here(n);
}

int main(int argc, char **argv)
{
	pthread_t t;

	varies(argc > 1 ? atoi(argv[1]) : 9);
	sink = sink + realigned(3);
	sorts();
	signals();
	catches();
	pthread_create(&t, nullptr, thread, nullptr);
	pthread_join(t, nullptr);
	ends(1);
}
