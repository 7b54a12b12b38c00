/* Serves orders of a few articles; the third one is odd. */
#include <stdio.h>
#include "bbtrace.h"

__attribute__((noinline)) static int price(int article, int n)
{
	if (n > 10)
		return 90 * n;
	return article == 7 ? 0 : 100 * n;
}

static int order(const int (*lines)[2])
{
	int sum = 0;

	for (; (*lines)[0]; lines++)
		sum += price((*lines)[0], (*lines)[1]);
	return sum;
}

int main(void)
{
	static const int orders[4][3][2] = {{{1, 2}}, {{2, 20}}, {{7, 1}, {3, 4}}, {{4, 3}}};

	for (int i = 0; i < 4; i++) {
		if (i == 2)
			BBTRACE_START();
		BBTRACE_MARK("order", i);
		printf("order %d: %d\n", i, order(orders[i]));
		if (i == 2)
			BBTRACE_STOP();
	}
	return 0;
}
