// SPDX-License-Identifier: BSD-2-Clause
/* The log that copied functions write: branches, returns and entries. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "log_fixture.h"

static void test_kind(unsigned kind, const char *name, bool is_ret)
{
	for (unsigned state = 0; state < RING_STATES; state++) {
		unsigned bad = 0;

		for (unsigned i = 0; i < 2000; i++) {
			struct trial t;
			const char *what;

			prepare(&t, kind, i % 8);
			t.point.is_ret = is_ret;
			what = try(&t, state, 0);
			if (what && bad++ < 3)
				describe(&t, what);
		}
		is(bad, 0, "%s%s", name, state_names[state]);
	}
}

/* A tracer steps a thread through the log: that isn't recorded. */
static void test_stepped(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 200; i++) {
		struct trial t;
		const char *what;

		prepare(&t, LOG_ENTRY, i % 8);
		t.options.regs |= 1u << FLAGS_REG;
		t.stepped = true;
		what = try(&t, i % RING_STATES, 0);
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "single-stepped");
	ok(steps > 200 * 20, "%u steps", steps);
}

int main(void)
{
	init();
	test_kind(LOG_BRANCH, "branch", false);
	test_kind(LOG_RETURN, "return", false);
	test_kind(LOG_ENTRY, "entry", false);
	test_kind(LOG_ENTRY, "entry that is a ret", true);
	test_stepped();
	untimed = true;
	test_kind(LOG_RETURN, "return without a time", false);
	test_kind(LOG_ENTRY, "entry without a time", false);
	test_kind(LOG_ENTRY, "entry without a time that is a ret", true);
	return tap__done();
}
#endif
