// SPDX-License-Identifier: BSD-2-Clause
/* Calls code that is generated at run time in anonymous memory, which calls back. */
#include <sys/mman.h>
#include "prog.h"

NOINLINE int helper(int n)
{
	return n & 1 ? touch(n) : -n;
}

NOINLINE int run(int (*code)(int, int (*)(int)), int n)
{
	return code(n, helper) + touch(1);
}

int main(void)
{
	/* push %rbx; call *%rsi; pop %rbx; ret */
	static const unsigned char code[] = {0x53, 0xff, 0xd6, 0x5b, 0xc3};
	int sum = 0;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, code, sizeof(code));
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	for (int i = 0; i < 5; i++)
		sum = sum * 3 + run((int (*)(int, int (*)(int)))p, i);
	printf("%d\n", sum);
	return 0;
}
