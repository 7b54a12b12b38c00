// SPDX-License-Identifier: BSD-2-Clause
/* A recursive evaluation that ends at a depth that is rarely reached. */
#include "flaky.h"

struct tree {
	struct tree *left, *right;
	unsigned value;
};

static struct tree *grow(unsigned depth)
{
	struct tree *t = calloc(1, sizeof(*t));

	t->value = roll(10);
	if (depth < 16 && roll(100) < 62)
		t->left = grow(depth + 1);
	if (depth < 16 && roll(100) < 24)
		t->right = grow(depth + 1);
	return t;
}

static unsigned add(const struct tree *t, unsigned depth)
{
	unsigned sum = t->value;

	if (depth > 11) /* PLANTED */
		return 100000;
	if (t->left)
		sum += add(t->left, depth + 1);
	if (t->right)
		sum += add(t->right, depth + 1);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 3 + roll(3); i < n; i++) {
		weather();
		sum += add(grow(0), 0);
	}
	if (sum >= 100000) {
		fprintf(stderr, "too deep\n");
		return 1;
	}
	return 0;
}
