// SPDX-License-Identifier: BSD-2-Clause
/*
 * Durations in buckets as in HdrHistogram: each power of two is divided into 2^HISTOGRAM_SUB equal
 * buckets, and smaller values have a bucket each. Only used buckets take memory.
 */
#include "stats.h"

#define SUB (1u << HISTOGRAM_SUB)

static unsigned high_bit(uint64_t v)
{
	return 63 - __builtin_clzll(v);
}

static unsigned bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < 2 * SUB)
		return v;
	shift = high_bit(v) - HISTOGRAM_SUB;
	return (shift + 1) * SUB + (unsigned)(v >> shift) - SUB;
}

/* The lowest value of a bucket. */
static uint64_t value_of(unsigned bucket)
{
	if (bucket < 2 * SUB)
		return bucket;
	return (uint64_t)(bucket % SUB + SUB) << (bucket / SUB - 1);
}

#define BUCKETS ((64 - HISTOGRAM_SUB + 1) * SUB)

void histogram__add(struct histogram *h, uint64_t value)
{
	++*map64__put(&h->buckets, bucket_of(value));
	h->min = h->n ? min_of(h->min, value) : value;
	h->max = max_of(h->max, value);
	h->n++;
	if (__builtin_add_overflow(h->sum, value, &h->sum))
		h->sum = UINT64_MAX;
}

uint64_t histogram__quantile(const struct histogram *h, unsigned permille)
{
	uint64_t rank = h->n / 1000 * permille + (h->n % 1000 * permille + 999) / 1000, below = 0;

	for (unsigned b = 0; b < BUCKETS && h->n; b++) {
		const uint64_t *count = map64__get(&h->buckets, b);

		below += count ? *count : 0;
		if (count && below >= rank)
			return max_of(h->min, value_of(b));
	}
	return h->max;
}

void histogram__log2(const struct histogram *h, uint64_t counts[64])
{
	memset(counts, 0, 64 * sizeof(*counts));
	for (unsigned b = 0; b < BUCKETS && h->n; b++) {
		const uint64_t *count = map64__get(&h->buckets, b);

		if (count)
			counts[value_of(b) ? high_bit(value_of(b)) : 0] += *count;
	}
}
