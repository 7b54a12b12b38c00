// SPDX-License-Identifier: BSD-2-Clause
/* All sixteen conditions, with operands for which signed and unsigned comparison, overflow and sign
 * differ. */
#include "prog.h"

/* Adds 1 << cc to eax for each condition that holds after cmp %rsi,%rdi. mov and lea leave the
 * flags alone. */
#define TEST(cc, bit) #cc " 1f\njmp 2f\n1: lea " #bit "(%rax), %eax\n2:\n"
#define NEAR(cc, bit)                                                                              \
	".byte 0x0f\n.byte 0x80 + " #cc "\n.long 2\njmp 2f\n1: lea " #bit "(%rax), %eax\n2:\n"

int conditions(long a, long b);
ASM_FUNCTION(conditions,
	     "mov $0, %eax\ncmp %rsi, %rdi\n" TEST(jo, 1) TEST(jno, 2) TEST(jb, 4) TEST(jae, 8)
		     TEST(je, 16) TEST(jne, 32) TEST(jbe, 64) TEST(ja, 128) TEST(js, 256)
			     TEST(jns, 512) TEST(jp, 1024) TEST(jnp, 2048) TEST(jl, 4096)
				     TEST(jge, 8192) TEST(jle, 16384) TEST(jg, 32768) "ret");

/* The long forms: 0f 8x with four bytes of displacement. */
int conditions_near(long a, long b);
ASM_FUNCTION(conditions_near,
	     "mov $0, %eax\ncmp %rsi, %rdi\n" NEAR(0, 1) NEAR(1, 2) NEAR(2, 4) NEAR(3, 8)
		     NEAR(4, 16) NEAR(5, 32) NEAR(6, 64) NEAR(7, 128) NEAR(8, 256) NEAR(9, 512)
			     NEAR(10, 1024) NEAR(11, 2048) NEAR(12, 4096) NEAR(13, 8192)
				     NEAR(14, 16384) NEAR(15, 32768) "ret");

/* Branches to the next instruction: only the flags tell whether they were taken. */
int nowhere(long a, long b);
ASM_FUNCTION(nowhere, "cmp %rsi, %rdi\njl 1f\n1: jg 1f\n1: je 1f\n1: jne 1f\n1: mov $7, %eax\nret");

/* Hinted (3e, 2e): the kernel takes no probe there. What comes next tells, but not where both ways
 * lead to one place. */
int hinted(long a, long b);
ASM_FUNCTION(
	hinted,
	"cmp %rsi, %rdi\n.byte 0x3e\njl 1f\nmov $1, %eax\n.byte 0x2e\nje 2f\nret\n1: mov $2, %eax\nret\n"
	"2: mov $3, %eax\nret");
int hinted_nowhere(long a, long b);
ASM_FUNCTION(hinted_nowhere,
	     "cmp %rsi, %rdi\n.byte 0x3e\nje 1f\n1: .byte 0x2e\njne 1f\n1: mov $4, %eax\nret");

int main(void)
{
	static const long v[] = {0, 1, -1, 2, (long)(~0ul >> 1), -(long)(~0ul >> 1) - 1, 3, 255};
	unsigned long sum = 0;

	for (unsigned i = 0; i < COUNT(v); i++)
		for (unsigned j = 0; j < COUNT(v); j++) {
			int c = conditions(v[i], v[j]);

			if (c != conditions_near(v[i], v[j]) || nowhere(v[i], v[j]) != 7)
				return 1;
			sum = sum * 31 + c + hinted(v[i], v[j]) + hinted_nowhere(v[i], v[j]);
		}
	printf("%lu\n", sum);
	return 0;
}
