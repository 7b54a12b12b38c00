// SPDX-License-Identifier: BSD-2-Clause
/* Rings that threads write to as copied functions do, read and merged with another source's events:
 * nothing is missing, order within a thread is exact, what is lost is told. */
#include "inline_fixture.h"
#include "source/inline/logs/rings_private.h"

static bool put_ret(unsigned slot, uint64_t value, uint64_t time)
{
	const uint64_t w[] = {(SP & UINT32_MAX) << 32 | LOG_ID(LOG_RETURN, 0, 0, RET), 1, value,
			      time};

	return put(slot, w, 4);
}

static void pass(uint64_t time)
{
	rings__pull(rings);
	merge__until(merge, time, &sink, &reached);
}

/* Everything until now. */
static void pass_all(void)
{
	rings__pull(rings);
	pass(ticks());
}

static struct event trap_of(uint32_t tid, unsigned slot)
{
	return (struct event){.type = EVENT_BRANCH,
			      .site = TRAP,
			      .pid = 10,
			      .tid = tid,
			      .time = ticks(),
			      .sp = SP,
			      .logged = 1 + log_ring__position(ring_of(slot))};
}

static void tell(struct event e)
{
	merge__add(merge, waiting__event(&e));
}

static void tell_sideband(enum sideband_type type, uint32_t pid, uint32_t tid)
{
	struct sideband_event e = {
		.type = type, .time = ticks(), .pid = pid, .tid = tid, .ppid = 10, .ptid = 10};

	merge__add(merge, waiting__sideband(&e));
}

/* ---- tests ---- */

static void test_order(void)
{
	uint64_t before;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	before = ticks();
	put_branch(0, true, SP);
	tell(trap_of(10, 0));
	put_branch(0, false, SP);
	tell(trap_of(10, 0));
	pass(before);
	is_str(passed(), "", "nothing that is not settled is passed on");
	pass_all();
	is_str(passed(), "10:b1 10:t0 10:b0 10:t0", "a probe's event is where the log stood");
	put_branch(0, true, SP);
	before = ticks();
	usleep(20000);
	pass(before);
	is_str(passed(), "",
	       "a branch without time waits for what the other source tells of that time");
	pass_all();
	is_str(passed(), "10:b1", "then it is passed on");
	close_all();
}

