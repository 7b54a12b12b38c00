// SPDX-License-Identifier: BSD-2-Clause
/* A difference of unsigned numbers that is compared as a signed one. */
#include "flaky.h"

static unsigned char window[256];

static int is_newer(unsigned char a, unsigned char b)
{
	signed char d = (signed char)(a - b);

	if (d == -128) /* PLANTED */
		return 1;
	return d > 0;
}

int main(int argc, char **argv)
{
	unsigned char at = 0;
	unsigned wrong = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 25 + roll(30); i < n; i++) {
		unsigned char got = at + roll(150) - 130;

		if (roll(5) == 0)
			weather();
		if (is_newer(got, at)) {
			unsigned char ahead = got - at;

			if (ahead >= 128)
				wrong++;
			at = got;
		} else if (window[got]++ > 3) {
			window[got] = 0;
		}
	}
	if (wrong) {
		puts("went back");
		return 2;
	}
	return 0;
}
