// SPDX-License-Identifier: BSD-2-Clause
/* A task that runs into its deadline keeps a result of which half is missing. */
#include "flaky.h"

static unsigned now;

static unsigned step(unsigned i)
{
	unsigned cost = 1 + roll(8);

	if (i % 7 == 0 && roll(12) == 0)
		cost += 30 + roll(60);
	now += cost;
	return cost;
}

static unsigned run(unsigned steps, unsigned *done)
{
	unsigned begun = now, sum = 0;

	for (unsigned i = 0; i < steps; i++) {
		sum += step(i);
		(*done)++;
		if (now - begun > 110) /* PLANTED */
			break;
		if (roll(8) == 0)
			weather();
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned missing = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 6 + roll(6); i < n; i++) {
		unsigned steps = 6 + roll(8), done = 0, sum = run(steps, &done);

		if (sum % 5 == 0)
			weather();
		missing += steps - done;
	}
	return missing > 0;
}
