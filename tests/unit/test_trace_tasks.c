// SPDX-License-Identifier: BSD-2-Clause
/* Threads and processes start, exec and end, and their numbers are reused: no call of one is
 * attributed to another, and no data of ended ones is kept. */
#include <elf.h>
#include "trace/replay.h"
#include "tap.h"

/* One function, 0x1000: b0 jne 0x1020 | b1 0x1010: ret | b2 0x1020: ret */
enum { ENTRY, JNE, RET_1, RET_2, SITES };

static struct object object = {.path = (char *)"/lib/x", .machine = EM_X86_64};
static struct range ranges[] = {{0x1000, 0x30, (char *)"f"}};
static struct plan_object objects[] = {{&object, "/lib/x", EM_X86_64, false, false}};
static struct plan_function functions[] = {{"f", "f", 0, ENTRY, 0, 0, ranges, 1, 3, 0, 0, 0, 0}};

#define SITE(va, tgt, blk, knd, ent)                                                               \
	{                                                                                          \
		.vaddr = va, .role = knd == BRANCH_NONE ? ROLE_ENTRY : ROLE_BRANCH, .target = tgt, \
		.block = blk, .kind = knd, .entry = ent, .probe = 1, .len = 2, .mnemonic = "x",    \
		.cond = 5, .sp_delta = SP_UNKNOWN                                                  \
	}
static struct plan_site sites[SITES] = {
	[ENTRY] = SITE(0x1000, 0, 0, BRANCH_NONE, 1),
	[JNE] = SITE(0x100e, 0x1020, 0, BRANCH_JCC, 0),
	[RET_1] = SITE(0x101e, 0, 1, BRANCH_RET, 0),
	[RET_2] = SITE(0x102e, 0, 2, BRANCH_RET, 0),
};
static struct plan_block blocks[] = {
	{.start = 0x1000, .end = 0x1010, .site = JNE, .next = 1, .taken = 2},
	{.start = 0x1010, .end = 0x1020, .site = RET_1, .next = NO_BLOCK, .taken = NO_BLOCK},
	{.start = 0x1020, .end = 0x1030, .site = RET_2, .next = NO_BLOCK, .taken = NO_BLOCK},
};
static struct plan plan;

static struct trace *t;
static struct step last; /* the step that was given out last */
static struct str given; /* all of them: a letter each, with what they have */
static char last_comm[16];
static uint64_t clock_ns;

static int on_step(void *ctx, const struct step *s)
{
	static const char letters[STEP_TYPES] = {
		[STEP_ENTRY] = 'E',   [STEP_BRANCH] = 'B', [STEP_RETURN] = 'R', [STEP_LOST] = 'L',
		[STEP_UNKNOWN] = '?', [STEP_STOP] = '[',   [STEP_START] = ']',	[STEP_MARK] = 'M'};

	str__printf(&given, "%c%.0u%s%s%s ", letters[s->type], s->tid, s->has_since ? "+" : "",
		    s->has_duration ? "=" : "", s->text ? s->text : "");
	last = *s;
	snprintf(last_comm, sizeof(last_comm), "%s", s->comm);
	return 0;
}

static void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
}

static void begin(bool kernel)
{
	static const struct trace_options options = {.events = PLAN_ENTRY | PLAN_BRANCH |
							       PLAN_RETURN};
	static const struct resolver resolver = {NULL, resolve};

	plan.arch = arch__by_machine(EM_X86_64);
	plan.objects.data = objects;
	plan.objects.len = ARRAY_SIZE(objects);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		objects[i].kernel = kernel;
	plan.functions.data = functions;
	plan.functions.len = ARRAY_SIZE(functions);
	plan.sites.data = sites;
	plan.sites.len = SITES;
	plan.blocks.data = blocks;
	plan.blocks.len = ARRAY_SIZE(blocks);
	t = trace__new(&plan, &options, &resolver, on_step, NULL);
}

static struct event event(uint32_t site, uint32_t pid, uint32_t tid, enum event_type type)
{
	clock_ns += 10;
	return (struct event){
		.time = clock_ns, .pid = pid, .tid = tid, .sp = 0x7000, .site = site, .type = type};
}

static void feed(struct event e)
{
	trace__feed(t, &e);
}

