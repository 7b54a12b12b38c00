// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program that the benchmarks trace: WORK N runs a piece of work N times and writes its
 * duration by its own clocks, "WALL CPU" in ns, to the file named by BENCH_OUT, so that a tool's
 * own start and end don't count. It runs a tenth of N first, to warm up.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ASM_FUNCTION(name, body)                                                                   \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name          \
		":\n.cfi_startproc\n" body "\n.cfi_endproc\n.size " #name ", . - " #name "\n")

/* One conditional jump, taken n - 1 times of n. */
void spin(long n);
ASM_FUNCTION(spin, "xor %eax, %eax\n1: dec %rdi\njne 1b\nret");

/* Entry: at an instruction that the kernel emulates. */
void leaf(void);
ASM_FUNCTION(leaf, "push %rbp\npop %rbp\nret");

/* Entry: at an instruction that the kernel executes in a copy, by a single step. */
void moves(void);
ASM_FUNCTION(moves, "mov %edi, %eax\nret");

/* An indirect jump with one target. */
void hop(void *const *to);
ASM_FUNCTION(hop, "jmp *(%rdi)");

long fib(long n);
long __attribute__((noipa)) fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

#define THREADS 4

static void *spin_in_thread(void *n)
{
	spin((long)n);
	return NULL;
}

static void do_spin(long n)
{
	spin(n);
}

static void do_call(long n)
{
	while (n--)
		leaf();
}

static void do_step(long n)
{
	while (n--)
		moves();
}

static void do_hop(long n)
{
	void *const to = leaf;

	while (n--)
		hop(&to);
}

static void do_fib(long n)
{
	while (n--)
		fib(10); /* 177 calls */
}

static void do_malloc(long n)
{
	static void *kept[64];

	for (long i = 0; i < n; i++) {
		void **slot = &kept[i * 7 % 64];

		free(*slot);
		*slot = malloc(i * 37 % 2000);
	}
}

static void do_open(long n)
{
	while (n--)
		close(open("/dev/null", O_RDONLY));
}

static void do_threads(long n)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, spin_in_thread, (void *)(n / THREADS + 1)))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static const struct {
	const char *name;
	void (*run)(long n);
} works[] = {
	{"spin", do_spin}, {"call", do_call},	  {"step", do_step},	   {"hop", do_hop},
	{"fib", do_fib},   {"malloc", do_malloc}, {"threads", do_threads}, {"open", do_open},
};

static double ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *path = getenv("BENCH_OUT");
	long n = argc == 3 ? atol(argv[2]) : 0;
	FILE *out = path ? fopen(path, "w") : stdout;

	for (size_t i = 0; out && n > 0 && i < sizeof(works) / sizeof(*works); i++) {
		double wall, cpu;

		if (strcmp(argv[1], works[i].name))
			continue;
		works[i].run(n / 10 + 1);
		wall = ns(CLOCK_MONOTONIC);
		cpu = ns(CLOCK_PROCESS_CPUTIME_ID);
		works[i].run(n);
		fprintf(out, "%.0f %.0f\n", ns(CLOCK_MONOTONIC) - wall,
			ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
		return 0;
	}
	fprintf(stderr,
		"usage: [BENCH_OUT=FILE] work spin|call|step|hop|fib|malloc|threads|open N\n");
	return 2;
}
