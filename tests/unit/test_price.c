// SPDX-License-Identifier: BSD-2-Clause
/* The price of a hit: batches of samples, and kinds that stand in for each other. */
#include "trace/cost/price.h"
#include "tap.h"

static void sample(struct prices *p, enum hit_kind kind, unsigned n, uint64_t ns)
{
	while (n--)
		prices__sample(p, kind, ns);
}

static uint64_t high(const struct prices *p, enum hit_kind kind)
{
	struct price price;

	return prices__of(p, kind, &price) ? price.high : 0;
}

static uint64_t usual(const struct prices *p, enum hit_kind kind)
{
	struct price price;

	return prices__of(p, kind, &price) ? price.usual : 0;
}

static void test_batches(void)
{
	struct prices p = {0};

	sample(&p, HIT_ONE_TRAP, 7, 500);
	ok(!usual(&p, HIT_ONE_TRAP), "seven samples give no price");
	sample(&p, HIT_ONE_TRAP, 1, 90000);
	is(usual(&p, HIT_ONE_TRAP), 500, "of eight samples the median is the price");
	is(high(&p, HIT_ONE_TRAP), 90000, "nine in ten of them don't exceed the upper bound");
	sample(&p, HIT_ONE_TRAP, 24, 1);
	sample(&p, HIT_ONE_TRAP, 15, 800);
	is(usual(&p, HIT_ONE_TRAP), 500, "24 samples are left out, and then 15 give no new price");
	sample(&p, HIT_ONE_TRAP, 1, 800);
	is(usual(&p, HIT_ONE_TRAP), 800, "after 16 the price follows the load");
	sample(&p, HIT_ONE_TRAP, 48, 1);
	sample(&p, HIT_ONE_TRAP, 32, 900);
	sample(&p, HIT_ONE_TRAP, 96, 1);
	sample(&p, HIT_ONE_TRAP, 64, 1000);
	is(usual(&p, HIT_ONE_TRAP), 1000, "the next batches have 32 and 64");
	sample(&p, HIT_ONE_TRAP, 192, 1);
	sample(&p, HIT_ONE_TRAP, 57, 100);
	sample(&p, HIT_ONE_TRAP, 7, 300);
	is(usual(&p, HIT_ONE_TRAP), 100, "and so have those behind them");
	sample(&p, HIT_TWO_TRAPS, 8, UINT64_MAX);
	is(usual(&p, HIT_TWO_TRAPS), UINT32_MAX, "a sample of hours is limited");
}

static void test_rare(void)
{
	struct prices p = {0};

	sample(&p, HIT_ONE_TRAP, 7, 100);
	sample(&p, HIT_ONE_TRAP, 1, 300);
	ok(usual(&p, HIT_ONE_TRAP) == 100 && high(&p, HIT_ONE_TRAP) == 300,
	   "the upper bound is what nine in ten don't exceed");
	sample(&p, HIT_ONE_TRAP, 24, 100);
	sample(&p, HIT_ONE_TRAP, 1, 47400);
	sample(&p, HIT_ONE_TRAP, 15, 100);
	is(high(&p, HIT_ONE_TRAP), (46 * 100 + 47400 + 300) / 48,
	   "but at least the mean of all samples");
	is(usual(&p, HIT_ONE_TRAP), 100, "the price is still the median");
}

static void test_siblings(void)
{
	static const enum hit_kind pairs[][2] = {{HIT_ONE_TRAP, HIT_ENTRY_ONE},
						 {HIT_TWO_TRAPS, HIT_ENTRY_TWO},
						 {HIT_KERNEL, HIT_KERNEL_ENTRY}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		enum hit_kind a = pairs[i][0], b = pairs[i][1];
		struct prices p = {0};

		sample(&p, a, 8, 500);
		is(usual(&p, b), 500, "pair %zu: one stands in for the other", i);
		sample(&p, b, 8, 600);
		is(usual(&p, b), 600, "pair %zu: until that has a price of its own", i);
		for (unsigned k = 0; k <= HIT_KINDS; k++)
			if (k != a && k != b && hit_kind__dearer(k) != a &&
			    hit_kind__dearer(k) != b)
				ok(!usual(&p, k), "pair %zu: none for kind %u", i, k);
		p.of[b].known = false;
		p.apart = true;
		ok(!usual(&p, b), "pair %zu: kept apart, it does not", i);
	}
}

static void test_dearer(void)
{
	struct prices p = {0};

	sample(&p, HIT_TWO_TRAPS, 7, 8000);
	sample(&p, HIT_TWO_TRAPS, 1, 9000);
	ok(usual(&p, HIT_ONE_TRAP) == 4000 && high(&p, HIT_ONE_TRAP) == 9000,
	   "a hit of one trap takes at most as long as one of two");
	is(usual(&p, HIT_ENTRY_ONE), 4000, "so does an entry of one trap");
	ok(!usual(&p, HIT_RETURN) && !usual(&p, HIT_KERNEL), "and nothing else");
	p.apart = true;
	ok(usual(&p, HIT_ONE_TRAP) == 4000 && !usual(&p, HIT_ENTRY_ONE),
	   "of kinds that are kept apart only the own one counts");
	sample(&p, HIT_ENTRY_ONE, 8, 500);
	p.apart = false;
	is(usual(&p, HIT_ONE_TRAP), 500, "a sibling's price is better");
}

static void test_alone(void)
{
	struct prices p = {0};

	sample(&p, HIT_RETURN, 8, 300);
	sample(&p, HIT_KERNEL_RETURN, 8, 400);
	is(usual(&p, HIT_RETURN), 300, "a return probe has a price of its own");
	is(usual(&p, HIT_KERNEL_RETURN), 400, "so has one in the kernel");
}

int main(void)
{
	test_batches();
	test_rare();
	test_siblings();
	test_dearer();
	test_alone();
	return tap__done();
}
