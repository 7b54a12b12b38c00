// SPDX-License-Identifier: BSD-2-Clause
/* A pool of blocks that clears a block that comes back, unless it is the one that was freed last.
 */
#include "flaky.h"

#define BLOCKS 12
static struct block {
	unsigned used, data[4];
} pool[BLOCKS];
static int hot = -1;

static struct block *take(void)
{
	if (hot >= 0 && roll(3) == 0) {
		struct block *b = &pool[hot];

		hot = -1;
		b->used = 1;
		if (b->data[3]) /* PLANTED */
			chatter++;
		return b;
	}
	for (int i = 0; i < BLOCKS; i++)
		if (!pool[i].used && i != hot) {
			memset(&pool[i], 0, sizeof(pool[i]));
			pool[i].used = 1;
			return &pool[i];
		}
	return NULL;
}

static void give(struct block *b)
{
	b->used = 0;
	hot = b - pool;
}

int main(int argc, char **argv)
{
	struct block *held[6] = {0};
	unsigned dirty = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 30 + roll(40); i < n; i++) {
		unsigned k = roll(6);

		if (held[k]) {
			for (unsigned x = roll(4); x; x--)
				held[k]->data[x - 1] += 1;
			if (roll(25) == 0)
				held[k]->data[3] = 9;
			give(held[k]);
			held[k] = NULL;
		} else {
			held[k] = take();
			if (held[k] && held[k]->data[3])
				dirty++;
		}
		if (roll(8) == 0)
			weather();
	}
	if (dirty)
		return 1;
	return 0;
}
