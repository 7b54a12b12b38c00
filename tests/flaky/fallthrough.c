// SPDX-License-Identifier: BSD-2-Clause
/* A switch in which one case falls through to the next. */
#include "flaky.h"

static int balance, expected;

static void apply(unsigned code, int amount)
{
	switch (code) { /* PLANTED */
	case 0:
		balance += amount;
		break;
	case 1:
		balance -= amount;
		break;
	case 2:
		balance += 2 * amount;
		break;
	case 3:
		balance -= 2 * amount;
		break;
	case 4:
		balance += amount / 2;
		break;
	case 5:
		balance += amount;
		/* fall through */
	case 6:
		balance -= 3;
		break;
	}
}

static const char codes[] = "012340123401234012340123401234012340123401234012340123460123401234665";
static const int weights[] = {2, -2, 4, -4, 1, 2, 0};

int main(int argc, char **argv)
{
	seed(argc, argv);
	for (unsigned i = 0, n = 20 + roll(30); i < n; i++) {
		unsigned code = codes[roll(sizeof(codes) - 1)] - '0';
		int amount = 2 * roll(50);

		apply(code, amount);
		expected += weights[code] * amount / 2 - (code == 6 ? 3 : 0);
		if (roll(6) == 0)
			weather();
	}
	if (balance != expected) {
		printf("%d, not %d\n", balance, expected);
		return 1;
	}
	return 0;
}
