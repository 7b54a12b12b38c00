// SPDX-License-Identifier: BSD-2-Clause
/* A ladder of if and else. */
#include "prog.h"

NOINLINE int classify(int n)
{
	if (n < 0)
		return -1;
	if (n == 0)
		return 0;
	if (n < 10)
		return touch(1);
	else if (n < 100 && n % 2)
		return touch(2);
	else if (n < 100 || n == 1000)
		return touch(3);
	return touch(4);
}

int main(void)
{
	static const int values[] = {-5, 0, 3, 9, 10, 11, 99, 100, 1000, 1001, -1};
	int sum = 0;

	for (unsigned i = 0; i < COUNT(values); i++)
		sum = sum * 3 + classify(values[i]);
	printf("%d\n", sum);
	return 0;
}
