// SPDX-License-Identifier: BSD-2-Clause
/* A state machine without the transition of a reset that comes while it closes. */
#include "flaky.h"

enum state { CLOSED, OPENING, OPEN, CLOSING, LOST };
enum input { CONNECT, ACK, DATA, CLOSE, RESET, INPUTS };

static enum state next(enum state s, enum input i)
{
	switch (s) {
	case CLOSED:
		return i == CONNECT ? OPENING : CLOSED;
	case OPENING:
		if (i == ACK)
			return OPEN;
		return i == RESET ? CLOSED : OPENING;
	case OPEN:
		if (i == CLOSE)
			return CLOSING;
		return i == RESET ? CLOSED : OPEN;
	case CLOSING:
		if (i == ACK)
			return CLOSED;
		if (i == RESET) /* PLANTED */
			return LOST;
		return CLOSING;
	default:
		return LOST;
	}
}

static enum input draw(void)
{
	unsigned r = roll(40);

	return r < 10 ? CONNECT : r < 26 ? ACK : r < 34 ? DATA : r < 39 ? CLOSE : RESET;
}

int main(int argc, char **argv)
{
	enum state s = CLOSED;
	unsigned data = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 60 + roll(60); i < n; i++) {
		enum input in = draw();

		s = next(s, in);
		if (s == OPEN && in == DATA)
			data++;
		if (i % 16 == 3)
			weather();
	}
	for (unsigned i = 0; i < 8 && s != CLOSED; i++)
		s = next(s, i % 2 ? ACK : CLOSE);
	if (s == LOST)
		return 1;
	printf("%u\n", data);
	return 0;
}
