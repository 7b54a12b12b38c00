// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the replay rests on where control comes from nowhere that the graph knows: gaps, landing
 * pads, calls that return twice, and a stack pointer that is loaded. See test_replay_rules.c.
 */
#include "rules_fixture.h"

/* ---- gaps ---- */

/* The last two blocks' bytes are not decoded. */
static void make_gap(unsigned f)
{
	rules.range[f].size = BLOCKS * BLOCK_SIZE;
	vec__push(&rules.plan->gaps,
		  (struct plan_gap){.start = start_of(f, BLOCKS - 2), .end = start_of(f, BLOCKS)});
	rules.plan->functions.data[f].unreached = 2 * BLOCK_SIZE;
}

static void test_gaps(void)
{
	static struct program p = {
		.f = {{.blocks = 5,
		       .frame = 16,
		       .code = {{.how = CALLS, .callee = OUT},
				{.how = SWITCHES, .to = {2}, .nto = 2, .incomplete = true},
				{.how = RETURNS},
				{.how = BRANCHES, .to = {2}, .pad = true},
				{.how = RETURNS}}},
		      {.blocks = 1}}};
	const uint64_t gap = start_of(0, BLOCKS - 2) + BIAS + 4;

	lay_out_rules(&p, ALL);
	make_gap(0);
	place(&rules, PLACEMENT_FULL, ALL);

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 1, true, gap);
	run_ret(0, 4);
	end_replay("E0 B0.0T B0.1T ? B0.4T R0", "a gap: unknown where a jump leads into it");

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 1, true, gap);
	end_replay("E0 B0.0T B0.1T ?", "a gap: unknown where a jump leads into it for good");

	begin_replay(ALL);
	run(0, 0, true, 0);
	in_call(TOP - 0x100, gap);
	start(1, 0);
	end_replay("E0 B0.0T ? .E1", "a gap: unknown where a call comes from it");

	begin_replay(ALL);
	in_call(TOP - 0x100, gap);
	run(1, 0, true, gap);
	end_replay("E1 B1.0T R1 ?", "a gap: unknown where a ret leads into it");

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 1, true, start_of(0, 2) + BIAS);
	run_ret(0, 4);
	end_replay("E0 B0.0T B0.1T ? B0.4T R0",
		   "a gap: unknown where nothing but it can have led to an event");

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 1, true, gap);
	in_call(TOP - 0x100, gap);
	start(1, 0);
	end_replay("E0 B0.0T B0.1T ? .E1",
		   "a gap: unknown once, until there is an event behind it");

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 1, true, start_of(0, 2) + BIAS);
	run(0, 3, false, 0);
	run_ret(0, 4);
	end_replay("E0 B0.0T B0.1T B0.3N B0.4T R0",
		   "a gap: what a landing pad leads to did not come out of it");

	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 3, false, 0);
	run_ret(0, 4);
	end("E0 B0.0T B0.3N B0.4T R0",
	    "a gap: a landing pad behind the call that was last heard of hides nothing");
}

/* Out of a gap into code where some branches have no probe: they are implied, or covered by an
 * unknown of their own. */
static void test_behind_gaps(void)
{
	static struct program p = {
		.f = {{.blocks = 5,
		       .frame = 16,
		       .code = {{.how = SWITCHES, .to = {1}, .nto = 2, .incomplete = true},
				{.how = CALLS, .callee = 1},
				{.how = BRANCHES, .to = {4}},
				{.how = RETURNS},
				{.how = RETURNS}}},
		      {.blocks = 1}}};
	const uint64_t gap = start_of(0, BLOCKS - 2) + BIAS + 4;

	lay_out_rules(&p, ALL);
	make_gap(0);
	place(&rules, PLACEMENT_WITNESS, ALL);
	ok(!is_probed(0, 1) && !is_probed(0, 2), "a call and a branch without probes");

	begin_replay(ALL);
	run(0, 0, true, gap);
	in_call(TOP - 24, end_of(0, 1) + BIAS);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end_replay("E0 B0.0T ? B0.1Ti .E1 .B1.0T .R1 B0.2Ni B0.3T R0",
		   "behind a gap: the return address tells where its call is again");

	begin_replay(ALL);
	run(0, 0, true, gap);
	in_call(TOP - 0x100, BACK + 0x40);
	run_ret(1, 0);
	in_call(TOP, BACK);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end_replay("E0 B0.0T ? .E1 .B1.0T .R1 ? B0.3T R0",
		   "behind a gap: unknown again once a call from elsewhere has returned");

	begin_replay(ALL);
	run(0, 0, true, gap);
	in_call(TOP - 0x100, BACK + 0x40);
	start(1, 0);
	in_call(TOP, BACK);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end("E0 B0.0T ? .E1 ? B0.3T R0", "behind a gap: unknown again once a call was left");
}

