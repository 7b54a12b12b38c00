// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that is busy until it is killed: BUSY FILE calls fib(10), 177 calls, again and again
 * and counts that in FILE, a shared mapping of one 64-bit number.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

long fib(long n);
long __attribute__((noipa)) fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	volatile uint64_t *count;

	if (fd < 0 || ftruncate(fd, sizeof(*count))) {
		fprintf(stderr, "usage: busy FILE\n");
		return 2;
	}
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (;;) {
		fib(10);
		++*count;
	}
}
