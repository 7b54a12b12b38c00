// SPDX-License-Identifier: BSD-2-Clause
/* Records of copied functions decoded to events: each kind with its words, stack pointers from
 * their low halves, times; which records are refused. */
#include <elf.h>
#include <errno.h>
#include "event/event.h"
#include "plan/plan.h"
#include "tap.h"

enum {
	JCC,
	IJMP,
	RET,
	ENTRY,
	ENTRY_RET,
	ENTRY_JCC,
	WITNESS,
	UPROBE,
	ENTRY_IJMP,
	TESTS,
	ENTRY_TESTS,
	SITES
};

static struct test test;
static struct plan_site sites[SITES] = {
	[JCC] = {.role = ROLE_BRANCH, .kind = BRANCH_JCC},
	[IJMP] = {.role = ROLE_BRANCH, .kind = BRANCH_IJMP},
	[RET] = {.role = ROLE_BRANCH, .kind = BRANCH_RET},
	[ENTRY] = {.role = ROLE_ENTRY, .kind = BRANCH_NONE, .entry = 1},
	[ENTRY_RET] = {.role = ROLE_BRANCH, .kind = BRANCH_RET, .entry = 1},
	[ENTRY_JCC] = {.role = ROLE_BRANCH, .kind = BRANCH_JCC, .entry = 1},
	[WITNESS] = {.role = ROLE_WITNESS, .kind = BRANCH_NONE},
	[UPROBE] = {.role = ROLE_BRANCH, .kind = BRANCH_JCC},
	[ENTRY_IJMP] = {.role = ROLE_BRANCH, .kind = BRANCH_IJMP, .entry = 1},
	[TESTS] = {.role = ROLE_BRANCH, .kind = BRANCH_JCC, .cond = 2, .test = &test},
	[ENTRY_TESTS] =
		{.role = ROLE_BRANCH, .kind = BRANCH_JCC, .entry = 1, .cond = 2, .test = &test},
};
static struct plan plan = {.sites = {sites, SITES, SITES}};

#define SP    0x7ffd00001000ull
#define RSP   4
#define START 1000 /* ns at tick 0; a tick has 10 ns */

static uint64_t to_ns(void *ctx, uint64_t ticks)
{
	return START + 10 * ticks;
}

static struct log_options args_only = {.regs = 1 << 2 | 1 << RSP | 1 << 7}, timed;
static const struct log_clock a_clock = {to_ns, NULL};

static struct log_thread thread_at(uint64_t sp)
{
	return (struct log_thread){
		.pid = 7, .tid = 8, .stacks = {sp}, .time = 50, .until = 1 << 30, .comm = "prog"};
}

static uint64_t word(enum log_kind kind, unsigned lowered, bool taken, uint32_t site, uint64_t sp)
{
	uint32_t low = sp - LOG_LOWERED(lowered) * 8;

	return (uint64_t)low << 32 | LOG_ID(kind, lowered, taken, site);
}

static struct log_thread th;

/* The event of one record; *taken: what the decoder returned. */
static const struct event *decode(struct log_decoder *d, const uint64_t *words, size_t n,
				  int *taken)
{
	const struct event *e;

	*taken = log_decoder__event(d, &th, words, n, &e);
	return e;
}

static bool says(const struct event *e, uint8_t type, uint32_t site, uint64_t sp)
{
	return e && e->type == type && e->site == site && e->sp == sp && e->pid == 7 &&
	       e->tid == 8 && e->cpu == EVENT_NO_CPU;
}

