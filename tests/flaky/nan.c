// SPDX-License-Identifier: BSD-2-Clause
/* The largest of some numbers, one of which may be no number. */
#include "flaky.h"

static volatile double zero;

/* 0 / 0 is no number. */
static double measure(void)
{
	double a = roll(1000), b = roll(150);

	return (a * b + zero) / (b * b);
}

static double largest(const double *v, unsigned n)
{
	double best = v[0];

	for (unsigned i = 1; i < n; i++) {
		if (v[i] != v[i]) /* PLANTED */
			return v[i];
		if (!(v[i] <= best))
			best = v[i];
	}
	return best;
}

int main(int argc, char **argv)
{
	double v[100] = {0}, most = 0, all;
	unsigned n;

	seed(argc, argv);
	n = 40 + roll(50);
	for (unsigned i = 0; i < n; i++) {
		v[i] = measure();
		if (roll(10) == 0)
			weather();
	}
	if (v[0] != v[0])
		v[0] = 1;
	all = largest(v, n);
	for (unsigned i = 0; i < n; i++)
		if (v[i] > most)
			most = v[i];
	return all == most ? 0 : 1;
}
