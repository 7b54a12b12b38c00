// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the replay rests on, rule by rule, as docs/internals/replay.md has them: what the placement
 * leaves without a probe, and what the replay makes of the events that are left. (What a thread
 * runs in the kernel: test_trace_kernel_side.c. Gaps, landing pads, other stacks:
 * test_replay_landings.c. Entries that are told late: test_replay_late.c. Where handlers that no
 * table names are found: test_code_handler.c.)
 */
#include "rules_fixture.h"

static const enum plan_placement placements[] = {PLACEMENT_FULL, PLACEMENT_IMPLIED,
						 PLACEMENT_WITNESS};
static const unsigned events[] = {ALL, NO_RETURNS};

/* ---- calls are identified by their stack pointer at entry ---- */

static struct program recursive = {
	.f = {{.blocks = 3, .frame = 16, .code = {{.how = CALLS}, {.how = BRANCHES, .to = {2}}}}}};

static void test_stack_pointer(void)
{
	const uint64_t again = end_of(0, 0) + BIAS;

	begin(&recursive, PLACEMENT_FULL, ALL);
	in_call(TOP, BACK);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, again);
	run(0, 0, true, 0);
	in_call(TOP - 0x200, again);
	run(0, 0, true, 0);
	in_call(TOP, BACK);
	run(0, 1, false, 0);
	in_call(TOP - 0x100, again);
	run(0, 1, false, 0);
	run_ret(0, 2);
	in_call(TOP, BACK);
	run_ret(0, 2);
	end_replay(
		"E0 B0.0T .E0 .B0.0T ..E0 ..B0.0T B0.1N .B0.1N .B0.2T .R0 B0.2T R0",
		"calls are identified by their stack pointer: an event makes its call the current one");

	begin_replay(ALL);
	in_call(TOP, BACK);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, again);
	run(0, 0, true, 0);
	in_call(TOP, BACK);
	run(0, 1, false, 0);
	in_call(TOP - 0x100, OUTSIDE + BIAS + 0x100);
	run(0, 0, true, 0);
	is(trace__totals(t)->unmatched_returns, 1,
	   "calls are identified by their stack pointer: a new call in a dormant one's stack slot abandons it");
	end("E0 B0.0T .E0 .B0.0T B0.1N .E0 .B0.0T",
	    "calls are identified by their stack pointer: the new call in a used slot is another one");
}

/* ---- a goroutine is a thread ---- */

static void go_over(uint32_t tid, uint64_t goroutine)
{
	now.tid = tid;
	feed_event((struct event){.type = EVENT_GOROUTINE, .goroutine = goroutine}, NULL);
}

static void test_goroutines(void)
{
	static struct program p = {.f = {{.blocks = 1}, {.blocks = 2, .code = {{.how = CALLS}}}}};

	begin(&p, PLACEMENT_FULL, ALL);
	go_over(7, 20);
	in_call(TOP, BACK);
	run(1, 0, true, 0);
	go_over(7, 21);
	run(1, 0, true, 0);
	go_over(8, 20);
	run_ret(1, 1);
	now.tid = 7;
	run_ret(1, 1);
	end_replay(
		"E1 B1.0T E1 B1.0T B1.1T R1 B1.1T R1",
		"a goroutine is a thread: its calls are its own, and go with it to another thread");

	begin_replay(ALL);
	go_over(7, 20);
	in_call(TOP, BACK);
	run(1, 0, true, 0);
	go_over(8, 20); /* thread 7's own switch is still to come */
	now.tid = 7;
	in_call(TOP - 0x100, BACK);
	run(0, 0, true, BACK);
	end("E1 B1.0T E0 B0.0T R0",
	    "a goroutine is a thread: it runs on one thread at a time, the last that switched to it");

	begin(&p, PLACEMENT_WITNESS, NO_RETURNS);
	go_over(7, 20);
	in_call(TOP, BACK);
	run(0, 0, true, BACK);
	in_call(TOP, BACK);
	run(0, 0, true, BACK);
	go_over(8, 20);
	in_call(TOP, BACK);
	run(0, 0, true, BACK);
	end("E0 B0.0Ti E0 ? E0 ?",
	    "a goroutine is a thread: where it changed threads a signal may have ended its call");
}

/* ---- frontiers ---- */