static void test_branches(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	uint64_t w[4] = {word(LOG_BRANCH, 0, true, JCC, SP - 64)};
	const struct event *e;
	int n;

	th = thread_at(SP);
	e = decode(d, w, 1, &n);
	ok(n == 1 && says(e, EVENT_BRANCH, JCC, SP - 64) && e->taken, "a branch that is taken");
	ok(e && e->untimed && e->time == 50, "its time is the last one known, and it is untimed");
	w[0] = word(LOG_BRANCH, 3, false, WITNESS, SP - 128);
	e = decode(d, w, 1, &n);
	ok(n == 1 && says(e, EVENT_BRANCH, WITNESS, SP - 128) && !e->taken,
	   "what the log had lowered the stack pointer by is added");
	w[0] = word(LOG_TARGET, 1, false, IJMP, SP);
	w[1] = 0x1234;
	e = decode(d, w, 2, &n);
	ok(n == 2 && says(e, EVENT_BRANCH, IJMP, SP) && e->has_target && e->target == 0x1234,
	   "an indirect branch has its target");
	w[1] = 0;
	e = decode(d, w, 2, &n);
	ok(n == 2 && e && !e->has_target, "a target that could not be read is not known");
	w[0] = word(LOG_RETURN, 0, false, RET, SP);
	w[1] = 0x1234;
	w[2] = 99;
	w[3] = 40;
	e = decode(d, w, 4, &n);
	ok(n == 4 && says(e, EVENT_BRANCH, RET, SP) && e->has_target && e->target == 0x1234 &&
		   e->has_value && e->value == 99 && !e->untimed && e->time == START + 400,
	   "a ret has its target, its value and its time");
	w[0] = word(LOG_BRANCH, 0, false, JCC, SP);
	e = decode(d, w, 1, &n);
	ok(e && e->untimed && e->time == START + 400, "a branch behind it has its time");
	log_decoder__free(d);
}

/* Sets .test of TESTS, whose branch is jb. */
static void set_test(const char *bytes, size_t len)
{
	if (!plan.arch->test((const uint8_t *)bytes, len, 0x1000, &test))
		exit(99);
}

static bool tells(const struct event *e, uint64_t a, uint64_t b)
{
	return e && e->tested.flags & TESTED && e->tested.value[0] == a && e->tested.value[1] == b;
}

static void test_values(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	uint64_t w[4] = {word(LOG_BRANCH, 0, true, TESTS, SP), 0x123400000010, 0x500000040, 40};
	uint64_t e_words[7];
	const struct event *e;
	int n;

	set_test("\x39\xf7", 2); /* cmp edi, esi */
	th = thread_at(SP);
	e = decode(d, w, 4, &n);
	ok(n == 3 && says(e, EVENT_BRANCH, TESTS, SP) && e->taken && tells(e, 0x10, 0x40),
	   "a branch has what it tests");
	ok(!decode(d, w, 2, &n) && n == -EBADMSG, "values that are cut are refused");
	w[0] = word(LOG_BRANCH, 0, false, TESTS, SP);
	e = decode(d, w, 4, &n);
	ok(n == 3 && e && !e->taken && !e->tested.flags, "what it went against is not told");
	set_test("\x80\xfc\x7f", 3); /* cmp ah, 0x7f */
	w[1] = 0x8042;
	e = decode(d, w, 4, &n);
	ok(n == 2 && tells(e, 0x80, 0x7f), "a constant has no word");
	set_test("\x3b\x37", 2); /* cmp esi, [rdi] */
	w[1] = 3;
	w[2] = 3;
	e = decode(d, w, 4, &n);
	ok(n == 3 && tells(e, 3, 3) && e->tested.flags & TESTED_AGAIN, "memory was read again");
	w[2] = LOG_UNREADABLE;
	e = decode(d, w, 4, &n);
	ok(n == 3 && e && !e->tested.flags, "or could not be read");
	set_test("\x48\x39\xe7", 3); /* cmp rdi, rsp */
	e = decode(d, w, 4, &n);
	ok(n == 1 && e && !e->tested.flags, "or if it is the stack pointer, which logs lower");
	memcpy(e_words,
	       (uint64_t[]){word(LOG_ENTRY, 0, true, ENTRY_TESTS, SP), 41, 0xca11, 0x4000, 22, SP,
			    77},
	       sizeof(e_words));
	set_test("\x39\xd7", 2); /* cmp edi, edx */
	e = decode(d, e_words, 7, &n);
	ok(n == 7 && says(e, EVENT_ENTRY, ENTRY_TESTS, SP) && e->taken && !e->tested.flags,
	   "an entry that is a branch has them by its registers, if it went by them");
	e_words[6] = 21;
	e = decode(d, e_words, 7, &n);
	ok(n == 7 && tells(e, 21, 22), "as it did here");
	set_test("\x39\xf7", 2); /* cmp edi, esi */
	e = decode(d, e_words, 7, &n);
	ok(n == 7 && e && !e->tested.flags, "not by one that was not recorded");
	log_decoder__free(d);
	d = log_decoder__new(&plan, &(struct log_options){.timed = true}, a_clock);
	th = thread_at(SP);
	set_test("\x39\xf7", 2);
	w[0] = word(LOG_BRANCH, 0, true, TESTS, SP);
	w[2] = 0x40;
	w[1] = 1;
	e = decode(d, w, 4, &n);
	ok(n == 4 && tells(e, 1, 0x40) && !e->untimed && e->time == START + 400,
	   "the time is behind the values");
	ok(!decode(d, w, 3, &n) && n == -EBADMSG, "a time that is cut is refused");
	log_decoder__free(d);
}