/* What its probes have told doesn't overtake what it has logged. */
static void test_heard_late(void)
{
	struct notice late;

	open_tail(0);
	begin_ring(0);
	pthread_mutex_lock(&rings->pulling); /* nobody looks */
	late = notify_of(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	tell(trap_of(10, 0));
	merge__until(merge, ticks(), &sink, &reached);
	is_str(passed(), "", "a thread of which was not heard yet holds up what it did");
	pthread_mutex_unlock(&rings->pulling);
	rings__receive(rings, &late, -1);
	pass_all();
	is_str(passed(), "10:b1 10:t0", "then it is in order");
	close_all();
}

/* What another thread looked at when recording began, it looks at as it is by then. */
static void test_start(void)
{
	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	rings->waits = true;
	put_branch(0, false, SP);
	rings__pull(rings); /* however busy the machine is */
	pthread_mutex_lock(&rings->pulling);
	usleep(20000); /* the thread that reads comes to that */
	rings->waits = false;
	put_branch(0, true, SP);
	pthread_mutex_unlock(&rings->pulling);
	usleep(20000);
	pass_all();
	is_str(passed(), "10:b1", "what was written before the start is skipped, but no more");
	close_all();
}

static void test_end(void)
{
	struct event end;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	end = trap_of(10, 0);
	end.type = EVENT_END;
	end.logged = 0;
	tell(end);
	pass_all();
	is_str(passed(), "10:b1 10:t0", "a thread's log ends before its end, wherever that stood");
	close_all();
}

static void test_threads(void)
{
	open_tail(0);
	begin_ring(0);
	begin_ring(1);
	notify(NOTICE_RING, 0, 10);
	notify(NOTICE_RING, 1, 11);
	put_ret(1, 1, ticks());
	put_ret(0, 2, ticks());
	put_branch(0, true, SP);
	put_ret(1, 3, ticks());
	put_ret(0, 4, ticks());
	pass_all();
	is_str(passed(), "11:r1 10:r2 10:b1 11:r3 10:r4", "threads are merged by time");
	close_all();
}

static void test_processes(void)
{
	struct notice child;

	open_tail(0);
	begin_ring(0);
	begin_ring(1);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	tell_sideband(SIDEBAND_EXIT, 30,
		      30); /* passed on when the fork looks for what is still to come */
	tell_sideband(SIDEBAND_FORK, 20, 20);
	child = notify_of(NOTICE_RING, 1, 20);
	child.pid = 20;
	child.ptid = 10;
	child.forked = log_ring__position(ring_of(0));
	rings__receive(rings, &child, -1);
	put_branch(0, false, SP);
	put_branch(1, true, SP);
	pass_all();
	is_str(passed(), "30:exit 10:b1 20:fork 10:b0 20:b1",
	       "what a process logged before a fork is passed on before, the rest behind it");
	put_branch(0, true, SP);
	tell_sideband(SIDEBAND_EXEC, 10, 10);
	notify(NOTICE_END, 0, 10);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, false, SP);
	pass_all();
	is_str(passed(), "10:b1 10:exec 10:b0", "the old program's log ends before an exec");
	put_branch(1, false, SP);
	tell_sideband(SIDEBAND_EXIT, 20, 20);
	pass_all();
	is_str(passed(), "20:b0 20:exit", "a thread's log ends before its exit");
	close_all();
}

static void test_stop(void)
{
	uint64_t stopped;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	rings__pull(rings);
	stopped = ticks();
	put_ret(0, 1, ticks());
	rings__pull(rings);
	merge__end(merge, stopped, &sink);
	is_str(passed(), "10:b1", "what was logged behind the end is not passed on");
	close_all();
}

/* The thread's ring is full, and it waits no more. */
static void drop(unsigned slot, uint64_t count)
{
	struct log_ring *r = ring_of(slot);

	r->kept = r->cursor;
	r->dropped = count;
	r->limit = 0;
}

static void count_call(void *ctx)
{
	++*(unsigned *)ctx;
}

/* What was read late had happened before a later record that has a time. */
static void test_read_late(void)
{
	unsigned calls = 0;
	uint64_t time;

	open_tail(0);
	begin_ring(0);
	begin_ring(1);
	notify(NOTICE_RING, 0, 10);
	notify(NOTICE_RING, 1, 11);
	time = ticks();
	put_branch(0, true, SP);
	put_ret(0, 1, time);
	put_branch(0, false, SP);
	merge__add(merge, waiting__sideband(&(struct sideband_event){
				  .type = SIDEBAND_EXIT, .time = time + 1, .pid = 30, .tid = 30}));
	rings__pull(rings);
	pass(ticks());
	is_str(passed(), "10:b1 10:r1 30:exit 10:b0",
	       "what has a time proves that of what is before it, but not of what is behind it");
	time = ticks();
	for (unsigned i = 0; i < LOG_SEGMENT / 8 + 3; i++)
		put_branch(1, true, SP);
	put_ret(1, 2, time);
	put_branch(1, false, SP);
	rings__pull(rings);
	merge__watch(merge, count_call, &calls);
	merge__end(merge, time + 1, &sink);
	ok(calls > 1, "who waits for the end of a long log hears of it: %u times", calls);
	ok(text.len > LOG_SEGMENT / 8 * 6, "so it is with what fills more than a segment");
	is_str(text.data + text.len - 6, " 11:r2", "up to the end of the trace");
	text.len = 0;
	close_all();
}

