// SPDX-License-Identifier: BSD-2-Clause
/* A library with branches to targets within it that depend on its load address: a jump table, a
 * ret. */
#include "prog.h"

typedef int relay_fn(int, void *);
relay_fn relay_pick, relay_to;

/* other: relay_pick of this library, or of the same one elsewhere. */
NOINLINE int relay_to(int n, void *other)
{
	return ((relay_fn *)other)(n - 1, other) + touch(1);
}

NOINLINE int relay_pick(int n, void *other)
{
	switch (touch(n) % 6) {
	case 0:
		return n ? relay_to(n, other) + 1 : 5;
	case 1:
		return relay_to(n, (void *)relay_pick) * 2;
	case 2:
		return relay_to(n, other) - 3;
	case 3:
		return relay_to(n, (void *)relay_pick) ^ 4;
	case 4:
		return relay_to(n, other) + 5;
	default:
		return -relay_to(n, other);
	}
}