/* Behind the registers: a number, and so many callers. */
static void test_callers(void)
{
	struct log_options with = args_only;
	struct log_decoder *d;
	uint64_t w[16] = {word(LOG_ENTRY, 0, false, ENTRY, SP),
			  40,
			  0xca11,
			  0x4000,
			  22,
			  SP,
			  77,
			  2,
			  0xca12,
			  0xca13};
	const struct event *e;
	struct logged logged;
	int n;

	with.callers = true;
	d = log_decoder__new(&plan, &with, a_clock);
	th = thread_at(0);
	e = decode(d, w, 16, &n);
	ok(n == 10 && e && e->entry->nstack == 4 && e->entry->stack[0] == 0x4000 &&
		   e->entry->stack[1] == 0xca11 && e->entry->stack[2] == 0xca12 &&
		   e->entry->stack[3] == 0xca13,
	   "an entry has its instruction, its caller and theirs");
	ok(!decode(d, w, 9, &n) && n == -EBADMSG, "callers that are cut are refused");
	ok(!decode(d, w, 7, &n) && n == -EBADMSG, "so is their number");
	w[7] = LOG_CALLERS + 1;
	ok(!decode(d, w, 16, &n) && n == -EBADMSG, "and one that is too large");
	ok(!log_decoder__id(d, (uint32_t)w[0], &logged), "its size does not follow from its id");
	log_decoder__free(d);
}

static void test_entries(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	uint64_t w[9] = {
		word(LOG_ENTRY, 2, false, ENTRY, SP + 8), 40, 0xca11, 0x4000, 22, SP + 8, 77};
	const struct event *e;
	int n;

	th = thread_at(0);
	e = decode(d, w, 7, &n);
	ok(n == 7 && says(e, EVENT_ENTRY, ENTRY, SP + 8) && e->time == START + 400 && !e->untimed,
	   "an entry tells the whole stack pointer");
	ok(e && e->entry->ip == 0x4000 && e->entry->caller == 0xca11 &&
		   !strcmp(e->entry->comm, "prog") && e->entry->regs[2] == 22 &&
		   e->entry->regs[RSP] == SP + 8 && e->entry->regs[7] == 77,
	   "and its caller and registers");
	w[5] -= LOG_LOWERED(2) * 8;
	th = thread_at(0);
	e = decode(d, w, 7, &n);
	ok(e && e->sp == SP + 8 && e->entry->regs[RSP] == SP + 8,
	   "a register that was recorded when it had been lowered is corrected");
	ok(th.stacks[0] == SP + 8, "the next record begins from there");
	memcpy(w,
	       (uint64_t[]){word(LOG_ENTRY, 0, false, ENTRY_RET, SP), 41, 0xca11, 0x4000, 0xca11, 5,
			    22, SP, 77},
	       sizeof(w));
	e = decode(d, w, 9, &n);
	ok(n == 9 && says(e, EVENT_ENTRY, ENTRY_RET, SP) && e->has_target && e->target == 0xca11 &&
		   e->has_value && e->value == 5 && e->entry->regs[7] == 77,
	   "an entry that is a ret");
	w[0] = word(LOG_ENTRY, 0, false, ENTRY_IJMP, SP);
	e = decode(d, w, 9, &n);
	ok(n == 9 && e && e->has_target && !e->has_value, "an entry that is an indirect jump");
	w[0] = word(LOG_ENTRY, 0, true, ENTRY_JCC, SP);
	e = decode(d, w, 7, &n);
	ok(n == 7 && e && e->taken && !e->has_target && e->entry->regs[2] == 0xca11,
	   "an entry that is a conditional branch");
	log_decoder__free(d);
}

