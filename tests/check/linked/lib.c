// SPDX-License-Identifier: BSD-2-Clause
/* tests/check/t_linked.sh: two functions that nothing calls, one of them of 16 KB with something
 * inlined in it, around one that is called. */
#include <string.h>
#include "shared.h"

static int data;

__attribute__((noinline)) int unused(int n)
{
	if (n > 3)
		__asm__ volatile(".fill 0x4000, 1, 0x90");
	data += clamp(n, 5);
	if (n > 9)
		__asm__ volatile(".fill 0x1000, 1, 0x90");
	return data;
}

__attribute__((noinline)) int used(const struct request *r, enum mode m, const char *why)
{
	int k = clamp(r->id, 2);

	if (m == ON && strlen(why) > 2)
		k += 10;
	return k;
}

__attribute__((noinline)) int unused_too(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += clamp(i, data);
	return sum;
}