static void test_dropping(void)
{
	uint64_t stopped;

	for (int before = 0; before < 2; before++) {
		open_tail(0);
		begin_ring(0);
		notify(NOTICE_RING, 0, 10);
		put_branch(0, true, SP);
		if (before)
			drop(0, 3);
		rings__pull(rings);
		stopped = ticks();
		if (!before)
			drop(0, 3);
		rings__pull(rings);
		notify(NOTICE_END, 0, 10);
		merge__end(merge, stopped, &sink);
		is_str(passed(), before ? "10:b1 10:lost3" : "10:b1",
		       before ? "what was lost before the end is told"
			      : "what was dropped behind the end is not");
		close_all();
	}
}

/* Its cursor is nowhere. */
static void test_torn(void)
{
	open_tail(0);
	for (int i = 0; i < 2; i++) {
		begin_ring(i);
		notify(NOTICE_RING, i, 10 + i);
		put_branch(i, true, SP);
	}
	pass_all();
	is_str(passed(), "10:b1 11:b1", "two threads");
	ring_of(0)->cursor = 0;
	rings__pull(rings);
	usleep(2 * TORN_NS / 1000);
	put_branch(1, false, SP);
	rings__pull(rings);
	pass_all();
	is_str(passed(), "10:lost1 11:b0", "a ring without sense is given up, and others go on");
	close_all();
}

static void test_areas(void)
{
	const struct notice gone = {.type = NOTICE_AREA_GONE, .area = 1};

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	notify(NOTICE_END, 0, 10);
	begin_ring(1);
	notify(NOTICE_RING, 1, 11);
	put_branch(1, true, SP);
	pass_all();
	is_str(passed(), "10:b1 11:b1", "an area stays when its last thread has ended");
	notify(NOTICE_END, 1, 11);
	rings__receive(rings, &gone, -1);
	notify(NOTICE_RING, 0, 12);
	pass_all(); /* hears of it: that is the gap's time */
	pass_all();
	is_str(passed(), "12:gap 12:untraced",
	       "a thread whose log can't be read leaves a gap, and is told of");
	close_all();
}

static void test_death(void)
{
	const struct notice died = {.type = NOTICE_DIED};

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	rings__receive(rings, &died, -1);
	pass_all();
	pass_all();
	is_str(passed(), "10:gap 10:untraced",
	       "without a supervisor there is a gap, and what is untraced");
	ok(rings__gone(rings), "and nobody says anything");
	close_all();
}

/* Recording stops for a while. */
static void test_mute(void)
{
	uint64_t from;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_ret(0, 1, ticks());
	put_branch(0, true, SP);
	rings__pull(rings);
	from = ticks();
	put_branch(0, false, SP);
	put_ret(0, 2, ticks());
	merge__mute(merge, from, UINT64_MAX);
	pass_all();
	is_str(passed(), "10:r1 10:b1", "what was logged before a stop is passed on");
	merge__mute(merge, from, ticks());
	put_branch(0, false, SP);
	put_ret(0, 3, ticks());
	put_branch(0, false, SP);
	pass_all();
	is_str(passed(), "10:r3 10:b0", "and what was certainly logged after it");
	close_all();
}

static void test_losses(void)
{
	struct log_ring *r = ring_of(0);
	uint64_t zero = 0;

	open_tail(0);
	r = ring_of(0);
	begin_ring(0);
	begin_ring(1);
	notify(NOTICE_RING, 0, 10);
	notify(NOTICE_RING, 1, 11);
	put_branch(0, true, SP);
	r->kept = r->cursor;
	r->limit = 0;
	r->cursor = r->base + LOG_SPARE_AT;
	r->dropped = 7;
	notify(NOTICE_END, 0, 10);
	pass_all();
	is_str(passed(), "10:b1 10:lost7", "what was dropped at the end is told");
	put_branch(1, true, SP);
	put(1, &zero, 1);
	put_branch(1, true, SP);
	while (ring_of(1)->segments == 0)
		put_branch(1, true, SP);
	put_branch(1, false, SP);
	pass_all();
	is_str(passed(), "11:b1 11:lost1 11:b1 11:b0",
	       "behind a word that is no record the segment is lost, the next one isn't");
	ring_of(1)->segments += 1ull << 40;
	pass_all();
	is_str(passed(), "11:lost1", "a ring that makes no sense is read no more");
	close_all();
}

