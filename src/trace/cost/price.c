// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hit costs. The price varies with the machine and its load, so samples are taken all the
 * time: a batch gives the price until the next one is full. The first batches are small. Later,
 * three times as many samples are left out as a batch has, since sorting takes time. The price
 * depends on the samples alone, so a recorded trace gets the prices of the live one.
 */
#include <stdlib.h>
#include "price.h"

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void end_batch(struct kind_price *k)
{
	qsort(k->ns, k->n, sizeof(*k->ns), ascending);
	k->price.usual = k->ns[k->n / 2];
	k->price.high = max_of((uint64_t)k->ns[k->n * 9 / 10], k->sum / k->samples);
	k->known = true;
	k->skip = 3 * k->n;
	k->size = min_of(2 * k->n, BATCH_MAX + 0u);
	k->n = 0;
}

void prices__bound(struct prices *p, enum hit_kind kind, uint64_t ns)
{
	struct kind_price *k = &p->of[kind];

	k->least = k->least ? min_of(k->least, ns) : ns;
}

void prices__sample(struct prices *p, enum hit_kind kind, uint64_t ns)
{
	struct kind_price *k = &p->of[kind];

	ns = min_of(ns, (uint64_t)UINT32_MAX);
	k->sum += ns;
	k->samples++;
	if (k->skip) {
		k->skip--;
		return;
	}
	k->size = k->size ? k->size : BATCH_FIRST;
	k->ns[k->n++] = ns;
	if (k->n == k->size)
		end_batch(k);
}

static const struct price *known(const struct prices *p, enum hit_kind kind)
{
	if (kind < HIT_KINDS && !p->of[kind].known && !p->apart)
		kind = hit_kind__sibling(kind);
	return kind < HIT_KINDS && p->of[kind].known ? &p->of[kind].price : NULL;
}

bool prices__of(const struct prices *p, enum hit_kind kind, struct price *out)
{
	const struct price *own = known(p, kind);
	const struct price *dearer = own ? NULL : known(p, hit_kind__dearer(kind));

	if (own)
		*out = *own;
	else if (dearer)
		*out = (struct price){.usual = dearer->usual / 2, .high = dearer->high};
	return own || dearer;
}