/* A callee comes back to its entry by code that was not decoded: its caller, which loops, has not
 * called it again, or its own probes would tell. */
static void test_back_by_gap(void)
{
	static struct program p = {
		.f = {{.blocks = 3,
		       .code = {{.how = CALLS, .callee = 1},
				{.how = BRANCHES, .to = {0}},
				{.how = RETURNS}}},
		      {.blocks = 2,
		       .code = {{.how = SWITCHES, .to = {1}, .nto = 2, .incomplete = true},
				{.how = RETURNS}}}}};

	lay_out_rules(&p, ALL);
	make_gap(1);
	place(&rules, PLACEMENT_WITNESS, ALL);
	ok(!is_probed(0, 0) && !is_probed(0, 1), "a call in a loop without probes");

	begin_replay(ALL);
	run(0, 0, true, 0);
	in_call(TOP - 8, end_of(0, 0) + BIAS);
	run(1, 0, true, start_of(1, BLOCKS - 2) + BIAS + 4);
	run(1, 0, true, start_of(1, 1) + BIAS);
	run_ret(1, 1);
	in_call(TOP, BACK);
	run(0, 1, false, 0);
	run_ret(0, 2);
	end("E0 B0.0Ti .E1 .B1.0T .? .E1 .B1.0T .B1.1T .R1 B0.1Ni B0.2T R0",
	    "back by a gap: the caller's branches are not implied");
}

/* ---- landing pads and calls that return twice ---- */

static void test_landings(void)
{
	static struct program pads = {.f = {{.blocks = 4,
					     .code = {{.how = CALLS, .callee = OUT},
						      {.how = RETURNS},
						      {.how = BRANCHES, .to = {1}, .pad = true},
						      {.how = RETURNS}}}}};
	static struct program twice = {.f = {{.blocks = 4,
					      .code = {{.how = CALLS, .callee = OUT},
						       {.how = BRANCHES, .to = {3}},
						       {.how = CALLS, .callee = OUT}}}}};
	static struct symbol setjmp_symbol = {.size = BLOCK_SIZE, .name = "_setjmp"};

	for (unsigned i = PLACEMENT_IMPLIED; i <= PLACEMENT_WITNESS; i++) {
		pads.f[0].code[2].room = 0;
		begin(&pads, i, ALL);
		ok(has_witness(0, 2), "a landing pad has a probe of its own, placement %u", i);
		drop();
		pads.f[0].code[2].room = 2;
		begin(&pads, i, ALL);
		ok(is_probed(0, 2),
		   "a landing pad without room for a probe: its branch keeps its own, placement %u",
		   i);
		drop();
		lay_out_rules(&twice, ALL);
		/* code that is in no plan, but in the object */
		branch_of(0, 0)->target = setjmp_symbol.vaddr = start_of(FUNCTIONS - 1, 0);
		rules.object.symbols.data = &setjmp_symbol;
		rules.object.symbols.len = 1;
		place(&rules, i, ALL);
		ok(has_witness(0, 1),
		   "where a call returns twice there is a probe of its own, placement %u", i);
		begin_replay(ALL);
		run(0, 0, true, 0);
		run(0, 1, false, 0);
		run(0, 2, true, 0);
		run(0, 1, true, 0);
		run_ret(0, 3);
		end(i == PLACEMENT_WITNESS ? "E0 B0.0T B0.1Ni B0.2T ? B0.1Ti B0.3T R0"
					   : "E0 B0.0T B0.1N B0.2T B0.1T B0.3T R0",
		    "what follows a second return is shown as what follows the first is, placement %u",
		    i);
	}
	pads.f[0].code[2].room = 0;
	begin(&pads, PLACEMENT_WITNESS, ALL);
	run(0, 0, true, 0);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end_replay("E0 B0.0T B0.2Ni B0.3T R0",
		   "a landing pad behind its caller's last event hides nothing");
	begin_replay(ALL);
	start(0, 0);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end_replay("E0 ? B0.2Ni B0.3T R0", "a landing pad behind no call may hide what led to one");
	begin_replay(ALL);
	run(0, 0, true, 0);
	feed_signal();
	run(0, 2, false, 0);
	run_ret(0, 3);
	end("E0 B0.0T ? B0.2Ni B0.3T R0",
	    "a landing pad behind a signal's handler may hide what the handler left");

	lay_out_rules(&pads, ALL);
	block_of(0, 2)->abnormal = ABNORMAL_RESUMED;
	place(&rules, PLACEMENT_WITNESS, ALL);
	begin_replay(ALL);
	run(0, 0, true, 0);
	run(0, 2, false, 0);
	run_ret(0, 3);
	end("E0 B0.0T ? B0.2Ni B0.3T R0",
	    "a block that is resumed at, and is no landing pad, may hide what led to it");
}

