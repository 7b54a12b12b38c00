// SPDX-License-Identifier: BSD-2-Clause
/* libc calls back: qsort and bsearch with a traced comparison function. */
#include "prog.h"

NOINLINE int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x < y)
		return -1;
	return x > y;
}

int main(void)
{
	int values[] = {5, 3, 9, 1, 1, 8, 2, 7, 0, 6, 4}, key = 8;
	int *found;

	qsort(values, COUNT(values), sizeof(*values), compare);
	found = bsearch(&key, values, COUNT(values), sizeof(*values), compare);
	printf("%d %d\n", (int)(found - values), values[3]);
	return 0;
}
