// SPDX-License-Identifier: BSD-2-Clause
/* narrow: a 32-bit program without libraries that waits for a signal, three calls deep. */
#define PAUSE 29
#define EXIT  1

static int call(int number, int first)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first) : "memory");
	return result;
}

__attribute__((noinline)) int inner(int n)
{
	return call(PAUSE, n) + 1;
}

__attribute__((noinline)) int outer(int n)
{
	return inner(n) * 2;
}

void _start(void)
{
	call(EXIT, outer(5));
}
