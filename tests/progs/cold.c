// SPDX-License-Identifier: BSD-2-Clause
/* gcc -O2 moves the unlikely code to parse.cold. */
#include "prog.h"

int errors;

NOINLINE __attribute__((cold)) void complain(const char *what, int n)
{
	errors += n;
	printf("%s %d\n", what, n);
}

NOINLINE int parse(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (__builtin_expect(touch(i) == 3, 0)) {
			complain("three", i);
			sum += touch(100);
			if (n > 6)
				complain("more", n);
		}
		sum += i;
	}
	if (n > 7) {
		complain("last", n);
		abort();
	}
	return sum;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum += parse(i);
	printf("%d %d\n", sum, errors);
	return 0;
}
