// SPDX-License-Identifier: BSD-2-Clause
/* A recursion that announces its third level, waits for a line, calls itself five times from there,
 * two more levels each, and returns or exits. */
#include <unistd.h>
#include "prog.h"

NOINLINE static int dig(int level, const char *then)
{
	int sum = level;
	char c;

	if (level == 3 && (puts("here") < 0 || fflush(stdout) || read(0, &c, 1) != 1))
		_exit(1);
	for (int i = 0; i < (level == 3 ? 5 : level < 6); i++)
		sum += dig(level + 1, then);
	if (level == 3 && !strcmp(then, "exit"))
		_exit(0);
	return sum;
}

int main(int argc, char **argv)
{
	return touch(dig(1, argc > 1 ? argv[1] : "return")) != 81;
}