/* A handler on an alternate stack, and back. */
static void visit(uint64_t alt, const char *what)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	uint64_t w[7] = {word(LOG_ENTRY, 0, false, ENTRY, alt), 40, 0xca11, 0x4000, 22, alt, 77};
	const struct event *e;
	int n;

	th = thread_at(SP);
	e = decode(d, w, 7, &n);
	ok(e && e->sp == alt, "%s: an entry on another stack", what);
	w[0] = word(LOG_BRANCH, 0, false, JCC, alt - 64);
	e = decode(d, w, 1, &n);
	ok(e && e->sp == alt - 64, "%s: a branch there", what);
	w[0] = word(LOG_BRANCH, 0, false, JCC, SP - 64);
	e = decode(d, w, 1, &n);
	ok(e && e->sp == SP - 64, "%s: a branch back on the first stack", what);
	w[0] = word(LOG_BRANCH, 0, false, JCC, alt - 32);
	e = decode(d, w, 1, &n);
	ok(e && e->sp == alt - 32, "%s: and on the other one again", what);
	log_decoder__free(d);
}

static void test_stacks(void)
{
	const uint64_t high = 0x5555ull << 32, low = SP & UINT32_MAX;

	visit(0x555555560000ull, "a stack somewhere");
	visit(high | (low + (1 << 20)), "its low half is a MB above the first one's");
	visit(high | (low - (64 << 10)), "its low half is 64 KB below the first one's");
}

/* A thread whose own stack's low half is near that of the goroutines' stacks, as without address
 * space randomization: 0x7fffffffe000 and 0xc000000000. */
static void test_goroutines(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	const uint64_t own = 0x7fffffffd000ull, low = 0xc000040000ull, high = low + 0x8000;
	uint64_t w[5] = {LOG_ID(LOG_GOROUTINE, 0, 0, 0), 40, 18, low, high};
	const struct event *e;
	int n;

	th = thread_at(own);
	decode(d, w, 5, &n);
	w[0] = word(LOG_BRANCH, 0, false, JCC, high - 64);
	e = decode(d, w, 1, &n);
	ok(e && e->goroutine == 18 && e->sp == (uint64_t)-64, "a branch on a goroutine's stack");
	w[0] = LOG_ID(LOG_GOROUTINE, 0, 0, 0);
	w[2] = w[3] = w[4] = 0;
	decode(d, w, 5, &n);
	w[0] = word(LOG_BRANCH, 0, false, JCC, own - 64);
	e = decode(d, w, 1, &n);
	ok(e && !e->goroutine && e->sp == own - 64, "and back on the thread's own");
	log_decoder__free(d);
}

/* Stack pointers near a multiple of 4 GiB, and far steps. */
static void test_stack(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	const uint64_t edge = 0x7f0500000000ull;
	uint64_t w = word(LOG_BRANCH, 0, false, JCC, edge - 16);
	const struct event *e;
	int n;

	th = thread_at(edge + 32);
	e = decode(d, &w, 1, &n);
	ok(e && e->sp == edge - 16, "a stack pointer below a multiple of 4 GiB");
	w = word(LOG_BRANCH, 0, false, JCC, edge + 8);
	e = decode(d, &w, 1, &n);
	ok(e && e->sp == edge + 8, "and back above it");
	w = word(LOG_BRANCH, 4, false, JCC, edge + 8);
	e = decode(d, &w, 1, &n);
	ok(e && e->sp == edge + 8, "lowered below it by the log alone");
	w = word(LOG_BRANCH, 0, false, JCC, edge + (1u << 30));
	e = decode(d, &w, 1, &n);
	ok(e && e->sp == edge + (1u << 30), "a step of 1 GiB");
	log_decoder__free(d);
}

static void test_times(void)
{
	struct log_decoder *d;
	uint64_t w[4] = {word(LOG_BRANCH, 0, false, JCC, SP), 20};
	const struct event *e;
	int n;

	timed = (struct log_options){.timed = true};
	d = log_decoder__new(&plan, &timed, a_clock);
	th = thread_at(SP);
	e = decode(d, w, 2, &n);
	ok(n == 2 && e && !e->untimed && e->time == START + 200, "a branch with its time");
	w[0] = word(LOG_TARGET, 0, false, IJMP, SP);
	w[1] = 1;
	w[2] = 10;
	e = decode(d, w, 3, &n);
	ok(n == 3 && e && e->time == START + 200, "time doesn't go back");
	w[2] = 1ull << 60;
	e = decode(d, w, 3, &n);
	ok(e && e->time == th.until, "nor beyond when the log was read");
	th = thread_at(SP);
	th.after = 700;
	w[2] = 0;
	e = decode(d, w, 3, &n);
	ok(n == 3 && e && e->untimed && e->time == 700,
	   "a time of 0 is none: not before what was read earlier");
	is(log_decoder__look(d, w, 3, &w[1]), 3, "it is a record as others are");
	is(w[1], 0, "without a time");
	log_decoder__free(d);
}

