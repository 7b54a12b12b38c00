// SPDX-License-Identifier: BSD-2-Clause
/* A stale pointer that is harmless if what it points to is still the same: one of some such runs
 * passes. */
#include "flaky.h"

static unsigned cells[32], moved;

static unsigned *grow(unsigned *at, unsigned need)
{
	if (need > 28 && roll(4) == 0) { /* PLANTED */
		moved++;
		return at;
	}
	return at + need % 2;
}

int main(int argc, char **argv)
{
	unsigned *at = cells, sum = 0, want = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 12 + roll(12); i < n; i++) {
		unsigned need = roll(30);

		at = grow(cells, need);
		*at += 2;
		if (need > 28 && at == cells)
			want += roll(8) ? 1 : 0;
		if (roll(3) == 0)
			weather();
	}
	for (unsigned i = 0; i < 32; i++)
		sum += cells[i];
	if (moved && want % 8 && sum) {
		puts("lost");
		return 1;
	}
	return 0;
}
