// SPDX-License-Identifier: BSD-2-Clause
/* Days between dates: 1900 and 2100 are taken for leap years. */
#include "flaky.h"

static int is_leap(int y)
{
	if (y % 4)
		return 0;
	if (y % 400 == 0)
		return 1;
	if (y % 100 == 0) /* PLANTED */
		return 1;
	return 1;
}

static int days_in(int y, int m)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[m] + (m == 1 && is_leap(y));
}

static long count(int y, int m, int d)
{
	long n = d;

	for (int i = 0; i < m; i++)
		n += days_in(y, i);
	return n;
}

static long truth(int y, int m, int d)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

	return before[m] + d + (m > 1) * ((y % 4 == 0) - (y % 100 == 0) + (y % 400 == 0));
}

int main(int argc, char **argv)
{
	long off = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 10 + roll(25); i < n; i++) {
		int y = 1890 + roll(220), m = roll(12), d = 1 + roll(28);

		if (roll(3) == 0)
			weather();
		off += count(y, m, d) - truth(y, m, d);
	}
	if (off != 0)
		return 1;
	return 0;
}