/* Words whose events nobody wants. */
static void test_left_out(struct log_decoder *without)
{
	struct log_decoder *with = log_decoder__new(&plan, &args_only, a_clock);
	const uint64_t w[] = {word(LOG_BRANCH, 0, true, JCC, SP),
			      word(LOG_RETURN, 0, false, RET, SP),
			      1,
			      2,
			      3,
			      word(LOG_GOROUTINE, 0, false, 0, SP),
			      1,
			      2,
			      3,
			      4,
			      word(LOG_LOST, 0, false, 0, SP),
			      100,
			      word(LOG_TARGET, 1, false, IJMP, SP),
			      0x1234,
			      word(LOG_END, 0, false, 0, SP),
			      7,
			      8};

	is(log_decoder__hits(without, w, ARRAY_SIZE(w)), 103, "so many hits are left out");
	is(log_decoder__hits(without, w, 1), 1, "of the first record one");
	is(log_decoder__hits(without, w, 4), 2, "a record that is cut is one, too");
	is(log_decoder__hits(without, w, 0), 0, "none of nothing");
	is(log_decoder__hits(with, w, ARRAY_SIZE(w)), 1, "with witnesses one is known to be");
	log_decoder__free(with);
}

static void test_losses(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);
	uint64_t w[2] = {word(LOG_LOST, 0, false, 0, SP), 100};
	const struct event *e;
	int n;

	th = thread_at(SP);
	e = decode(d, w, 2, &n);
	ok(n == 2 && e && e->type == EVENT_LOST && e->count == 1,
	   "with witnesses, of 100 records one event is known to be missing");
	log_decoder__free(d);
	sites[WITNESS].probe = PROBE_NONE;
	d = log_decoder__new(&plan, &args_only, a_clock);
	e = decode(d, w, 2, &n);
	ok(e && e->count == 100, "without them, 100");
	sites[WITNESS].probe = PROBE_INLINE;
	test_left_out(d);
	w[0] = word(LOG_END, 0, false, 0, SP);
	e = decode(d, w, 2, &n);
	ok(!n && !e, "the end of a segment is no event");
	log_decoder__free(d);
}

static void refuses(struct log_decoder *d, uint64_t first, size_t words, const char *what)
{
	uint64_t w[8] = {first, 1, 2, 3, 4, 5, 6, 7};
	int n;

	th = thread_at(SP);
	ok(!decode(d, w, words, &n) && n == -EBADMSG && th.stacks[0] == SP, "%s is refused", what);
}

static void test_refused(void)
{
	struct log_decoder *d = log_decoder__new(&plan, &args_only, a_clock);

	refuses(d, 0, 8, "a word that was never written");
	refuses(d, word(LOG_KINDS, 0, 0, JCC, SP), 8, "an unknown kind");
	refuses(d, word(LOG_BRANCH, 0, 0, SITES, SP), 8, "a site that the plan doesn't have");
	refuses(d, word(LOG_BRANCH, 0, 0, UPROBE, SP), 8, "a site that isn't logged");
	refuses(d, word(LOG_BRANCH, 0, 0, RET, SP), 8, "a ret as a branch");
	refuses(d, word(LOG_RETURN, 0, 0, JCC, SP), 8, "a branch as a ret");
	refuses(d, word(LOG_ENTRY, 0, 0, JCC, SP), 8, "a branch as an entry");
	refuses(d, word(LOG_BRANCH, 0, 0, ENTRY_JCC, SP), 8, "an entry as a branch");
	refuses(d, word(LOG_ENTRY, 0, 0, ENTRY, SP), 6, "an entry that is cut");
	refuses(d, word(LOG_LOST, 0, 0, 0, SP), 1, "a loss that is cut");
	refuses(d, word(LOG_BRANCH, 0, 0, JCC, SP), 0, "nothing");
	log_decoder__free(d);
}

int main(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	for (int i = 0; i < SITES; i++)
		sites[i].probe = i == UPROBE ? PROBE_TRAP : PROBE_INLINE;
	test_branches();
	test_values();
	test_callers();
	test_entries();
	test_stack();
	test_stacks();
	test_goroutines();
	test_times();
	test_losses();
	test_refused();
	return tap__done();
}
