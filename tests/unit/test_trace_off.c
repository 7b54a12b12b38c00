// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long a call was on no CPU (-e sched), where its thread is preempted in the very hits: their
 * times are taken before their events are recorded.
 */
#include "rules_fixture.h"

/* f0 returns at once. */
static struct program one = {.f = {{.blocks = 1}}};

static void begin_switching(void)
{
	lay_out_rules(&one, ALL);
	place(&rules, PLACEMENT_FULL, ALL);
	plan__add_named(rules.plan, NAMED_OFF_CPU, "off-cpu");
	plan__add_named(rules.plan, NAMED_ON_CPU, "on-cpu");
	begin_replay(ALL);
	in_call(TOP, BACK);
}

static void at(uint64_t time)
{
	now.time = time - 10; /* which feed_event() adds */
}

static void switches(uint32_t which, uint64_t time)
{
	struct event_named named = {.which = which, .count = 1, .comm = ""};

	at(time);
	feed_event((struct event){.type = EVENT_NAMED, .named = &named}, NULL);
}

static void is_off(uint64_t from, uint64_t to)
{
	switches(0, from);
	switches(1, to);
}

static void enter(uint64_t time)
{
	at(time);
	start(0, 0);
}

static void leave(uint64_t time)
{
	at(time);
	end_block_at(0, 0, now.sp, true, now.caller);
}

static void off_is(uint64_t want, const char *what)
{
	ok(returned.has_off && returned.off == want, "%s", what);
	drop();
}

static void off_is_unknown(const char *what)
{
	ok(returned.has_duration && !returned.has_off, "%s", what);
	drop();
}

int main(void)
{
	begin_switching();
	is_off(100, 200);
	enter(1000);
	is_off(1100, 1150);
	is_off(1200, 1230);
	leave(2000);
	off_is(80, "what lies in the call");

	begin_switching();
	is_off(1100, 1150);
	enter(1000);
	is_off(1200, 1230);
	leave(2000);
	off_is(80, "preempted in the entry's hit: that is in the call");

	begin_switching();
	enter(1000);
	is_off(1200, 1230);
	is_off(2100, 2900);
	leave(2000);
	off_is(30, "preempted in the return's hit: that is behind the call");

	begin_switching();
	enter(1000);
	is_off(2100, 2900);
	leave(2000);
	enter(3000);
	is_off(3100, 3200);
	leave(4000);
	off_is(100, "and in none that follows");

	begin_switching();
	is_off(1100, 1150);
	is_off(1200, 1230);
	enter(1000);
	leave(2000);
	off_is_unknown("preempted twice in the entry's hit: not known");

	begin_switching();
	enter(1000);
	is_off(2100, 2150);
	is_off(2200, 2230);
	leave(2000);
	off_is_unknown("twice in the return's: not known");

	begin_switching();
	enter(1000);
	switches(1, 1100);
	leave(2000);
	off_is_unknown("back on a CPU, without having left: not known");
	return tap__done();
}
