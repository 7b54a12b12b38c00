// SPDX-License-Identifier: BSD-2-Clause
/* What a hit takes beyond its price: a call's net time is not told from it. */
#include "rules_fixture.h"

#define PRICE 5000 /* ns a hit */

static struct program leaf = {
	.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = BRANCHES, .to = {2}}}}}};

/* So long after the hit before. */
static void after(uint64_t ns, unsigned block)
{
	now.time += ns - 10;
	if (block == 2)
		run_ret(0, 2);
	else
		run(0, block, false, 0);
}

/* first: the time from the first branch to the second one; second: from there to the ret. */
static void call_for(uint64_t first, uint64_t second)
{
	now.time += PRICE - 10;
	start(0, 0);
	now.time += PRICE - 10;
	end_block_at(0, 0, now.sp, false, 0);
	after(first, 1);
	after(second, 2);
}

static void call(uint64_t first)
{
	call_for(first, PRICE);
}

static void begin_priced(void)
{
	struct plan_site *s;

	begin(&leaf, PLACEMENT_FULL, ALL);
	for (unsigned b = 0; b < 3; b++)
		block_of(0, b)->quick = 3;
	vec__each (s, &rules.plan->sites)
		s->traps = 1;
	now.time = 1000000;
	for (unsigned i = 0; i < 40; i++)
		call(PRICE);
}

static bool has(uint64_t duration, uint64_t tracing, uint64_t noise)
{
	printf("# duration %llu, tracing %llu, noise %llu\n", (unsigned long long)returned.duration,
	       (unsigned long long)returned.tracing, (unsigned long long)returned.noise);
	return returned.has_tracing && returned.duration == duration &&
	       returned.tracing == tracing && returned.noise == noise;
}

int main(void)
{
	uint64_t net;

	begin_priced();
	ok(has(3 * PRICE, 3 * PRICE, 0), "a call of quick code alone is tracing");
	call(PRICE + 4000000);
	ok(has(3 * PRICE + 4000000, 3 * PRICE, 4000000),
	   "what is between two of its hits beyond their price is noise");
	is(step__net(&returned, &net), NET_NOISE, "so the call's net time is below the noise");
	call(PRICE);
	ok(has(3 * PRICE, 3 * PRICE, 0), "and the next call has none of it");
	call(1000);
	ok(has(2 * PRICE + 1000, 2 * PRICE + 1000, 0), "a hit is charged no more than it took");
	block_of(0, 2)->quick = 0;
	call_for(1000, PRICE + 50000);
	ok(has(2 * PRICE + 51000, 2 * PRICE + 1000, 0),
	   "also where the call waits behind another one");
	block_of(0, 1)->quick = 0;
	call(PRICE + 4000000);
	is(step__net(&returned, &net), NET_KNOWN,
	   "behind code that may wait it is the call's own time");
	is(net, 4000000, "all of it");
	drop();
	return tap__done();
}
