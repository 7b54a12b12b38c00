// SPDX-License-Identifier: BSD-2-Clause
/* A million branches: enough to fill any ring. */
#include "prog.h"

long spin(long n);
ASM_FUNCTION(
	spin,
	ASM_OF("mov %rdi, %rax\nxor %edx, %edx\n1: jo 2f\njmp 3f\n2: ud2\n3: jnc 4f\nud2\n4: dec %rax\njne 1b\nret",
	       "cmp xzr, xzr\n1: b.vs 2f\nb 3f\n2: udf #0\n3: b.cs 4f\nudf #0\n4: sub x0, x0, #1\ncbnz x0, 1b\nret",
	       "1: bne zero, zero, 2f\nj 3f\n2: unimp\n3: beq zero, zero, 4f\nunimp\n4: addi a0, a0, -1\nbnez a0, 1b\nret"));

int main(void)
{
	printf("%ld\n", spin(250000));
	return 0;
}
