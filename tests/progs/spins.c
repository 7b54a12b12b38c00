// SPDX-License-Identifier: BSD-2-Clause
/* Calls a function over and over until the file that its argument names is there. */
#include <unistd.h>
#include "prog.h"

NOINLINE static int step(int x)
{
	return touch(x) & 1 ? 3 * x + 1 : x / 2;
}

int main(int argc, char **argv)
{
	int x = 1;

	while (access(argv[1], F_OK))
		for (int i = 0; i < 1000; i++)
			x = step(x);
	return x < 0 ? 2 : 3;
}
