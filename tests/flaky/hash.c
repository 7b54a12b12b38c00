// SPDX-License-Identifier: BSD-2-Clause
/* A hash table that takes two keys of one hash for one key. */
#include "flaky.h"

#define SLOTS 4096
static struct slot {
	uint32_t hash, value;
	char key[12];
} slots[SLOTS];
static unsigned used;

static uint32_t hash_of(const char *s)
{
	uint32_t h = 5381;

	for (; *s; s++)
		h = h * 33 ^ (uint8_t)*s;
	return h % 49999;
}

static struct slot *find(const char *key)
{
	uint32_t h = hash_of(key), i = h % SLOTS;

	while (slots[i].key[0]) {
		if (slots[i].hash == h) {
			if (strcmp(slots[i].key, key) != 0) /* PLANTED */
				slots[i].value += 1000;
			return &slots[i];
		}
		i = (i + 1) % SLOTS;
	}
	slots[i].hash = h;
	strcpy(slots[i].key, key);
	used++;
	return &slots[i];
}

int main(int argc, char **argv)
{
	unsigned n, sum = 0;

	seed(argc, argv);
	n = 100 + roll(120);
	for (unsigned i = 0; i < n; i++) {
		char key[12];

		snprintf(key, sizeof(key), "k%u", roll(4) ? roll(1000000) : roll(20));
		if (i % 16 == 0)
			weather();
		find(key)->value++;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].key[0])
			sum += slots[i].value;
	if (sum != n) {
		printf("%u of %u keys, %u slots\n", sum, n, used);
		return 1;
	}
	return 0;
}
