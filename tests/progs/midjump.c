// SPDX-License-Identifier: BSD-2-Clause
/* Assembler functions that share code: a jump into the middle of a sibling, one tail for two, an
 * entry within another function. */
#include "prog.h"

long left(long n);
long right(long n);
long inner(long n);
long outer(long n);

ASM_FUNCTION(left, "test %rdi, %rdi\nje 1f\nlea 3(%rdi), %rax\njmp right_middle\n"
		   "1: mov $5, %eax\njmp right_tail");
ASM_FUNCTION(right,
	     "lea 1(%rdi,%rdi), %rax\nright_middle: test $1, %al\nje right_tail\nadd $10, %rax\n"
	     "right_tail: cmp $8, %rax\njb 1f\nsub $8, %rax\n1: ret");
/* outer falls into inner, whose entry is also called. */
__asm__(".text\n.globl outer, inner\n.type outer, @function\n.type inner, @function\nouter: dec %rdi\njs 1f\n"
	"push %rdi\ncall inner\npop %rdi\n1:\ninner: lea 7(%rdi), %rax\ntest $2, %al\nje 2f\nneg %rax\n2: ret\n"
	".size inner, . - inner\n.size outer, . - outer\n");

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 6; i++)
		sum = sum * 3 + left(i) + right(i) * 5 + outer(i) + inner(i);
	printf("%ld\n", sum);
	return 0;
}
