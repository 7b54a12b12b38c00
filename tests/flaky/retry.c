// SPDX-License-Identifier: BSD-2-Clause
/* A connection that is tried again gives up too early, and a later step works without it. */
#include "flaky.h"

static int attempt(unsigned load)
{
	if (load > 80)
		return roll(2) ? -1 : -2;
	return roll(100) < load ? -1 : 0;
}

static int open_connection(unsigned load)
{
	for (int tries = 0;; tries++) {
		int err = attempt(load);

		if (!err)
			return 3;
		if (tries >= 3) /* PLANTED */
			return -1;
		if (err == -2)
			load -= 20;
		else
			weather();
	}
}

static int transfer(int connection, unsigned blocks)
{
	int sum = 0;

	for (unsigned i = 0; i < blocks; i++)
		sum += connection;
	return sum;
}

int main(int argc, char **argv)
{
	int sum = 0, want = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 5 + roll(5); i < n; i++) {
		unsigned blocks = 1 + roll(5);
		int c = open_connection(20 + roll(38));

		sum += transfer(c, blocks);
		want += 3 * blocks;
	}
	if (sum != want) {
		fprintf(stderr, "%d of %d\n", sum, want);
		exit(1);
	}
	return 0;
}
