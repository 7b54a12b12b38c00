/* Adds up the orders of the night. One customer gets another sum than expected. */
#include <bbtrace.h>
#include <unistd.h>

__attribute__((noinline)) static int price(int article, int n)
{
	if (n > 10)
		return 90 * n;
	return article == 7 ? 0 : 100 * n;
}

int main(void)
{
	static const int orders[4][2] = {{1, 2}, {2, 20}, {7, 1}, {4, 3}};
	int sum = 0;

	for (int i = 0; i < 100000; i++) /* what is of no interest */
		sum += price(i % 5, 1);
	BBTRACE_START();
	usleep(500000); /* connects to the database */
	for (int i = 0; i < 4; i++) {
		BBTRACE_MARK("order", i);
		sum += price(orders[i][0], orders[i][1]);
	}
	BBTRACE_STOP();
	for (int i = 0; i < 100000; i++)
		sum += price(i % 5, 1);
	return sum == 0;
}