static void test_frontiers(void)
{
	/* f0: both ways of the conditional have a call with an event */
	static struct program disjoint = {.f = {{.blocks = 4,
						 .code = {{.how = BRANCHES, .to = {2}},
							  {.how = CALLS, .callee = 1},
							  {.how = CALLS, .callee = 2}}},
						{.blocks = 1},
						{.blocks = 1}}};
	static struct program common = {.f = {{.blocks = 3,
					       .code = {{.how = BRANCHES, .to = {2}},
							{.how = FALLS, .room = 2},
							{.room = 2}}}}};
	/* one way leaves the plan by a jump that can't carry a probe */
	static struct program open_end = {
		.with = WITH_REFUSED,
		.f = {{.blocks = 4,
		       .code = {{.how = BRANCHES, .to = {2}},
				{.how = TAIL, .callee = OUT, .refused = true, .room = 2},
				{.how = CALLS, .callee = 1, .room = 2}}},
		      {.blocks = 1}}};
	static struct program cycle = {
		.f = {{.blocks = 3,
		       .code = {{.how = FALLS}, {.how = BRANCHES, .to = {1}, .room = 2}}}}};

	begin(&disjoint, PLACEMENT_WITNESS, ALL);
	ok(!is_probed(0, 0), "frontiers: a branch whose ways lead to different probes has none");
	run(0, 0, true, 0);
	in_call(TOP - 8, end_of(0, 2) + BIAS);
	run_ret(2, 0);
	in_call(TOP, BACK);
	run_ret(0, 3);
	end("E0 B0.0Ti B0.2Ti .E2 .B2.0T .R2 B0.3T R0",
	    "frontiers: the next event shows which way an unprobed branch went");

	begin(&common, PLACEMENT_WITNESS, ALL);
	ok(is_probed(0, 0), "frontiers: a branch keeps its probe where both ways lead to the same");
	drop();

	begin(&open_end, PLACEMENT_WITNESS, ALL);
	ok(is_probed(0, 0),
	   "frontiers: a branch keeps its probe where one way leaves the plan without an event");
	drop();

	begin(&cycle, PLACEMENT_WITNESS, ALL);
	ok(is_probed(0, 1), "frontiers: no unprobed cycle remains");
	run(0, 0, true, 0);
	run(0, 1, true, 0);
	run(0, 1, true, 0);
	run(0, 1, false, 0);
	run_ret(0, 2);
	end("E0 B0.1T B0.1T B0.1N B0.2T R0", "frontiers: each round of a loop is shown");
}

static void test_witnesses(void)
{
	static struct program p = {
		.with = WITH_REFUSED,
		.f = {{.blocks = 3,
		       .code = {{.how = BRANCHES, .to = {2}, .refused = true}, {.how = FALLS}}}}};

	for (unsigned i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(&p, placements[i], ALL);
		ok(has_witness(0, 1) && !has_witness(0, 2),
		   "frontiers: one way of a branch that can't carry a probe gets a witness, placement %u",
		   i);
		run(0, 0, false, 0);
		run(0, 1, false, 0);
		run_ret(0, 2);
		end_replay(
			"E0 B0.0Ni B0.2T R0",
			"frontiers: a witness that is hit shows which way control went, placement %u",
			i);
		begin_replay(ALL);
		run(0, 0, true, 0);
		run_ret(0, 2);
		end("E0 B0.0Ti B0.2T R0",
		    "frontiers: a witness that is not hit shows which way control went, placement %u",
		    i);
	}
}

/* ---- a call of untraced code keeps its probe ---- */

static void test_calls(void)
{
	static struct program p = {
		.f = {{.blocks = 3,
		       .code = {{.how = CALLS, .callee = OUT}, {.how = CALLS, .callee = 1}}},
		      {.blocks = 1}}};

	for (unsigned i = 0; i < ARRAY_SIZE(placements); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(events); k++) {
			begin(&p, placements[i], events[k]);
			ok(is_probed(0, 0),
			   "a call of untraced code keeps its probe, placement %u, events %u", i,
			   events[k]);
			is(is_probed(0, 1), placements[i] == PLACEMENT_FULL,
			   "a call of traced code needs none, placement %u, events %u", i,
			   events[k]);
			run(0, 0, true, 0);
			in_call(TOP - 0x40, BACK + 0x100);
			run_ret(1, 0);
			in_call(TOP, BACK);
			run(0, 1, true, 0);
			in_call(TOP - 8, end_of(0, 1) + BIAS);
			run_ret(1, 0);
			in_call(TOP, BACK);
			run_ret(0, 2);
			trace__finish(t);
			str__put(&got, "", 0);
			ok(!strncmp(got.data, "E0 B0.0T .E1 .B1.0T", 19),
			   "a call of untraced code precedes the calls that it makes: %s",
			   got.data);
			trace__free(t);
			plan__free(rules.plan);
		}
}

