// SPDX-License-Identifier: BSD-2-Clause
/* A bounded queue drops what it has no room for. */
#include "flaky.h"

#define ROOM 24
static unsigned items[ROOM], head, n, dropped_sum;

static void put(unsigned v)
{
	if (n == ROOM) { /* PLANTED */
		dropped_sum += v;
		return;
	}
	items[(head + n++) % ROOM] = v;
}

static int get(unsigned *v)
{
	if (!n)
		return 0;
	*v = items[head];
	head = (head + 1) % ROOM;
	n--;
	return 1;
}

int main(int argc, char **argv)
{
	unsigned sum = 0, want = 0, v;

	seed(argc, argv);
	for (unsigned i = 0, rounds = 40 + roll(40); i < rounds; i++) {
		if (roll(3) == 0)
			for (unsigned k = roll(9); k; k--) {
				v = 1 + roll(50);
				want += v;
				put(v);
			}
		for (unsigned k = roll(4); k && get(&v); k--)
			sum += v;
		if (roll(9) == 0)
			weather();
	}
	while (get(&v))
		sum += v;
	return sum == want ? 0 : 1;
}
