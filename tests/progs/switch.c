// SPDX-License-Identifier: BSD-2-Clause
/* A dense switch: a jump table. With -fcf-protection its jump is `notrack jmp`. */
#include "prog.h"

NOINLINE int pick(int n)
{
	switch (n) {
	case 0:
		return touch(10);
	case 1:
		return touch(21) * 3;
	case 2:
		return touch(n) - 8;
	case 3:
	case 4:
		return touch(n) ^ 99;
	case 5:
		n = touch(n);
		/* fall through */
	case 6:
		return n * 5;
	case 7:
		return touch(-1);
	case 9:
		return touch(n) + 1000;
	}
	return 0;
}

int main(void)
{
	int sum = 0;

	for (int i = -2; i < 12; i++)
		sum = sum * 3 + pick(i);
	printf("%d\n", sum);
	return 0;
}