/* ---- a return address shows a call that had no event ---- */

static void test_unseen_caller(void)
{
	static struct program p = {
		.f = {{.blocks = 3,
		       .code = {{.how = CALLS, .callee = 1}, {.how = BRANCHES, .to = {0}}}},
		      {.blocks = 1}}};

	begin(&p, PLACEMENT_WITNESS, ALL);
	ok(!is_probed(0, 0), "a return address shows its caller: whose call has no event");
	in_call(TOP - 8, end_of(0, 0) + BIAS);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run(0, 1, true, 0);
	run(0, 0, true, 0);
	in_call(TOP - 8, end_of(0, 0) + BIAS);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run(0, 1, false, 0);
	run_ret(0, 2);
	is(trace__totals(t)->unmatched_returns, 1,
	   "a return address shows its caller: whose entry was not seen");
	end(".E1 .B1.0T .R1 B0.1Ti E0 B0.0Ti .E1 .B1.0T .R1 B0.1Ni B0.2T R0",
	    "a return address shows its caller: from there on its path is known");

	begin(&p, PLACEMENT_WITNESS, ALL);
	in_call(TOP - 8, end_of(0, 0) + BIAS);
	start(1, 0);
	in_call(TOP - 0x40, end_of(0, 0) + BIAS);
	run_ret(1, 0);
	in_call(TOP - 0x38, BACK);
	run_ret(0, 2);
	end(".E1 ...E1 ...B1.0T ...R1 ..B0.1Ni ..B0.2T ..R0 ?",
	    "a return address shows its caller: also one within another call");
}

/* ---- an entry without a probe ---- */

static void test_unprobed_entry(void)
{
	static struct program p = {.with = WITH_REFUSED,
				   .f = {{.blocks = 3,
					  .entry = ENTRY_REFUSED,
					  .code = {{.how = BRANCHES, .to = {2}}}}}};

	for (unsigned i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(&p, placements[i], ALL);
		ok(is_probed(0, 0) && plan__reports_entry(rules.plan, block_of(0, 0)->site),
		   "an entry without a probe: the branch of its block keeps its own, placement %u",
		   i);
		is(rules.plan->skipped, 1,
		   "an entry without a probe counts as skipped, placement %u", i);
		run(0, 0, true, 0);
		run_ret(0, 2);
		end("E0i B0.0T B0.2T R0",
		    "an entry without a probe: the branch of its block reports it, placement %u",
		    i);
	}
}

/* ---- a ret may be unprobed only if nothing else can end the call ---- */

static void test_unprobed_ret(void)
{
	static struct program p = {
		.f = {{.blocks = 1},
		      {.blocks = 2, .code = {{.how = CALLS, .callee = OUT}}},
		      {.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = JUMPS}}}}};

	begin(&p, PLACEMENT_WITNESS, ALL);
	ok(is_probed(0, 0), "a ret keeps its probe where returns are asked for");
	drop();

	begin(&p, PLACEMENT_WITNESS, NO_RETURNS);
	ok(!is_probed(0, 0), "a ret may be unprobed: nothing else can end the call");
	ok(is_probed(1, 1), "a ret keeps its probe behind a call of untraced code");
	ok(is_probed(2, 2), "a ret keeps its probe in a function that jumps to an entry");
	run_ret(0, 0);
	run_ret(0, 0);
	end_replay("E0 B0.0Ti E0 ?", "an unprobed ret is implied by an event outside of the call");

	begin_replay(NO_RETURNS);
	start(0, 0);
	feed_signal();
	in_call(TOP - 0x200, BACK);
	run_ret(0, 0);
	in_call(TOP, BACK);
	run_ret(0, 0);
	end("E0 .E0 .B0.0Ti ? E0 ?",
	    "an unprobed ret is not implied where a signal's handler ran since the last event");
}

/* ---- tail calls ---- */

