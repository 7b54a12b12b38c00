// SPDX-License-Identifier: BSD-2-Clause
/* Entries that are told behind their first instruction: what the replay makes of signals that find
 * a thread in between. See test_replay_rules.c. */
#include "rules_fixture.h"

#define LATE 3 /* bytes behind the first instruction of f1 */

/* A signal finds the thread of the call that runs at this address, behind the start of f's entry
 * block. */
static void feed_signal_at(unsigned f, unsigned behind, bool fault, bool unhandled)
{
	feed_event((struct event){.type = EVENT_SIGNAL,
				  .sp = now.sp,
				  .has_target = true,
				  .target = block_of(f, 0)->start + behind + BIAS,
				  .has_value = true,
				  .value = now.caller,
				  .fault = fault,
				  .unhandled = unhandled},
		   NULL);
}

static void begin_late(struct program *p, enum plan_placement placement)
{
	struct plan_site *s;

	begin(p, placement, ALL);
	rules.plan->late_entries = true;
	s = &rules.plan->sites.data[rules.plan->functions.data[1].entry_site];
	s->probe_at = LATE;
}

/* f1 lowers the stack pointer by 16 before its entry is told, in an instruction of two bytes; a
 * signal finds the thread behind it. */
static void feed_signal_lowered(unsigned behind, const uint64_t above[2], unsigned nabove)
{
	feed_event((struct event){.type = EVENT_SIGNAL,
				  .sp = now.sp - 16,
				  .has_target = true,
				  .target = block_of(1, 0)->start + behind + BIAS,
				  .has_value = true,
				  .value = 0xbad,
				  .above = above,
				  .nabove = nabove},
		   NULL);
}

static void begin_lowered(struct program *p)
{
	struct plan_site *s;

	begin_late(p, PLACEMENT_FULL);
	s = &rules.plan->sites.data[rules.plan->functions.data[1].entry_site];
	s->lowered = 16;
	s->lowered_at = 2;
}

static void test_lowered(struct program *p, uint64_t back)
{
	const uint64_t above[2] = {0xbad, back};

	begin_lowered(p);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, back);
	feed_signal_at(1, 1, false, false);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run_ret(0, 1);
	end("E0 B0.0T .E1i .B1.0T .R1 B0.1T R0", "in front of what lowers the stack pointer");

	begin_lowered(p);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, back);
	feed_signal_lowered(2, above, 2);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run_ret(0, 1);
	end("E0 B0.0T .E1i .B1.0T .R1 B0.1T R0", "behind it, with the return address above");

	begin_lowered(p);
	in_call(TOP - 0x100, back);
	feed_signal_lowered(2, above, 2);
	in_call(TOP - 0x100, back + 0x80);
	run_ret(1, 0);
	end_replay("E1i E1 B1.0T R1", "behind it: with another return address it is another call");
	begin_replay(ALL);
	in_call(TOP - 0x100, back);
	feed_signal_lowered(2, above, 1);
	in_call(TOP - 0x100, back + 0x80);
	run_ret(1, 0);
	end("E1i ? B1.0T R1", "behind it: the return address was not recorded");
}

static void test_first_faults(struct program *p, uint64_t back)
{
	begin_late(p, PLACEMENT_FULL);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, back);
	feed_signal_at(1, 0, true, false);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run_ret(0, 1);
	end_replay("E0 B0.0T .E1i .B1.0T .R1 B0.1T R0", "the first instruction faults");
	begin_replay(ALL);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, back);
	feed_signal_at(1, 0, false, false);
	feed_signal_at(1, 0, true, true);
	end_replay("E0 B0.0T", "the frame of another signal's handler does not fit");
	begin_replay(ALL);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, back);
	feed_signal_at(1, 0, false, false);
	in_call(TOP - 0x400, BACK + 0x40);
	run_ret(2, 0);
	in_call(TOP - 0x100, back);
	feed_signal_at(1, 0, true, true);
	end("E0 B0.0T .E2 .B2.0T .R2 .E1i",
	    "its handler ran, and then the first instruction faults");
}

static void test_late_entry(void)
{
	static struct program p = {.f = {{.blocks = 2, .code = {{.how = CALLS, .callee = 1}}},
					 {.blocks = 1},
					 {.blocks = 1}}};
	const uint64_t back = end_of(0, 0) + BIAS;
	unsigned i;

	static const struct {
		unsigned behind;
		bool fault;
		const char *want, *what;
	} places[] = {
		{0, false, "E0 B0.0T .E2 .B2.0T .R2 .E1 .B1.0T .R1 B0.1T R0",
		 "at the first instruction: not entered yet"},
		{1, false, "E0 B0.0T .E1i ..E2 ..B2.0T ..R2 .B1.0T .R1 B0.1T R0",
		 "behind the first instruction"},
		{3, false, "E0 B0.0T .E1i ..E2 ..B2.0T ..R2 .B1.0T .R1 B0.1T R0",
		 "in front of the probe"},
		{3, true, "E0 B0.0T .E2 .B2.0T .R2 .E1 .B1.0T .R1 B0.1T R0",
		 "by the probe's instruction"},
		{4, false, "E0 B0.0T .E2 .B2.0T .R2 .E1 .B1.0T .R1 B0.1T R0", "behind the probe"},
	};
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		begin_late(&p, PLACEMENT_FULL);
		run(0, 0, true, 0);
		in_call(TOP - 0x100, back);
		feed_signal_at(1, places[i].behind, places[i].fault, false);
		in_call(TOP - 0x400, BACK + 0x40);
		run_ret(2, 0);
		in_call(TOP - 0x100, back);
		run_ret(1, 0);
		in_call(TOP, BACK);
		run_ret(0, 1);
		end(places[i].want, "a signal %s", places[i].what);
	}

	begin_late(&p, PLACEMENT_FULL);
	in_call(TOP - 0x100, BACK);
	feed_signal_at(1, 2, false, false);
	run_ret(1, 0);
	end_replay("E1i ? B1.0T R1", "a handler may have left a call of code that isn't traced");
	begin_replay(ALL);
	in_call(TOP - 0x100, BACK);
	feed_signal_at(1, 2, false, true);
	run_ret(1, 0);
	end_replay("E1i B1.0T R1", "where no handler ran it is the same call");
	begin_replay(ALL);
	in_call(TOP - 0x100, BACK);
	feed_signal_at(1, 2, false, false);
	in_call(TOP - 0x100, BACK + 0x80);
	run_ret(1, 0);
	end_replay("E1i E1 B1.0T R1", "with another return address it is another call");
	begin_replay(ALL);
	in_call(TOP - 0x100, BACK);
	feed_signal_at(1, 2, false, true);
	is(trace__totals(t)->unmatched_returns, 0, "no return is missing");
	end_replay("E1i", "a call that is killed there was entered, and did nothing else");
	begin_replay(ALL);
	rules.plan->late_entries = false;
	in_call(TOP - 0x100, BACK);
	feed_signal_at(1, 2, false, true);
	end("", "where no entry is late, a signal enters nothing");

	begin_late(&p, PLACEMENT_IMPLIED);
	start(0, 0);
	in_call(TOP - 8, back);
	feed_signal_at(1, 2, false, true);
	end("E0 B0.0Ti .E1i", "the unprobed call that led to a late entry is implied");
	test_lowered(&p, back);
	test_first_faults(&p, back);
}

int main(void)
{
	test_late_entry();
	str__free(&got);
	return tap__done();
}
