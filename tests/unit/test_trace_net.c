// SPDX-License-Identifier: BSD-2-Clause
/*
 * The net time of a call, rule by rule: what tracing took of it, and where that isn't known. Each
 * hit takes 10 ns, as the fixture's clock says, unless a test lets it take longer; what the program
 * takes itself, a test adds.
 */
#include "rules_fixture.h"

#define HIT 10

static void price_all(void)
{
	for (unsigned kind = 0; kind < HIT_KINDS; kind++)
		for (unsigned i = 0; i < BATCH_FIRST; i++)
			prices__sample(&t->prices, kind, HIT);
}

static void set_traps(void)
{
	struct plan_site *s;

	vec__each (s, &rules.plan->sites)
		s->traps = 1;
}

static void begin_priced(struct program *p)
{
	begin(p, PLACEMENT_FULL, ALL);
	set_traps();
	now.time = 1000;
	price_all();
}

static void works(uint64_t ns)
{
	now.time += ns;
}

/* On another thread, at a time that the first one has passed. */
static void on_thread(uint32_t pid, uint32_t tid, uint64_t time)
{
	now.pid = pid;
	now.tid = tid;
	now.time = time;
}

static void lose(void)
{
	feed_event((struct event){.type = EVENT_LOST, .count = 3}, NULL);
}

static void go_over(uint32_t tid, uint64_t goroutine)
{
	now.tid = tid;
	feed_event((struct event){.type = EVENT_GOROUTINE, .goroutine = goroutine}, NULL);
}

static void net_is(uint64_t want, const char *what)
{
	uint64_t ns = 0;
	bool known = step__net(&returned, &ns) == NET_KNOWN;

	if (!ok(known && ns == want, "%s", what))
		printf("# duration %llu, tracing %llu, noise %llu, wanted %llu\n",
		       (unsigned long long)returned.duration, (unsigned long long)returned.tracing,
		       (unsigned long long)returned.noise, (unsigned long long)want);
}

static void net_is_unknown(const char *what)
{
	ok(returned.has_duration && !returned.has_tracing, "%s", what);
}

static uint64_t behind(unsigned f, unsigned b)
{
	return end_of(f, b) + BIAS;
}

/* ---- whose hits are in it ---- */

/* f0: calls f1 and returns */
static struct program two = {
	.f = {{.blocks = 2, .code = {{.how = CALLS, .callee = 1}}}, {.blocks = 1}}};

static void enter_inner(void)
{
	in_call(TOP, BACK);
	run(0, 0, true, 0);
	in_call(TOP - 8, behind(0, 0));
	start(1, 0);
}

static void leave_inner(void)
{
	in_call(TOP - 8, behind(0, 0));
	end_block_at(1, 0, now.sp, true, now.caller);
}

static void leave_outer(void)
{
	in_call(TOP, BACK);
	run_ret(0, 1);
}

static void test_recursion(void)
{
	static struct program p = {
		.f = {{.blocks = 3,
		       .code = {{.how = BRANCHES, .to = {2}}, {.how = CALLS, .callee = 0}}}}};

	begin_priced(&p);
	run(0, 0, false, 0);
	works(100);
	run(0, 1, true, 0);
	in_call(TOP - 8, behind(0, 1));
	run(0, 0, true, 0);
	works(50);
	run_ret(0, 2);
	net_is(50, "recursion: the inner call's net time has its own hits left out");
	in_call(TOP, BACK);
	works(7);
	run_ret(0, 2);
	net_is(157, "recursion: the outer call's net time has the hits of both left out, once");
	drop();
}

static void test_fork(void)
{
	uint64_t forked;

	begin_priced(&two);
	enter_inner();
	works(100);
	forked = now.time;
	trace__fork(t, forked, 8, 8, 7, 7);
	works(30);
	leave_inner();
	leave_outer();
	net_is(130, "fork: the parent's net time has its own hits left out");
	on_thread(8, 8, forked);
	works(50);
	leave_inner();
	net_is(150, "fork: the child's net time has the parent's hits before the fork left out");
	works(5);
	leave_outer();
	net_is(155, "fork: so has that of the child's outer call, with the child's own hits, and "
		    "none that the parent had later");
	enter_inner();
	works(20);
	leave_inner();
	net_is(20, "fork: a call that the child begins has its own alone");
	drop();
}