static void test_kernel_tail(void)
{
	static struct program p = {
		.f = {{.blocks = 1, .code = {{.how = TAIL, .callee = OUT}}}, {.blocks = 1}}};
	static struct symbol symbols[] = {{.vaddr = CODE, .name = "f0"},
					  {.vaddr = CODE + BLOCKS * BLOCK_SIZE, .name = "f1"}};
	bool *ends;

	lay_out_rules(&p, ALL);
	rules.object.kind = OBJECT_KERNEL;
	rules.object.symbols.data = symbols;
	rules.object.symbols.len = ARRAY_SIZE(symbols);
	rules.plan->objects.data[0].kernel = true;
	place(&rules, PLACEMENT_FULL, ALL);
	ends = plan__ends_elsewhere(rules.plan);
	ok(ends[0], "a tail call of the kernel: its function gets a return probe");
	ok(!ends[1], "a function of the kernel that ends at its rets gets no return probe");
	free(ends);
	begin_replay(ALL);
	run(0, 0, true, 0);
	feed_return(0);
	end_replay("E0 B0.0T R0", "a tail call of the kernel returns where its return probe says");
	begin_replay(ALL);
	run_ret(1, 0);
	feed_return(1);
	end_replay("E1 B1.0T R1",
		   "what a ret recorded in the kernel, a return probe doesn't repeat");
	begin_replay(ALL);
	run(1, 0, true, BACK);
	start(1, 0);
	feed_return(1);
	end_replay("E1 B1.0T R1 E1",
		   "a return probe of the kernel ends no call but one that jumped");
	begin_replay(ALL);
	run(0, 0, true, 0);
	now.pending = true;
	run_ret(1, 0);
	now.pending = false;
	feed_return(0);
	end("E0 B0.0T .E1 .B1.0T .R1 R0",
	    "an entry that finds a return probe in the kernel was reached by a jump");
}

static void test_tail(void)
{
	static struct program p = {
		.with = WITH_TAILS | WITH_HELPER,
		.f = {{.blocks = 1, .code = {{.how = TAIL, .callee = 3}}},
		      {.blocks = 1, .code = {{.how = TAIL_POINTER, .callee = OUT}}},
		      {.blocks = 1, .code = {{.how = TAIL, .callee = OUT}}},
		      {.blocks = 1, .helper = true}}};

	begin(&p, PLACEMENT_WITNESS, ALL);
	ok(is_probed(0, 0), "a tail call keeps its probe where it leads to a helper function");
	ok(is_probed(2, 0), "a tail call keeps its probe where it leaves the plan");
	run(0, 0, true, 0);
	end_block_at(3, 0, TOP - 0x100, true, BACK);
	end_block_at(3, 0, TOP, true, BACK + 0x100);
	end_replay("E0 B0.0T",
		   "a tail call doesn't return at another stack pointer or to another address");
	begin_replay(ALL);
	run(0, 0, true, 0);
	end_block_at(3, 0, TOP, true, BACK);
	end_replay("E0 B0.0T R0", "a tail call returns where the helper that it jumped to returns");
	begin_replay(ALL);
	run(0, 0, true, 0);
	start(1, 0);
	end_replay("E0 B0.0T .E1",
		   "an entry with the tail call's stack pointer and return address was jumped to");
	begin_replay(ALL);
	run(0, 0, true, 0);
	in_call(TOP, BACK + 0x100);
	start(1, 0);
	end_replay(
		"E0 B0.0T E1",
		"an entry with the tail call's stack pointer, but another return address, was not");
	begin_replay(ALL);
	run(1, 0, true, OUTSIDE + BIAS);
	steps();
	is(trace__totals(t)->unseen_tail_returns, 1,
	   "a tail call by a pointer to unknown code is an unseen tail return");
	is(trace__totals(t)->unmatched_returns, 0,
	   "a tail call by a pointer to unknown code is no unmatched return");
	end("E1 B1.0T", "a tail call by a pointer to unknown code is not seen to return");
}

/* ---- a return probe's return ---- */

static void test_return_probe(void)
{
	static struct program p = {.f = {{.blocks = 1}, {.blocks = 1}}};
	struct {
		unsigned f;
		uint64_t sp, to;
		const char *want, *what;
	} tries[] = {
		{0, TOP, BACK, "E0 B0.0Ti R0",
		 "is the call's by stack pointer, function and address"},
		{0, TOP - 8, BACK, "E0 .R0", "is not the call's with another stack pointer"},
		{1, TOP, BACK, "E0 .R1", "is not the call's with another function"},
		{0, TOP, BACK + 8, "E0 .R0", "is not the call's with another return address"},
	};

	lay_out_rules(&p, ALL);
	rules.plan->return_probes = true;
	place(&rules, PLACEMENT_FULL, ALL);
	for (unsigned i = 0; i < ARRAY_SIZE(tries); i++) {
		begin_replay(ALL);
		run_ret(0, 0);
		in_call(tries[i].sp, tries[i].to);
		feed_return(tries[i].f);
		trace__finish(t);
		str__put(&got, "", 0);
		is_str(got.data, tries[i].want, "a return probe's return %s", tries[i].what);
		trace__free(t);
	}
	begin_replay(ALL);
	start(0, 0);
	now.pending = true;
	run_ret(1, 0);
	now.pending = false;
	feed_return(1);
	feed_return(0);
	end("E0 .E1 .B1.0Ti .R1 R0",
	    "a call that finds a return probe was entered by a jump: the one that jumped is to return");
}