/* ---- a branch behind a load of the stack pointer ---- */

static void test_switched(void)
{
	static struct program p = {
		.f = {{.blocks = 3,
		       .frame = 16,
		       .code = {{.how = BRANCHES, .to = {2}}, {.how = RETURNS}, {.how = RETURNS}}},
		      {.blocks = 2, .code = {{.how = CALLS, .callee = 0}}}}};

	lay_out_rules(&p, ALL);
	branch_of(0, 1)->switched = true;
	branch_of(0, 1)->sp_delta = SP_UNKNOWN;
	place(&rules, PLACEMENT_FULL, ALL);

	begin_replay(ALL);
	run(1, 0, true, 0);
	in_call(TOP - 8, end_of(1, 0) + BIAS);
	run(0, 0, false, 0);
	end_block_at(0, 1, TOP - 0x8000, true, BACK);
	end_replay(
		"E1 B1.0T .E0 .B0.0N .B0.1T",
		"a branch behind a load of the stack pointer is the innermost call's of its function");

	begin_replay(ALL);
	in_call(TOP, BACK);
	run(0, 0, false, 0);
	in_call(TOP - 0x8000, BACK + 0x100);
	run(0, 0, false, 0);
	end_block_at(0, 1, TOP, true, BACK);
	in_call(TOP - 0x8000, BACK + 0x100);
	end_block_at(0, 1, TOP - 0x8000, true, BACK + 0x100);
	end_replay("E0 B0.0N .E0 .B0.0N .B0.1T R0 B0.1T R0",
		   "a ret behind a load of the stack pointer ends another call, of a coroutine");

	begin_replay(ALL);
	in_call(TOP, BACK);
	run(0, 0, false, 0);
	in_call(TOP - 0x8000, BACK + 0x100);
	start(0, 0);
	end_block_at(0, 1, TOP, true, BACK);
	end_replay("E0 B0.0N .E0 B0.1T R0",
		   "a branch behind a load of the stack pointer is no call's that can't be there");

	begin_replay(ALL);
	in_call(TOP, BACK);
	run(0, 0, false, 0);
	in_call(TOP - 0x8000, BACK + 0x100);
	run(0, 0, false, 0);
	end_block_at(0, 1, TOP, true, BACK + 0x40);
	end_replay(
		"E0 B0.0N .E0 .B0.0N .B0.1T",
		"a ret behind a load of the stack pointer ends no call with another return address");

	begin_replay(ALL);
	run(1, 0, true, 0);
	in_call(TOP - 8, end_of(1, 0) + BIAS);
	run(0, 0, false, 0);
	end_block_at(0, 1, TOP, true, BACK);
	in_call(TOP - 0x100, end_of(1, 0) + BIAS);
	run(0, 0, false, 0);
	in_call(TOP, BACK);
	run_ret(1, 1);
	end("E1 B1.0T .E0 .B0.0N .B0.1T .E0 .B0.0N B1.1T R1",
	    "a ret behind a load of the stack pointer may end none: OCaml raises so");
}

int main(void)
{
	test_gaps();
	test_behind_gaps();
	test_back_by_gap();
	test_landings();
	test_switched();
	str__free(&got);
	return tap__done();
}