static void test_lost_fork(void)
{
	uint64_t forked;

	begin_priced(&two);
	enter_inner();
	lose();
	trace__fork(t, now.time, 8, 8, 7, 7);
	on_thread(8, 8, now.time);
	leave_inner();
	net_is_unknown("fork: a loss of the parent before it is one of the child's copy");
	drop();
	begin_priced(&two);
	enter_inner();
	forked = now.time;
	trace__fork(t, forked, 8, 8, 7, 7);
	lose();
	on_thread(8, 8, forked);
	works(9);
	leave_inner();
	net_is(9, "fork: a loss of the parent behind it is none of the child's copy");
	drop();
}

static void test_goroutines(void)
{
	begin_priced(&two);
	go_over(7, 20);
	enter_inner();
	works(100);
	go_over(7, 21);
	enter_inner();
	works(40);
	leave_inner();
	net_is(40, "a goroutine's net time has its own hits left out");
	go_over(8, 20);
	works(5);
	leave_inner();
	net_is(100 + 40 + 5 + 6 * HIT,
	       "and no others, on whichever threads it ran: what others ran meanwhile is waiting");
	now.tid = 7;
	lose();
	leave_outer();
	net_is_unknown("a loss on the thread that a goroutine runs on is the goroutine's");
	now.tid = 8;
	leave_outer();
	ok(returned.has_tracing, "and not that of one that has moved to another thread");
	drop();
}

static void test_losses(void)
{
	begin_priced(&two);
	enter_inner();
	lose();
	leave_inner();
	net_is_unknown("a call within which events were lost has no net time");
	enter_inner();
	works(20);
	leave_inner();
	net_is(20, "one that begins behind the loss has");
	leave_outer();
	net_is(20, "so has the one around that");
	drop();
	begin_priced(&two);
	enter_inner();
	works(10);
	leave_inner();
	trace__gap(t, 7, 7);
	leave_outer();
	net_is_unknown("a call with a gap behind the calls that it made has no net time");
	drop();
	begin_priced(&two);
	enter_inner();
	now.tid = 9;
	lose();
	now.tid = 7;
	works(10);
	leave_inner();
	ok(returned.has_tracing, "another thread's loss is not this one's");
	drop();
}

/* ---- the price of entries and returns, without events of branches ---- */

#define ENTRY_COST  900
#define RETURN_COST 70

static void enter(unsigned f)
{
	start(f, 0);
	now.time += ENTRY_COST - HIT;
}

static void leave(unsigned f)
{
	if (rules.plan->return_probes)
		feed_return(f);
	else
		end_block_at(f, f ? 2 : 0, now.sp, true, now.caller);
	now.time += RETURN_COST - HIT;
}

/* f0: quick. f1 calls it twice and returns; own: what that takes. */
static void call_twice(uint64_t own)
{
	in_call(TOP, BACK);
	enter(1);
	for (unsigned b = 0; b < 2; b++) {
		in_call(TOP - 8, behind(1, b));
		enter(0);
		leave(0);
	}
	in_call(TOP, BACK);
	works(own);
	leave(1);
}

static uint64_t price_of(enum hit_kind kind)
{
	return t->prices.of[kind].known ? t->prices.of[kind].price.usual : 0;
}