static void enter(uint32_t pid, uint32_t tid)
{
	struct event_entry entry = {.ip = 0x555500001000, .comm = "prog"};
	struct event e = event(ENTRY, pid, tid, EVENT_ENTRY);

	e.entry = &entry;
	feed(e);
}

static void leave(uint32_t pid, uint32_t tid)
{
	struct event jne = event(JNE, pid, tid, EVENT_BRANCH), ret;

	jne.taken = true;
	feed(jne);
	ret = event(RET_2, pid, tid, EVENT_BRANCH);
	ret.has_target = ret.has_value = true;
	feed(ret);
}

static uint64_t ended_calls(void)
{
	return trace__totals(t)->ended_calls;
}

static uint64_t unmatched(void)
{
	return trace__totals(t)->unmatched_returns;
}

static void test_threads_end(void)
{
	begin(false);
	for (uint32_t tid = 8; tid < 50008; tid++) {
		trace__fork(t, ++clock_ns, 7, tid, 7, 7);
		enter(7, tid);
		leave(7, tid);
		trace__exit(t, ++clock_ns, 7, tid);
	}
	is(t->threads.len, 0, "threads that have ended are forgotten");
	is(t->processes.len, 1, "a process whose first thread was not seen to end is kept");
	ok(t->threads.cap < 64, "threads that have ended take no room");
	is(unmatched(), 0, "of threads that came and went each call returned");
	trace__exit(t, ++clock_ns, 7, 7);
	is(t->processes.len, 0, "a process ends with its first thread");
	is(t->biases.len, 0, "of a process that has ended no bias is kept");
	trace__free(t);
}

static void test_number_again(void)
{
	begin(false);
	enter(7, 7);
	enter(7, 8);
	trace__exit(t, ++clock_ns, 7, 8); /* inside of the call */
	is(ended_calls(), 1, "a call that a thread ends in has ended with it");
	trace__fork(t, ++clock_ns, 7, 8, 7, 7);
	enter(7, 8);
	is(last.depth, 0, "the next owner of a thread's number starts without calls");
	ok(!last.has_since, "the next owner of a thread's number was never in the function before");
	/* the event of thread 8's end was lost */
	trace__fork(t, ++clock_ns, 9, 8, 7, 7);
	is(ended_calls(), 2, "a fork shows that the thread that had the number has ended");
	enter(9, 8);
	is(last.pid, 9, "the next owner of a thread's number may be of another process");
	trace__free(t);
}

static void test_first_thread_ends(void)
{
	begin(false);
	trace__inner(t, 7, 1);
	enter(7, 7);
	enter(7, 8);
	trace__exit(t, ++clock_ns, 7, 7);
	ok(trace__knows(t, 7), "a process goes on without its first thread");
	enter(7, 8);
	is(last.ns_pid, 1,
	   "a process without its first thread keeps its number in its own namespace");
	ok(t->biases.len, "a process without its first thread keeps its biases");
	trace__exit(t, ++clock_ns, 7, 8);
	ok(!trace__knows(t, 7), "a process without its first thread ends with its last one");
	is(t->inner.len + t->biases.len + t->threads.len, 0,
	   "of a process that ended with its last thread nothing is kept");
	trace__free(t);
}

static void test_inner(void)
{
	begin(false);
	enter(7, 7);
	is(last.ns_pid, 0, "a process in our own namespace has one number");
	trace__fork(t, ++clock_ns, 8, 8, 7, 7);
	trace__inner(t, 8, 1);
	enter(8, 8);
	is(last.ns_pid, 1, "a child in a namespace of its own has a number there");
	enter(8, 9);
	is(last.ns_pid, 1,
	   "a thread of a process in a namespace of its own has the process's number there");
	trace__fork(t, ++clock_ns, 8, 8, 7, 7);
	enter(8, 8);
	is(last.ns_pid, 0, "a new process of the same number has none in a namespace");
	trace__free(t);
}

static void test_exec(bool kernel)
{
	begin(kernel);
	trace__comm(t, 7, 7, "first");
	enter(7, 8);
	enter(7, 9);
	trace__exit(t, ++clock_ns, 7, 7);
	trace__exit(t, ++clock_ns, 7, 9);
	/* thread 8 makes the exec: from now on it is number 7 */
	trace__exec(t, ++clock_ns, 7, 7, "next");
	leave(7, 7);
	is(last.type, STEP_RETURN, "behind an exec a return is shown");
	is(last.has_duration, kernel,
	   kernel ? "the kernel's call goes on under the first thread's number"
		  : "the program's call is gone");
	is_str(last_comm, "next", "behind an exec the name is the new program's");
	ok(trace__knows(t, 7), "behind an exec the process lives");
	trace__exit(t, ++clock_ns, 7, 7);
	if (!kernel)
		is(t->threads.len + t->processes.len, 0,
		   "behind an exec none of its threads is left");
	trace__free(t);
}

