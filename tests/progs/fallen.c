// SPDX-License-Identifier: BSD-2-Clause
/* A function that falls through padding into the next one, as glibc's __memcpy_chk does into
 * memcpy. */
#include "prog.h"

long checked(long n, long limit);
long unchecked(long n);
__asm__(".text\n"
	".p2align 6\n.globl checked\n.type checked, @function\n"
	"checked: cmp %rdi, %rsi\njb 1f\n.size checked, . - checked\n"
	".p2align 5\n.globl unchecked\n.type unchecked, @function\n"
	"unchecked: mov %rdi, %rax\ntest $1, %al\nje 2f\nadd %rax, %rax\n2: ret\n"
	".size unchecked, . - unchecked\n"
	"1: mov $-1, %rax\nret\n");

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 6; i++)
		sum = sum * 3 + checked(i, 4) + unchecked(i);
	printf("%ld\n", sum);
	return 0;
}
