// SPDX-License-Identifier: BSD-2-Clause
/* A comparison of versions that isn't consistent where one of them has no number. */
#include "flaky.h"

struct version {
	int major, minor;
};

static int order(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	if (x->minor < 0 && y->minor >= 0) /* PLANTED */
		return 1;
	return x->minor < y->minor ? -1 : x->minor > y->minor;
}

static void insertion_sort(struct version *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && order(&v[k - 1], &v[k]) > 0; k--) {
			struct version t = v[k];

			v[k] = v[k - 1];
			v[k - 1] = t;
		}
}

int main(int argc, char **argv)
{
	struct version v[40];
	unsigned n, bad = 0;

	seed(argc, argv);
	n = 12 + roll(18);
	for (unsigned i = 0; i < n; i++) {
		v[i].major = 1 + roll(9);
		v[i].minor = roll(20) ? (int)roll(10) : -1;
		if (roll(4) == 0)
			weather();
	}
	insertion_sort(v, n);
	for (unsigned i = 1; i < n; i++)
		if (v[i - 1].major == v[i].major && v[i - 1].minor > v[i].minor)
			bad = 1;
	return bad;
}