/* The kernel's functions run on after the event of a thread's end. */
static void test_kernel_exit(void)
{
	unsigned strangers = 0;

	begin(true);
	for (uint32_t tid = 8; tid < 8 + 4 * ENDED; tid++) {
		trace__comm(t, tid, tid, "short");
		trace__exit(t, ++clock_ns, tid, tid);
		enter(tid, tid);
		strangers += strcmp(last_comm, "prog") && strcmp(last_comm, "short");
	}
	is(strangers, 0, "a kernel call behind its thread's end knows whose it is");
	ok(t->threads.len <= ENDED,
	   "no more ended threads are kept than may still run in the kernel");
	trace__free(t);
}

static void add_up(void *ctx, uint32_t pid, uint32_t tid)
{
	*(uint64_t *)ctx += pid * 1000 + tid;
}

static void test_each(void)
{
	uint64_t sum = 0;

	begin(false);
	enter(7, 7);
	enter(8, 9);
	trace__each_thread(t, add_up, &sum);
	is(sum, 15016, "each thread is visited");
	trace__free(t);
}

static void go_over(uint32_t pid, uint32_t tid, uint64_t goroutine)
{
	struct event e = event(0, pid, tid, EVENT_GOROUTINE);

	e.goroutine = goroutine;
	feed(e);
}

static void test_goroutines(void)
{
	begin(false);
	go_over(7, 7, 20);
	enter(7, 7);
	is(last.goroutine, 20, "a goroutine's call has its number");
	go_over(7, 7, 21);
	enter(7, 7);
	is(last.goroutine * 10 + last.depth, 210,
	   "another goroutine's call on the same thread is not within the first one's");
	go_over(7, 8, 20);
	leave(7, 8);
	ok(last.type == STEP_RETURN && last.has_duration && last.tid == 8,
	   "a goroutine returns on another thread than it was called on");
	leave(7, 7);
	ok(last.type == STEP_RETURN && last.goroutine == 21,
	   "a goroutine's call returns on its thread while another one runs elsewhere");
	go_over(7, 8, 0);
	go_over(7, 7, 0);
	is(t->goroutines.len, 0, "goroutines without open calls are forgotten");
	enter(7, 7);
	is(last.goroutine, 0, "a thread that has left its goroutine runs by itself");
	leave(7, 7);
	is(unmatched(), 0, "of goroutines that changed threads each call returned");
	go_over(7, 7, 22);
	enter(7, 7);
	trace__exit(t, ++clock_ns, 7, 8);
	trace__exit(t, ++clock_ns, 7, 7);
	is(t->goroutines.len + t->threads.len, 0, "a process's goroutines end with it");
	is(ended_calls(), 1, "a goroutine's open calls end with its process");
	go_over(7, 7, 30);
	enter(7, 7);
	go_over(8, 8, 30);
	enter(8, 8);
	trace__exit(t, ++clock_ns, 8, 8);
	is(ended_calls(), 2, "a process's end ends its own goroutines only");
	trace__free(t);
}

static void test_many_goroutines(void)
{
	begin(false);
	for (uint64_t i = 1; i < 50000; i++) {
		go_over(7, 7 + i % 3, i);
		enter(7, 7 + i % 3);
		leave(7, 7 + i % 3);
	}
	ok(t->goroutines.len <= 3, "goroutines that come and go take no room");
	is(unmatched(), 0, "of goroutines that come and go each call returned");
	trace__free(t);
}

static uint64_t open_calls(void)
{
	return trace__totals(t)->open_calls;
}

