// SPDX-License-Identifier: BSD-2-Clause
/* A cache entry that was invalidated is used where it was the last one that was looked up. */
#include "flaky.h"

#define N 16
static struct entry {
	unsigned key, value, valid;
} entries[N];
static struct entry *last;
static unsigned truth[64];

static unsigned look_up(unsigned key)
{
	struct entry *e = &entries[key % N];

	if (last && last->key == key) {
		if (!last->valid) /* PLANTED */
			chatter++;
		return last->value;
	}
	if (!e->valid || e->key != key) {
		e->key = key;
		e->value = truth[key];
		e->valid = 1;
	}
	last = e;
	return e->value;
}

static void store(unsigned key, unsigned value)
{
	truth[key] = value;
	if (entries[key % N].key == key)
		entries[key % N].valid = 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	seed(argc, argv);
	for (unsigned i = 0; i < 64; i++)
		truth[i] = roll(100);
	look_up(1);
	for (unsigned i = 0, n = 30 + roll(40); i < n; i++) {
		unsigned key = roll(20);

		if (roll(3) == 0)
			store(key, truth[key] + 1);
		else if (look_up(key) != truth[key])
			status = 1;
		if (roll(9) == 0)
			weather();
	}
	return status;
}
