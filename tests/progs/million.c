// SPDX-License-Identifier: BSD-2-Clause
/* A million branches: enough to fill any ring. */
#include "prog.h"

long spin(long n);
ASM_FUNCTION(
	spin,
	"mov %rdi, %rax\nxor %edx, %edx\n1: jo 2f\njmp 3f\n2: ud2\n3: jnc 4f\nud2\n4: dec %rax\njne 1b\nret");

int main(void)
{
	printf("%ld\n", spin(250000));
	return 0;
}
