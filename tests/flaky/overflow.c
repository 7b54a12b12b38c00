// SPDX-License-Identifier: BSD-2-Clause
/* A size that is the product of two numbers wraps around. */
#include "flaky.h"

struct image {
	uint16_t width, height;
	uint32_t bytes;
};

static int plan(struct image *m, unsigned depth)
{
	uint32_t row = m->width * depth;

	if (m->width == 0 || m->height == 0)
		return -1;
	if (depth == 4 && m->width & 3)
		row += 4 - (m->width & 3);
	m->bytes = (uint16_t)(row * (m->height >> 4));
	if (row * (m->height >> 4) > 0xffff) /* PLANTED */
		m->bytes -= row & 0xff;
	return 0;
}

static unsigned check(const struct image *m, unsigned depth)
{
	unsigned wrong = 0;

	for (unsigned y = 0; y < (m->height >> 4); y += 16)
		if ((y + 1) * m->width * depth > m->bytes + 4096u)
			wrong++;
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned wrong = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 4 + roll(8); i < n; i++) {
		struct image m = {.width = 10 + roll(700), .height = 10 + roll(700)};
		unsigned depth = roll(3) ? 1 : 4;

		if (roll(60) == 0)
			m.width = 900 + roll(200), m.height = 900, depth = 4;
		else if (depth == 4)
			m.width /= 2;
		weather();
		if (plan(&m, depth) == 0)
			wrong += check(&m, depth);
	}
	if (wrong)
		return 1;
	return 0;
}
