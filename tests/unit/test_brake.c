// SPDX-License-Identifier: BSD-2-Clause
/* --max-overhead: the share of the CPU time that tracing took, process by process, and when it is
 * too much. */
#include "session/overhead_limit.h"
#include "tap.h"

#define MS 1000000ull

static void test_percent(void)
{
	is(overhead_limit__percent(50 * MS, 200 * MS), 25, "a quarter is 25 percent");
	is(overhead_limit__percent(0, 200 * MS), 0, "nothing is 0 percent");
	is(overhead_limit__percent(300 * MS, 200 * MS), 100, "more than all is 100 percent");
	is(overhead_limit__percent(5, 0), 0, "of no time it is 0 percent");
}

static void test_verdicts(void)
{
	struct overhead_limit b = {.most = 20};

	ok(!overhead_limit__judge(&b, 50 * MS, 200 * MS),
	   "one verdict above the limit isn't enough");
	ok(!overhead_limit__judge(&b, 40 * MS, 200 * MS), "the limit itself is not above it");
	ok(!overhead_limit__judge(&b, 60 * MS, 200 * MS), "after that it takes two again");
	ok(overhead_limit__judge(&b, 50 * MS, 200 * MS), "two in a row end the trace");
	is(b.percent, 25, "the last one is told");
}

static void look(struct overhead_limit *b, uint32_t pid, uint64_t cpu, uint64_t tracing,
		 uint64_t sums[2])
{
	overhead_limit__look(b, (struct overhead_look){.pid = pid, .cpu = cpu, .tracing = tracing},
			     &sums[0], &sums[1]);
}

static void test_processes(void)
{
	struct overhead_limit b = {.most = 20};
	uint64_t sums[2] = {0};

	look(&b, 7, 500 * MS, 100 * MS, sums);
	ok(!sums[0] && !sums[1], "what a process did before the first look doesn't count");
	look(&b, 7, 600 * MS, 130 * MS, sums);
	ok(sums[0] == 30 * MS && sums[1] == 100 * MS, "what it did since then does");
	look(&b, 8, 900 * MS, 1 * MS, sums);
	look(&b, 8, 950 * MS, 2 * MS, sums);
	ok(sums[0] == 31 * MS && sums[1] == 150 * MS, "that of all processes is added up");
	look(&b, 7, 0, 200 * MS, sums);
	ok(sums[0] == 31 * MS && sums[1] == 150 * MS, "one that has ended counts on neither side");
	look(&b, 8, 10 * MS, 3 * MS, sums);
	ok(sums[0] == 31 * MS && sums[1] == 150 * MS,
	   "nor does another process with the same PID, at first");
	overhead_limit__free(&b);
}

int main(void)
{
	test_percent();
	test_verdicts();
	test_processes();
	return tap__done();
}
