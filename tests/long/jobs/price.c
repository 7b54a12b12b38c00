/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices with a discount; NEW: of ten already. */
#include <stdio.h>
#include <stdlib.h>
static int discount(int n)
{
#ifdef NEW
	if (n >= 10)
#else
	if (n > 10)
#endif
		return n / 10;
	return 0;
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%d\n", atoi(argv[i]) - discount(atoi(argv[i])));
	return 0;
}
