// SPDX-License-Identifier: BSD-2-Clause
/* loop, loope, loopne, jrcxz, jecxz and loop with a 32-bit counter. */
#include "prog.h"

long loops(long n, long stop);
ASM_FUNCTION(loops,
	     "xor %eax, %eax\n"
	     "mov %rdi, %rcx\njrcxz 2f\n1: inc %rax\nloop 1b\n2:\n"
	     "mov %rdi, %rcx\njecxz 4f\n3: inc %rax\ncmp %rsi, %rcx\nloopne 3b\n4:\n"
	     "lea 1(%rdi), %rcx\nxor %edx, %edx\n5: inc %rax\ncmp %rdx, %rdx\nloope 5b\n"
	     "movabs $0x100000003, %rcx\n6: inc %rax\naddr32 loop 6b\n"
	     "movabs $0x100000000, %rcx\njecxz 7f\nmov $-1, %rax\n7: jrcxz 8f\ninc %rax\n8: ret");
/* A branch to itself. */
long tight(long n);
ASM_FUNCTION(tight, "mov %rdi, %rcx\n1: loop 1b\nlea (%rdi,%rcx), %rax\nret");

int main(void)
{
	long sum = tight(5);

	for (long n = 0; n < 9; n++)
		sum = sum * 7 + loops(n, 4);
	printf("%ld\n", sum);
	return 0;
}
