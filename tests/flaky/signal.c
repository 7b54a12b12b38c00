// SPDX-License-Identifier: BSD-2-Clause
/* A signal handler that finds its data in the middle of a change. */
#include <signal.h>
#include "flaky.h"

static volatile int from, to, changing, torn;

static void on_signal(int s)
{
	if (changing) { /* PLANTED */
		torn += from + to;
		return;
	}
	torn += from + to - 1000;
}

static int ticks;

/* An alarm each time that the clock runs down. */
static void tick(int n)
{
	ticks -= n;
	if (ticks <= 0) {
		ticks = 60 + roll(40);
		raise(SIGUSR1);
	}
}

static void move(int amount)
{
	tick(4);
	changing = 1;
	from -= amount;
	tick(roll(10) == 0);
	to += amount;
	changing = 0;
	tick(2 + roll(5));
}

int main(int argc, char **argv)
{
	seed(argc, argv);
	signal(SIGUSR1, on_signal);
	from = 1000;
	ticks = 50;
	for (unsigned i = 0, n = 20 + roll(20); i < n; i++) {
		move(1 + roll(20));
		if (roll(6) == 0)
			weather();
	}
	return torn ? 1 : 0;
}