/* ---- rets that a return probe's event implies ---- */

static void test_implied_rets(void)
{
	/* a conditional without probe leads to two rets */
	static struct program forked = {
		.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}, .refused = true}}}}};
	/* f0 jumps to f1, or returns */
	static struct program jumps = {.f = {{.blocks = 3,
					      .code = {{.how = BRANCHES, .to = {2}},
						       {.how = RETURNS},
						       {.how = TAIL, .callee = 1}}},
					     {.blocks = 1}}};
	/* f0, whose entry has no probe, ends at a ret of f1 */
	static struct program shared = {
		.f = {{.blocks = 1,
		       .entry = ENTRY_REFUSED,
		       .code = {{.how = SHARES, .callee = 1, .to = {1}}}},
		      {.blocks = 3,
		       .code = {
			       {.how = BRANCHES, .to = {2}}, {.how = RETURNS}, {.how = RETURNS}}}}};

	begin(&shared, PLACEMENT_FULL, ALL | BY_PROBE);
	ok(is_probed(1, 1) && !is_probed(1, 2),
	   "a ret at which a call without return probe may end keeps its probe");
	drop();

	begin(&forked, PLACEMENT_FULL, ALL | BY_PROBE);
	ok(has_witness(0, 1) + has_witness(0, 2) == 1 && !is_probed(0, 1) && !is_probed(0, 2),
	   "of two rets that no conditional tells apart one gets a witness");
	start(0, 0);
	start(0, has_witness(0, 1) ? 1 : 2);
	feed_return(0);
	end(has_witness(0, 1) ? "E0 B0.0Ni B0.1Ti R0" : "E0 B0.0Ti B0.2Ti R0",
	    "a witness tells which ret it was");

	lay_out_rules(&forked, ALL | BY_PROBE);
	branch_of(0, 1)->operand.disp = 8;
	place(&rules, PLACEMENT_FULL, ALL | BY_PROBE);
	ok(is_probed(0, 1), "a ret that pops arguments keeps its probe");
	plan__free(rules.plan);

	jumps.f[0].code[0].refused = true;
	begin(&jumps, PLACEMENT_IMPLIED, ALL | BY_PROBE);
	ok(!is_probed(0, 1) && !is_probed(0, 2), "neither the jump nor the ret has a probe");
	run(0, 0, true, 0);
	now.pending = true;
	start(1, 0);
	feed_return(1);
	feed_return(0);
	end_replay("E0 B0.0Ti B0.2Ti .E1 .B1.0Ti .R1 R0",
		   "an entry that finds the call's return probe was jumped to");
	begin_replay(ALL);
	run(0, 0, true, 0);
	start(1, 0);
	end("E0 ? E1", "an entry that finds none was not");

	jumps.f[0].code[0].refused = false;
	begin(&jumps, PLACEMENT_FULL, ALL | BY_PROBE);
	run(0, 0, false, 0);
	in_call(TOP, BACK);
	start(1, 0);
	feed_return(1);
	end_replay("E0 B0.0N E1 B1.0Ti R1", "a call that was left took no ret");
	begin_replay(ALL);
	end_block_at(0, 0, TOP, false, 0);
	in_call(TOP - 64, BACK);
	start(1, 0);
	feed_return(1);
	end("B0.0N E1 B1.0Ti R1 ?", "a call whose entry was not seen may have returned");
}

int main(void)
{
	test_stack_pointer();
	test_goroutines();
	test_frontiers();
	test_witnesses();
	test_calls();
	test_unseen_caller();
	test_unprobed_entry();
	test_unprobed_ret();
	test_kernel_tail();
	test_tail();
	test_return_probe();
	test_implied_rets();
	str__free(&got);
	return tap__done();
}