static void test_open_calls(void)
{
	struct event e;

	begin(false);
	enter(7, 7);
	enter(7, 8);
	go_over(8, 9, 20);
	enter(8, 9);
	go_over(8, 9, 0);
	trace__fork(t, ++clock_ns, 10, 10, 7, 7);
	enter(11, 11);
	trace__exit(t, ++clock_ns, 11, 11);
	trace__finish(t);
	is(open_calls(), 3,
	   "calls of threads and goroutines that run when the trace ends are open");
	is(ended_calls(), 1, "a call of a thread that ended before the trace is not open");
	is(unmatched(), 0, "nor is it unmatched");
	trace__free(t);

	begin(false);
	enter(7, 7);
	e = event(RET_1, 7, 7, EVENT_BRANCH);
	e.sp = 0x7100; /* of a caller, whose entry wasn't seen */
	feed(e);
	trace__finish(t);
	is(open_calls(), 0, "a call that the stack pointer has left is not known to be open");
	is(unmatched(), 2, "a call that the stack pointer has left is unmatched");
	trace__free(t);

	begin(true);
	enter(7, 7);
	enter(8, 8);
	trace__exit(t, ++clock_ns, 8, 8);
	trace__finish(t);
	is(open_calls(), 1, "a thread's open call in the kernel is open");
	is(ended_calls(), 1, "an exiting thread's call in the kernel is not: it never returns");
	trace__free(t);
}

/* What is known of a thread ends where recording stops. */
static void test_stop(void)
{
	const struct trace_totals *totals;

	begin(false);
	str__clear(&given);
	enter(7, 7);
	leave(7, 7);
	enter(7, 7);
	enter(7, 8);
	is_str(given.data, "E7 B7 B7 R7= E7+ E8 ", "before recording stops");
	str__clear(&given);
	trace__stop(t, 5000000, NULL);
	trace__stop(t, 6000000, NULL);
	is_str(given.data, "[ ", "a stop is of no thread, and only one");
	ok(!last.pid && last.timed && last.time == 5000000, "it has its time");
	is(open_calls(), 2, "the calls that run are open");
	str__clear(&given);
	trace__start(t, 8000000, 0, NULL);
	leave(7, 7);
	enter(7, 7);
	enter(7, 9);
	leave(7, 8);
	is_str(given.data, "] ?7 B7 B7 R7 E7 E9 ?8 B8 B8 R8 ",
	       "each thread's first event behind it comes after a mark, and no call or time goes on");
	totals = trace__totals(t);
	is(totals->stops, 1, "stops are counted");
	is(totals->stopped_ms, 3, "with their time");
	is(unmatched(), 2, "returns of calls that began before the stop are unmatched");
	str__clear(&given);
	trace__start(t, 9000000, 0, NULL);
	is(trace__totals(t)->stopped_ms, 3,
	   "a part of a trace may begin in a stop, whose length isn't known");
	trace__free(t);

	begin(true);
	enter(7, 7);
	str__clear(&given);
	trace__stop(t, 1, NULL);
	trace__start(t, 2, 0, NULL);
	enter(7, 7);
	is_str(given.data, "[ ] ?7 E7 ", "a thread's calls in the kernel end as well");
	trace__free(t);

	begin(false);
	go_over(7, 7, 100);
	enter(7, 7);
	go_over(7, 7, 101);
	enter(7, 7);
	trace__stop(t, 1, NULL);
	trace__start(t, 2, 0, NULL);
	str__clear(&given);
	leave(7, 7);
	go_over(7, 7, 100);
	leave(7, 7);
	is_str(given.data, "?7 B7 B7 R7 ?7 B7 B7 R7 ", "goroutines are as threads");
	trace__free(t);
	str__free(&given);
}

static void test_mark(void)
{
	begin(false);
	str__clear(&given);
	trace__mark(t, 5, 0, 0, 0, "of none");
	ok(step__is_global(&last) && last.time == 5 && !*last_comm, "a mark of no thread");
	trace__comm(t, 7, 8, "named");
	enter(7, 8);
	trace__mark(t, 5, 7, 8, 9, "mine");
	ok(!step__is_global(&last) && last.pid == 7 && last.tid == 8 && !strcmp(last_comm, "prog"),
	   "a mark of a thread");
	is_str(given.data, "Mof none E8 M8mine ", "marks in their order");
	trace__free(t);
	str__free(&given);
}

int main(void)
{
	test_stop();
	test_mark();
	test_threads_end();
	test_number_again();
	test_first_thread_ends();
	test_inner();
	test_exec(false);
	test_exec(true);
	test_kernel_exit();
	test_each();
	test_goroutines();
	test_many_goroutines();
	test_open_calls();
	return tap__done();
}