static void begin_returns(struct program *p, bool return_probes)
{
	const unsigned events = PLAN_ENTRY | PLAN_RETURN;
	struct plan_site *s;

	lay_out_rules(p, events);
	rules.plan->return_probes = return_probes;
	place(&rules, PLACEMENT_FULL, events);
	set_traps();
	for (unsigned f = 0; f < rules.plan->functions.len; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			block_of(f, b)->quick = 3;
	vec__each (s, &rules.plan->sites)
		if (s->role == ROLE_BRANCH && (s->kind != BRANCH_RET || return_probes))
			s->probe = PROBE_NONE;
	begin_replay(events);
	now.time = 1000;
}

static void test_entries_and_returns(bool return_probes)
{
	static struct program p = {
		.f = {{.blocks = 1},
		      {.blocks = 3,
		       .code = {{.how = CALLS, .callee = 0}, {.how = CALLS, .callee = 0}}}}};
	const char *how = return_probes ? "return probes" : "probes at rets";
	const enum hit_kind kind = return_probes ? HIT_RETURN : HIT_ONE_TRAP;

	begin_returns(&p, return_probes);
	block_of(1, 2)->quick = 0;
	call_twice(0);
	net_is_unknown("entries and returns: before their prices are known there is no net time");
	for (unsigned i = 0; i < 10; i++)
		call_twice(0);
	is(price_of(HIT_ENTRY_ONE), ENTRY_COST, "%s: an entry's price is known without branches",
	   how);
	is(price_of(kind), RETURN_COST, "%s: so is a return's", how);
	call_twice(5000);
	net_is(5000, "entries and returns: then a call's net time is its own");
	call_twice(0);
	is(price_of(kind), RETURN_COST, "%s: what slow code takes behind a return is not its price",
	   how);
	drop();
}

/* Any path from the entry to a ret is quick, or else there is no price. */
static void test_paths(void)
{
	static const struct {
		struct program p;
		uint8_t quick[BLOCKS];
		bool known;
		const char *what;
	} shapes[] = {
		{{.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = FALLS}}}}},
		 {10, 12, 10},
		 true,
		 "both ways of a branch are quick"},
		{{.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = FALLS}}}}},
		 {10, 13, 10},
		 false,
		 "the longer way has too many instructions"},
		{{.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = FALLS}}}}},
		 {10, 0, 10},
		 false,
		 "one way is slow"},
		{{.f = {{.blocks = 3, .code = {{.how = BRANCHES, .to = {2}}, {.how = FALLS}}}}},
		 {0, 1, 1},
		 false,
		 "the beginning is slow"},
		{{.f = {{.blocks = 3, .code = {{.how = FALLS}, {.how = BRANCHES, .to = {1}}}}}},
		 {1, 1, 1},
		 false,
		 "there may be a loop"},
		{{.f = {{.blocks = 2, .code = {{.how = CALLS, .callee = OUT}}}}},
		 {1, 1},
		 false,
		 "untraced code is called"},
		{{.f = {{.blocks = 2, .code = {{.how = CALLS_POINTER, .callee = OUT}}}}},
		 {1, 1},
		 false,
		 "code is called by a pointer"},
		{{.with = WITH_TAILS,
		  .f = {{.blocks = 2, .code = {{.how = TAIL_IF, .callee = OUT}}}}},
		 {1, 1},
		 false,
		 "a branch leaves for untraced code"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct program p = shapes[i].p;
		unsigned ret = p.f[0].blocks - 1;

		begin_returns(&p, false);
		for (unsigned b = 0; b <= ret; b++)
			block_of(0, b)->quick = shapes[i].quick[b];
		for (unsigned k = 0; k < 20; k++) {
			enter(0);
			run_ret(0, ret);
		}
		is(price_of(HIT_ENTRY_ONE), shapes[i].known ? ENTRY_COST : 0,
		   "an entry %s price: %s", shapes[i].known ? "has a" : "has no", shapes[i].what);
		drop();
	}
}

