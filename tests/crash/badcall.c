/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls what is no code: badcall HOW. With "handled" before HOW, a handler on an alternate stack
 * aborts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int call(int);

static const int words[4] = {0x90909090};
static char stack[1 << 16] __attribute__((aligned(64)));

static void on_fault(int sig)
{
	abort();
}

__attribute__((noinline)) static int leaf(call *f, int x)
{
	return f(x) + 1;
}

__attribute__((noinline)) static int tail(call *f, int x)
{
	return f(x);
}

__attribute__((noinline)) static int saved(call *f, long a, long b, long c)
{
	volatile char room[200];
	long r = a * b;

	room[a & 7] = c;
	r += f(r);
	return r * a + b + c + room[0];
}

/* The call is the function's last instruction. */
__attribute__((noinline, noreturn)) static void last(call *f)
{
	f(0);
	__builtin_unreachable();
}

static call *unmapped(void)
{
	void *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, 4096);
	return (call *)p;
}

static call *target(const char *how)
{
	if (strstr(how, "low"))
		return (call *)0x123;
	if (strstr(how, "heap"))
		return (call *)calloc(100, 1);
	if (strstr(how, "unmapped"))
		return unmapped();
	if (strstr(how, "data"))
		return (call *)words;
	if (strstr(how, "stack"))
		return (call *)(stack + 100);
	return 0;
}

static void handle(void)
{
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

int main(int argc, char **argv)
{
	call *f = target(argv[1]);

	if (strstr(argv[1], "handled"))
		handle();
	if (strstr(argv[1], "tail"))
		return tail(f, argc) + 1;
	if (strstr(argv[1], "saved"))
		return saved(f, argc, argc + 1, argc + 2);
	if (strstr(argv[1], "last"))
		last(f);
	return leaf(f, argc) + 1;
}
