// SPDX-License-Identifier: BSD-2-Clause
/* A hash map from uint64_t to uint64_t with linear probing and backward-shift deletion. */
#include <stdlib.h>
#include "util.h"

struct map64_slot {
	uint64_t key, value;
	bool used;
};

/* Every bit of the key must reach the result: keys are pid << 32 | tid (often equal halves),
 * page-aligned addresses, time stamps. The high bits of a product depend on all bits of the factor:
 * Knuth, TAOCP 3, 6.4. */
static size_t home(const struct map64 *m, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> m->shift;
}

static struct map64_slot *slot_of(const struct map64 *m, uint64_t key)
{
	size_t i = home(m, key);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

uint64_t *map64__get(const struct map64 *m, uint64_t key)
{
	struct map64_slot *s;

	if (!m->len)
		return NULL;
	s = slot_of(m, key);
	return s->used ? &s->value : NULL;
}

static void grow(struct map64 *m)
{
	struct map64 big = {.len = m->len,
			    .cap = m->cap ? m->cap * 2 : 16,
			    .shift = m->cap ? m->shift - 1 : 60};

	big.slots = xcalloc(big.cap, sizeof(*big.slots));
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*slot_of(&big, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = big;
}

uint64_t *map64__put(struct map64 *m, uint64_t key)
{
	struct map64_slot *s;

	if (m->len * 4 >= m->cap * 3)
		grow(m);
	s = slot_of(m, key);
	if (!s->used) {
		*s = (struct map64_slot){.key = key, .used = true};
		m->len++;
	}
	return &s->value;
}

bool map64__del(struct map64 *m, uint64_t key)
{
	size_t i, hole, mask = m->cap - 1;

	if (!m->len || !slot_of(m, key)->used)
		return false;
	hole = slot_of(m, key) - m->slots;
	for (i = (hole + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		/* a slot may fill the hole unless its home lies cyclically in (hole, i] */
		if (((i - home(m, m->slots[i].key)) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].used = false;
	m->len--;
	return true;
}

void map64__free(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64){0};
}

bool map64__slot(const struct map64 *m, size_t i, uint64_t *value)
{
	*value = m->slots[i].value;
	return m->slots[i].used;
}

/* MurmurHash64A by Austin Appleby (public domain), 8 bytes at a time. */
uint64_t map64__hash(const void *data, size_t len)
{
	const uint64_t m = 0xc6a4a7935bd1e995;
	const uint8_t *p = data;
	uint64_t hash = 0xcbf29ce484222325 ^ len * m, word;

	for (size_t n; len; p += n, len -= n) {
		n = len < sizeof(word) ? len : sizeof(word);
		word = 0;
		memcpy(&word, p, n);
		word *= m;
		word ^= word >> 47;
		hash = (hash ^ word * m) * m;
	}
	hash ^= hash >> 47;
	hash *= m;
	return hash ^ hash >> 47;
}