/* Between the entry and its own return the thread was elsewhere. f1's entry has no probe. */
static void test_elsewhere(void)
{
	static struct program p = {.f = {{.blocks = 1}, {.blocks = 1}}},
			      hidden = {.f = {{.blocks = 1},
					      {.blocks = 2,
					       .entry = ENTRY_REFUSED,
					       .code = {{.how = CALLS}}},
					      {.blocks = 1}}};

	begin_returns(&hidden, true);
	for (unsigned i = 0; i < 20; i++) {
		in_call(TOP, BACK);
		enter(2);
		in_call(TOP - 0x100, behind(1, 0));
		enter(0);
		leave(0);
		in_call(TOP, BACK);
		leave(2);
	}
	is(price_of(HIT_RETURN), 0,
	   "a return to a call that was not seen says nothing of where the one around it is");
	drop();
	begin_returns(&p, true);
	for (unsigned i = 0; i < 20; i++) {
		in_call(TOP, BACK);
		enter(0);
		in_call(TOP - 0x100, BACK + 0x40); /* a signal's handler */
		enter(1);
		works(100000);
		leave(1);
		in_call(TOP, BACK);
		leave(0);
	}
	is(price_of(HIT_ENTRY_ONE), ENTRY_COST + 100000,
	   "the time from a hit to the next one is no price if that is another call's");
	drop();
}

/* ---- return probes in the kernel, beside the probes at rets ---- */

#define TWICE_COST 1200

/* f0: calls f1 twice, and returns. f1: ends at a ret, or in a jump to what has no probes. */
static struct program tails = {
	.with = WITH_TAILS | WITH_OUTSIDE,
	.f = {{.blocks = 3, .code = {{.how = CALLS, .callee = 1}, {.how = CALLS, .callee = 1}}},
	      {.blocks = 2, .code = {{.how = TAIL_IF, .callee = OUT}}}}};

static void begin_kernel(void)
{
	lay_out_rules(&tails, ALL);
	rules.object.kind = OBJECT_KERNEL;
	rules.plan->objects.data[0].kernel = true;
	place(&rules, PLACEMENT_FULL, ALL);
	set_traps();
	for (unsigned f = 0; f < 2; f++)
		for (unsigned b = 0; b < tails.f[f].blocks; b++)
			block_of(f, b)->quick = 3;
	begin_replay(ALL);
	now.time = 1000;
}

static void takes(uint64_t ns)
{
	now.time += ns - HIT;
}

static void call_returning(unsigned block, bool jumps)
{
	end_block_at(0, block, now.sp, true, 0);
	in_call(TOP - 8, end_of(0, block));
	start(1, 0);
	takes(TWICE_COST);
	end_block_at(1, 0, now.sp, jumps, 0);
	if (!jumps)
		end_block_at(1, 1, now.sp, true, now.caller);
	feed_return(1);
	takes(RETURN_COST);
	in_call(TOP, 0x77);
}

static void call_in_kernel(bool jumps)
{
	in_call(TOP, 0x77);
	start(0, 0);
	takes(ENTRY_COST);
	call_returning(0, jumps);
	call_returning(1, jumps);
	end_block_at(0, 2, now.sp, true, now.caller);
}

static void test_kernel_returns(bool jumps)
{
	const char *how = jumps ? "behind a jump" : "behind a ret";

	begin_kernel();
	for (unsigned i = 0; i < 12; i++)
		call_in_kernel(jumps);
	is(price_of(HIT_KERNEL_RETURN), RETURN_COST, "the kernel's return probe has a price: %s",
	   how);
	is(price_of(HIT_KERNEL_ENTRY), ENTRY_COST, "so has an entry without one: %s", how);
	is(price_of(HIT_KERNEL_TWICE), TWICE_COST, "and an entry that has one, too: %s", how);
	if (!jumps)
		ok(returned.has_tracing && returned.tracing == returned.duration && !returned.noise,
		   "so what only calls quick functions has no time of its own");
	drop();
}

int main(void)
{
	test_recursion();
	test_fork();
	test_lost_fork();
	test_goroutines();
	test_losses();
	test_entries_and_returns(false);
	test_entries_and_returns(true);
	test_paths();
	test_elsewhere();
	test_kernel_returns(false);
	test_kernel_returns(true);
	return tap__done();
}
