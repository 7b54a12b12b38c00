// SPDX-License-Identifier: BSD-2-Clause
/* Nested loops: for, while, do, break, continue. */
#include "prog.h"

NOINLINE int nested(int n)
{
	int sum = 0, k;

	for (int i = 0; i < n; i++) {
		for (int j = i; j > 0; j /= 2) {
			if (j % 3 == 0)
				continue;
			sum += touch(j);
		}
		k = i;
		while (k-- > 3)
			if (touch(k) == 7)
				break;
		do {
			sum ^= touch(k);
		} while (++k < 2);
	}
	return sum;
}

int main(void)
{
	printf("%d\n", nested(0) + nested(1) + nested(25));
	return 0;
}
