// SPDX-License-Identifier: BSD-2-Clause
/* A solver that takes too many rounds: every run takes this branch, failing ones more often. */
#include "flaky.h"

static unsigned solve(unsigned n, unsigned slow)
{
	unsigned rounds = 0;

	while (n > 1) { /* PLANTED */
		rounds++;
		n = slow && rounds % 2 ? n - 1 : n / 2;
	}
	return rounds;
}

int main(int argc, char **argv)
{
	unsigned budget = 0;

	seed(argc, argv);
	weather();
	for (unsigned i = 0; i < 6; i++) {
		if (roll(4) == 0)
			weather();
		budget += solve(40 + roll(9000), roll(3) == 0);
	}
	return budget > 82;
}
