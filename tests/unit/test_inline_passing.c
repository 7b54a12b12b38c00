// SPDX-License-Identifier: BSD-2-Clause
/* What threads log is filtered by what is told of them: at a position exactly, at a time without
 * what may have been before or after it, which is a gap; in doubt nothing is shown. */
#include "inline_fixture.h"

enum { NAME = 1, USER = 2, FOLLOWED = 4, ALL = 7 };

static uint32_t passed_now;
static uint64_t missed_now;

static uint32_t request(void *ctx, uint32_t pid, uint32_t tid)
{
	return passed_now;
}

static uint64_t count_missed(void *ctx)
{
	return missed_now;
}

/* Rings are read when that is asked for only, so that it is known what was read when. */
static void open_filtered(void)
{
	filters = (struct thread_filters){.needed = NAME | USER,
					  .suffice = FOLLOWED,
					  .passed = request,
					  .missed = count_missed};
	passed_now = 0;
	open_tail(LOG_RING);
	begin_ring(0);
	begin_ring(1);
}

static struct event told(uint32_t tid, uint32_t which, uint32_t passed)
{
	return (struct event){.type = EVENT_PASSES,
			      .pid = 10,
			      .tid = tid,
			      .time = ticks(),
			      .count = which,
			      .value = passed};
}

static void tell(struct event e)
{
	merge__add(merge, waiting__event(&e));
}

/* The thread tells of itself. */
static void tell_at(unsigned slot, uint32_t tid, uint32_t which, uint32_t passed)
{
	struct event e = told(tid, which, passed);

	e.logged = 1 + log_ring__position(ring_of(slot));
	tell(e);
}

static void put_ret(unsigned slot, uint64_t value)
{
	const uint64_t w[] = {(SP & UINT32_MAX) << 32 | LOG_ID(LOG_RETURN, 0, 0, RET), 1, value,
			      ticks()};

	put(slot, w, 4);
}

static void pass_all(void)
{
	rings__tail(rings);
	rings__tail(rings); /* what was read by the first is settled by then */
	merge__until(merge, ticks(), &sink, &reached);
}

static void test_positions(void)
{
	open_filtered();
	tell(told(10, ALL, NAME));
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	tell_at(0, 10, USER, USER);
	put_branch(0, false, SP);
	tell_at(0, 10, NAME, NAME);
	put_branch(0, false, SP);
	tell_at(0, 10, NAME, 0);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b0 10:b0",
	       "a thread is shown from where it passes all filters to where it doesn't");
	ok(merge__has_hidden(merge), "that there was more is known");
	tell_at(0, 10, FOLLOWED, FOLLOWED);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "one filter may suffice");
	close_all();
}

static void test_times(void)
{
	open_filtered();
	tell(told(10, ALL, NAME));
	notify(NOTICE_RING, 0, 10);
	put_ret(0, 1);
	put_branch(0, true, SP);
	tell(told(10, USER, USER));
	put_branch(0, true, SP);
	put_ret(0, 2);
	put_branch(0, false, SP);
	pass_all();
	is_str(passed(), "10:gap 10:r2 10:b0",
	       "what may have been before a time is not shown, but told");
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "later records are");
	put_branch(0, true, SP);
	tell(told(10, USER, 0));
	put_ret(0, 3);
	pass_all();
	is_str(passed(), "10:gap", "nor is what may have been behind it");
	close_all();
}

static void test_processes(void)
{
	struct event of_all;

	open_filtered();
	tell(told(10, ALL, NAME));
	tell(told(11, ALL, NAME));
	notify(NOTICE_RING, 0, 10);
	of_all = told(10, USER, USER);
	of_all.process = true;
	of_all.logged = 1;
	tell(of_all);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "what is told of a process holds for the thread that tells it");
	notify(NOTICE_RING, 1, 11);
	put_branch(1, false, SP);
	pass_all();
	is_str(passed(), "11:b0", "and for others, also those whose log begins later");
	close_all();
}

static void test_doubt(void)
{
	open_filtered();
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:gap", "a thread of which nothing was told is not shown: a gap, once");
	tell_at(0, 10, NAME, NAME);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "", "one filter alone says nothing");
	tell_at(0, 10, ALL, NAME | USER);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "all of them do");
	close_all();

	open_filtered();
	passed_now = NAME | USER;
	notify(NOTICE_RING, 0, 10);
	merge__begin(merge);
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "a thread that runs already is asked");
	missed_now++;
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:gap",
	       "where changes were lost it is asked again, and what was before is not shown");
	pass_all(); /* the ring is looked at once more */
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:b1", "what comes then is");
	passed_now = NAME;
	missed_now++;
	put_branch(0, true, SP);
	pass_all();
	put_branch(0, true, SP);
	pass_all();
	is_str(passed(), "10:gap", "unless it doesn't pass any more");
	close_all();
}

static void test_losses(void)
{
	const uint64_t lost[] = {(SP & UINT32_MAX) << 32 | LOG_ID(LOG_LOST, 0, 0, 0), 5};

	open_filtered();
	tell(told(10, ALL, NAME | USER));
	notify(NOTICE_RING, 0, 10);
	put(0, lost, 2);
	tell_at(0, 10, NAME, 0);
	put(0, lost, 2);
	pass_all();
	is_str(passed(), "10:lost5 10:lost0",
	       "a loss is told; how many of it were of a thread that passes is not known where that changed");
	put(0, lost, 2);
	pass_all();
	is_str(passed(), "", "what threads lost that don't pass is not told");
	close_all();
}

int main(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	test_positions();
	test_times();
	test_processes();
	test_doubt();
	test_losses();
	str__free(&text);
	return tap__done();
}