static struct event loss_of(uint32_t tid, unsigned slot)
{
	struct event e = trap_of(tid, slot);

	e.type = EVENT_LOST;
	e.count = 1;
	return e;
}

/* The other source's losses come by another way than its events: each is told where it happened. */
static void test_losses_of_probes(void)
{
	struct event lost[3], trap;

	open_tail(0);
	begin_ring(0);
	begin_ring(1);
	notify(NOTICE_RING, 0, 10);
	notify(NOTICE_RING, 1, 11);
	put_branch(0, true, SP);
	lost[0] = loss_of(10, 0);
	lost[1] = loss_of(10, 0);
	put_branch(0, false, SP);
	lost[2] = loss_of(10, 0);
	trap = trap_of(10, 0);
	tell(trap);
	for (unsigned i = 0; i < 3; i++)
		tell(lost[i]);
	pass_all();
	is_str(passed(), "10:b1 10:lost2 10:b0 10:lost1 10:t0",
	       "losses are where the log stood, those at one place are one");
	lost[0] = loss_of(10, 0);
	lost[1] = loss_of(11, 1);
	tell(lost[0]);
	tell(lost[1]);
	pass_all();
	is_str(passed(), "10:lost1 11:lost1", "those of two threads are two");
	close_all();
}

static void notify_original(enum notice_type type, uint32_t function, bool within)
{
	struct notice s = notify_of(type, 0, 10);

	s.function = function;
	s.size = within;
	rings__receive(rings, &s, -1);
}

/* While the original of a function is restored. */
static void test_doubt(void)
{
	sites[RET].function = 1;
	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	put_branch(0, true, SP);
	notify_original(NOTICE_UNLOGGED, 0, false);
	put_ret(0, 1, ticks());
	put_ret(0, 2, ticks());
	put_branch(0, true, SP);
	put_ret(0, 3, ticks());
	notify_original(NOTICE_LOGGED, 0, false);
	put_ret(0, 4, ticks());
	put_branch(0, true, SP);
	put_ret(0, 5, ticks());
	pass_all();
	is_str(passed(), "10:b1 10:gap 10:r1 10:r2 10:b1 10:gap 10:r3 10:gap 10:r4 10:b1 10:r5",
	       "a gap is where the log stood; behind what that function has logged each event has one");
	notify_original(NOTICE_UNLOGGED, 1, false);
	tell(trap_of(10, 0));
	notify_original(NOTICE_LOGGED, 1, false);
	notify_original(NOTICE_UNLOGGED, NO_FUNCTION, true);
	put_branch(0, true, SP);
	put_branch(0, true, SP);
	notify_original(NOTICE_LOGGED, NO_FUNCTION, true);
	pass_all();
	is_str(passed(), "10:gap 10:t0 10:gap 10:b1 10:gap 10:b1",
	       "events of the other source have one, too; so has each if the thread was in there");
	notify(NOTICE_END, 0, 10);
	tell_sideband(SIDEBAND_EXIT, 10, 10);
	pass_all();
	is_str(passed(), "10:gap 10:exit", "and what is not logged at the end");
	close_all();
	sites[RET].function = 0;
}

int main(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	test_order();
	test_heard_late();
	test_start();
	test_end();
	test_threads();
	test_processes();
	test_stop();
	test_dropping();
	test_torn();
	test_areas();
	test_death();
	test_read_late();
	test_mute();
	test_losses();
	test_losses_of_probes();
	test_doubt();
	str__free(&text);
	return tap__done();
}
