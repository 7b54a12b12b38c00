// SPDX-License-Identifier: BSD-2-Clause
/* The text format, line by line, compared with its expected output. */
#include "output_fixture.h"

static struct output_options options;

/* Steps with the options of the moment render as want. */
#define shows(want, what, ...) fixture_shows("text", &options, want, what, __VA_ARGS__)

#define LEFT "   0.000012345 ls-7          "
#define LATE "               ls-7          "

static void test_entry(void)
{
	struct step e = fixture_entry();

	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n",
	      "an entry shows the argument registers, in the convention's order", e);
	e.has_since = true;
	e.since_entry = 1250;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  +1.2us since last\n",
	      "an entry shows the time since the function's last", e);
	e.timed = false;
	e.has_since = false;
	shows(LATE "malloc(rdi=0x18, rsi=0x0)\n",
	      "an entry without time claims not to be the first", e);
	e.regs = NULL;
	shows(LATE "malloc(...)\n", "an entry without recorded registers shows dots", e);
	e = fixture_entry();
	e.at.symbol = NULL;
	shows(LEFT "0x98580(rdi=0x18, rsi=0x0)  first entry\n",
	      "a function without symbol is named by its address", e);
}

static void test_named(void)
{
	const struct location frames[] = {fixture_at(0x25), fixture_main()};
	struct event_named many = fixture_event;
	struct step n = fixture_step(STEP_NAMED, SITE_ENTRY);

	shows(LEFT "  sched:sched_switch comm=\"ls\"\" prio=-5 addr=0x1234 ids=[7, 264] "
		   "file=\"/etc\" busy=true raw=ab00cd\n",
	      "a named event shows its fields by name and type, but for those that it lacks", n);
	many.count = 3;
	many.len = 0;
	n.named = &many;
	n.has_at = true;
	n.at = fixture_at(0x25);
	n.depth = 1;
	n.stack = frames;
	n.nstack = 2;
	n.stack_end = STACK_LIMIT;
	shows(LEFT "    sched:sched_switch 3 times   at malloc+0x25\n"
		   "                                 > malloc+0x25\n"
		   "                                 > main+0x24 [ls]\n"
		   "                                 > -- and more callers --\n",
	      "one that stands for several says so, where the thread was and by which calls", n);
}

static void test_go(void)
{
	struct step e = fixture_entry(), r = fixture_return();

	r.has_duration = false;
	fixture_functions[0].flags = FUNCTION_GO_ARGS;
	shows(LEFT "malloc(rax=0xa0, rbx=0xa3)  first entry\n",
	      "a Go function's arguments are shown by Go's convention", e);
	options.regs = 1 << 7;
	shows(LEFT "malloc(rdi=0x18)  first entry\n",
	      "a Go function's entry shows the registers that -r names", e);
	options.regs = 0;
	fixture_functions[0].flags = FUNCTION_NO_ARGS;
	shows(LEFT "malloc(...)  first entry\n",
	      "arguments that are not in registers are shown as dots", e);
	shows(LEFT "malloc returns ?\n", "a result that is not in a register is shown as ?", r);
	fixture_functions[0].flags = 0;
	e.goroutine = 18;
	shows("   0.000012345 ls-7 g18      malloc(rdi=0x18, rsi=0x0)  first entry\n",
	      "the goroutine's number stands behind the thread's", e);
	e.goroutine = 0xc000006000 | GOROUTINE_AT;
	shows("   0.000012345 ls-7 g0xc000006000  malloc(rdi=0x18, rsi=0x0)  first entry\n",
	      "a goroutine whose number is unknown has its address behind the thread's number", e);
}

static void test_regs(void)
{
	struct step e = fixture_entry();
	const uint64_t args[6] = {1, 2, 3, 0, 0xffffffffffffffff, 6};

	options.show_regs = false;
	shows(LEFT "malloc(...)  first entry\n", "-r none shows no registers", e);
	options.show_regs = true;
	options.regs = 1 << 0 | 1 << 17;
	shows(LEFT "malloc(rax=0xa0, flags=0x246)  first entry\n",
	      "-r rax,flags shows these two registers", e);
	e.syscall_args = args;
	e.nsyscall_args = 6;
	shows(LEFT "malloc(0x1, 0x2, 0x3, 0x0, 0xffffffffffffffff, 0x6)  rax=0xa0, flags=0x246"
		   "  first entry\n",
	      "a syscall shows its arguments and the registers that -r names", e);
	options.regs = ~0ull << 18;
	e.syscall_args = NULL;
	shows(LEFT "malloc(...)  first entry\n",
	      "register numbers beyond the architecture's show nothing", e);
	options.regs = 0;
	e.syscall_args = args;
	e.nsyscall_args = 6;
	shows(LEFT "malloc(0x1, 0x2, 0x3, 0x0, 0xffffffffffffffff, 0x6)  first entry\n",
	      "a syscall's arguments stand for the argument registers", e);
	e.interrupt = IN_SOFTIRQ;
	shows(LEFT "[softirq] malloc(0x1, 0x2, 0x3, 0x0, 0xffffffffffffffff, 0x6)  first entry\n",
	      "an entry in a softirq is marked", e);
	e.interrupt = 0;
	e.nsyscall_args = 2;
	shows(LEFT "malloc(0x1, 0x2)  first entry\n", "a syscall shows as many arguments as it has",
	      e);
	e.nsyscall_args = 0;
	shows(LEFT "malloc()  first entry\n", "a syscall without arguments shows none", e);
}

static void test_few_registers(void)
{
	struct arch small = fixture_arch;

	small.nregs = 8;
	options.regs = ~0ull;
	fixture_plan.arch = &small;
	shows(LEFT "malloc(rax=0xa0, rcx=0xa1, rdx=0xa2, rbx=0xa3, rsp=0xa4, rbp=0xa5, rsi=0x0, "
		   "rdi=0x18)  first entry\n",
	      "-r all shows all registers that the architecture has", fixture_entry());
	fixture_plan.arch = &fixture_arch;
	options.regs = 0;
}

static void test_branches(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x50));

	shows(LEFT "  malloc+0x25  jne  taken -> malloc+0x50\n",
	      "a conditional branch says that it was taken", b);
	b = fixture_branch(SITE_JNE, false, fixture_at(0x27));
	shows(LEFT "  malloc+0x25  jne  not taken -> malloc+0x27\n",
	      "a conditional branch says that it was not taken", b);
	b = fixture_branch(SITE_LOOP, true, fixture_at(0x50));
	shows(LEFT "  malloc+0x27  jrcxz  taken -> malloc+0x50\n",
	      "a loop instruction says that it was taken", b);
	b = fixture_branch(SITE_CALL, false, fixture_at(0));
	shows(LEFT "  malloc+0x30  call  -> malloc+0x0\n", "a call is neither taken nor not", b);
	b = fixture_branch(SITE_RET, false, fixture_main());
	shows(LEFT "  malloc+0x40  ret  -> main+0x24 [ls]\n",
	      "a target in another object has that object's name", b);
	b = fixture_branch(SITE_JMP, false, fixture_at(0x50));
	b.timed = false;
	b.implied = true;
	shows(LATE "  malloc+0x29  jmp  -> malloc+0x50\n", "an implied branch has no time", b);
}

static void test_targets(void)
{
	struct step b = fixture_branch(SITE_ICALL, false, fixture_main());

	b.to.symbol = NULL;
	shows(LEFT "  malloc+0x38  call  -> 0x4444 [ls]\n",
	      "a target without symbol is named by its address", b);
	b.to = (struct location){.addr = 0x7fff1000};
	shows(LEFT "  malloc+0x38  call  -> 0x7fff1000 [anonymous]\n",
	      "a target in anonymous memory is named by its running address", b);
	b.to_known = false;
	shows(LEFT "  malloc+0x38  call  -> ?\n", "an unknown target is shown as ?", b);
}

static void test_return(void)
{
	struct step r = fixture_return();

	shows(LEFT "malloc returns 0x5581a2c0  1.2us\n", "a return shows its value and duration",
	      r);
	r.value = -2;
	shows(LEFT "malloc returns -2  1.2us\n", "a small negative number is one", r);
	r.value = -4095;
	shows(LEFT "malloc returns -4095  1.2us\n", "the smallest error is, too", r);
	r.value = -4096;
	shows(LEFT "malloc returns 0xfffffffffffff000  1.2us\n", "others are in hex", r);
	r.value = 0xfffffffe;
	shows(LEFT "malloc returns 0xfffffffe  1.2us\n", "half a register has no sign", r);
	r.value = 0x5581a2c0;
	r.has_tracing = true;
	r.tracing = 400;
	r.noise = 449;
	shows(LEFT "malloc returns 0x5581a2c0  1.2us, net 899ns\n",
	      "a return shows its duration without tracing", r);
	r.noise = 450;
	shows(LEFT "malloc returns 0x5581a2c0  1.2us\n", "but not if it is below the noise", r);
	r.has_value = r.has_tracing = false;
	shows(LEFT "malloc returns ?  1.2us\n", "an unknown value is shown as ?", r);
	r.timed = false;
	shows(LATE "malloc returns ?\n", "an untimed return shows no duration", r);
	r.timed = true;
	r.has_duration = false;
	shows(LEFT "malloc returns ?\n",
	      "a return of a call whose entry was not seen shows no duration", r);
}

static void test_gaps(void)
{
	struct step s = fixture_step(STEP_LOST, SITE_ENTRY);

	s.count = 17;
	s.timed = false;
	shows(LATE "-- 17 events lost here --\n", "a loss stands where it happened", s);
	s.count = 1;
	shows(LATE "-- 1 event lost here --\n", "a loss of one event is in the singular", s);
	s.at_least = true;
	shows(LATE "-- at least 1 event lost here --\n",
	      "a loss whose count is a bound says 'at least'", s);
	s.type = STEP_UNKNOWN;
	shows(LATE "-- path unknown --\n", "an unknown path has a line", s);
	s = fixture_step(STEP_FORK, SITE_ENTRY);
	shows(LEFT "-- fork --\n", "a fork has a line", s);
	s.type = STEP_EXEC;
	shows(LEFT "-- exec --\n", "an exec has a line", s);
	s.type = STEP_EXIT;
	shows(LEFT "-- exit --\n", "an exit has a line", s);
}

static void test_tree(void)
{
	struct step e = fixture_entry(), b = fixture_branch(SITE_JNE, true, fixture_at(0x50));
	struct step inner = b, deep = b;

	inner.depth = 2;
	deep.depth = 50000;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n" LEFT
		   "  malloc+0x25  jne  taken -> malloc+0x50\n" LEFT
		   "      malloc+0x25  jne  taken -> malloc+0x50\n",
	      "each level of calls is indented by two more", e, b, inner);
	shows(LEFT "                                                                          "
		   "        [50000] malloc+0x25  jne  taken -> malloc+0x50\n",
	      "a line of deep recursion has its depth as a number", deep);
}

static void test_stack(void)
{
	const struct location frames[] = {fixture_main(), fixture_at(4), {.addr = 0x1234}};
	struct step e = fixture_entry();

	e.stack = frames;
	e.nstack = ARRAY_SIZE(frames);
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n"
		   "                               > main+0x24 [ls]\n"
		   "                               > malloc+0x4\n"
		   "                               > 0x1234 [anonymous]\n",
	      "-k shows each frame in a line below the entry", e);
	e.nstack = 1;
	e.stack_end = STACK_NO_POINTER;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n"
		   "                               > main+0x24 [ls]\n"
		   "                               > -- no frame pointer leads on --\n",
	      "a stack that is not whole says why", e);
	e.nstack = 0;
	e.stack_end = STACK_WHOLE;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n",
	      "a stack that could not be read has no lines", e);
}

static void test_times(void)
{
	struct step a = fixture_branch(SITE_JNE, true, fixture_at(0x50)), b = a, late = a,
		    other = a;
	static const char tail[] = "ls-7            malloc+0x25  jne  taken -> malloc+0x50\n";
	struct str want = {0};

	b.time += 1500;
	late.timed = false;
	other.tid = 8;
	options.time = TIME_NONE;
	shows(tail, "-T none shows no times", a);
	options.time = TIME_DELTA;
	str__printf(&want,
		    "              - %s                %s   +0.000001500 %s"
		    "              - ls-8            malloc+0x25  jne  taken -> malloc+0x50\n",
		    tail, tail, tail);
	shows(want.data, "-T delta shows the time since the thread's line before", a, late, b,
	      other);
	options.time = TIME_ABS;
	options.realtime_offset = 1732104000ll * 1000000000; /* 2024-11-20 12:00:00 UTC */
	str__clear(&want);
	str__printf(&want, "12:00:01.000012345 %s", tail);
	shows(want.data, "-T abs shows the time of day", a);
	options.utc_offset = -(12 * 3600 + 2);
	str__clear(&want);
	str__printf(&want, "23:59:59.000012345 %s", tail);
	shows(want.data, "-T abs shows the time of day in the local zone, across midnight", a);
	options = fixture_options;
	a.time = 999999999;
	b.time = 12345678901234567890ull;
	str__clear(&want);
	str__printf(&want, "  -0.000000001 %s", tail);
	shows(want.data, "an event before the start has a negative time", a);
	a.time = 1000000000 + 123456ull * 1000000000 + 1;
	str__clear(&want);
	str__printf(&want, "123456.000000001 %s", tail);
	shows(want.data, "a long time takes the room it needs", a);
	str__free(&want);
}

static void test_delta_exit(void)
{
	struct step a = fixture_branch(SITE_JNE, true, fixture_at(0x50)), end = a;

	end.type = STEP_EXIT;
	end.time += 1;
	options.time = TIME_DELTA;
	shows("              - ls-7            malloc+0x25  jne  taken -> malloc+0x50\n"
	      "   +0.000000001 ls-7          -- exit --\n"
	      "              - ls-7            malloc+0x25  jne  taken -> malloc+0x50\n",
	      "-T delta starts afresh for a new thread under an old number", a, end, a);
	options = fixture_options;
}

static void test_global(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x50)), later = b;
	struct step mark = {.type = STEP_MARK,
			    .timed = true,
			    .time = 1000012346,
			    .site = NO_SITE,
			    .comm = "",
			    .text = "a\n\033b"};
	struct step stop = mark, start = mark, own = b;

	stop.type = STEP_STOP;
	start.type = STEP_START;
	stop.text = start.text = NULL;
	own.type = STEP_MARK;
	own.text = "mine";
	own.count = -3;
	later.time += 100;
	shows("   0.000012346               -- recording stops --\n"
	      "   0.000012346               -- recording starts --\n" LEFT
	      "  malloc+0x25  jne  taken -> malloc+0x50\n"
	      "   0.000012346               -- mark: a\\x0a\\x1bb --\n"
	      "   0.000012445 ls-7            malloc+0x25  jne  taken -> malloc+0x50\n" LEFT
	      "-- mark: mine = -3 --\n",
	      "what is of no thread has a line with its time", stop, start, b, mark, later, own);
	stop.text = start.text = "x\n()";
	start.count = 1500;
	shows("   0.000012346               -- recording stops at x\\x0a() --\n"
	      "   0.000012346               -- recording starts, 1.5us after x\\x0a() --\n",
	      "what asked for a stop or a start is told, and how long that was ago", stop, start);
	options.fold = true;
	shows(LEFT "  malloc+0x25  jne  taken -> malloc+0x50  2 times in 0ns\n"
		   "   0.000012346               -- mark: a\\x0a\\x1bb --\n" LEFT
		   "  malloc+0x25  jne  taken -> malloc+0x50  2 times in 0ns\n",
	      "nothing is folded across it", b, b, mark, b, b);
	options.fold = false;
	options.time = TIME_DELTA;
	shows("                              -- mark: a\\x0a\\x1bb --\n"
	      "              - ls-7            malloc+0x25  jne  taken -> malloc+0x50\n",
	      "-T delta has no time for what is of no thread", mark, b);
	options = fixture_options;
}

static void test_delta_idle(void)
{
	struct step a = fixture_branch(SITE_JNE, true, fixture_at(0x50)), b;

	a.tid = 0;
	a.comm = "";
	b = a;
	b.cpu = 2;
	options.time = TIME_DELTA;
	shows("              - 0               malloc+0x25  jne  taken -> malloc+0x50\n"
	      "              - 0               malloc+0x25  jne  taken -> malloc+0x50\n"
	      "   +0.000000000 0               malloc+0x25  jne  taken -> malloc+0x50\n",
	      "-T delta takes each CPU's idle thread for a thread of its own", a, b, a);
	options = fixture_options;
}

static const struct {
	uint64_t ns;
	const char *text;
} durations[] = {
	{0, "0ns"},
	{999, "999ns"},
	{1000, "1.0us"},
	{999999, "999.9us"},
	{1000000, "1.0ms"},
	{15999999, "15.9ms"},
	{999999999, "999.9ms"},
	{1000000000, "1.0s"},
	{59999999999, "59.9s"},
	{60000000000, "1m00s"},
	{3599999999999, "59m59s"},
	{3600000000000, "1h00m"},
	{UINT64_MAX, "5124095h34m"},
};

static void test_durations(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		struct step r = fixture_return();
		autofree char *got = NULL, *want = NULL;

		r.duration = durations[i].ns;
		got = fixture_render("text", &options, &r, 1);
		want = xasprintf(LEFT "malloc returns 0x5581a2c0  %s\n", durations[i].text);
		is_str(got, want, "%llu ns is shown as %s", (unsigned long long)durations[i].ns,
		       durations[i].text);
	}
}

static void test_threads(void)
{
	struct step a = fixture_branch(SITE_JNE, true, fixture_at(0x50)), b = a, hostile = a;

	options.time = TIME_NONE;
	b.comm = "kworker/u16:12";
	b.tid = 4194303;
	shows("kworker/u16:12-4194303    malloc+0x25  jne  taken -> malloc+0x50\n"
	      "ls-7                      malloc+0x25  jne  taken -> malloc+0x50\n",
	      "the thread column stays as wide as it had to be", b, a);
	hostile.comm = "a\n\033[2J\xff";
	shows("a\\x0a\\x1b[2J\\xff-7    malloc+0x25  jne  taken -> malloc+0x50\n",
	      "control characters of a thread's name are escaped", hostile);
	hostile.comm = "na\xc3\xafve";
	shows("na\xc3\xafve-7         malloc+0x25  jne  taken -> malloc+0x50\n",
	      "the width of a thread's name is counted in characters", hostile);
	options = fixture_options;
}

static void test_hostile_names(void)
{
	struct step b = fixture_branch(SITE_CALL, false, fixture_main()), e = fixture_entry();

	e.at.symbol = b.at.symbol = b.to.symbol = "f\r\033]0;x\007\xc2\x9b";
	b.to.object = "/tmp/\n/\033[31m";
	shows(LEFT "f\\x0d\\x1b]0;x\\x07\\xc2\\x9b(rdi=0x18, rsi=0x0)  first entry\n" LEFT
		   "  f\\x0d\\x1b]0;x\\x07\\xc2\\x9b+0x30  call  -> "
		   "f\\x0d\\x1b]0;x\\x07\\xc2\\x9b+0x24 [\\x1b[31m]\n",
	      "control characters of symbols and paths are escaped", e, b);
}

static void test_objects(void)
{
	struct step e = fixture_entry(), b = fixture_branch(SITE_RET, false, fixture_main());
	struct step call = fixture_branch(SITE_CALL, false, fixture_at(0));
	char same[] = LIBC;

	call.to.object = same;
	shows(LEFT "  malloc+0x30  call  -> malloc+0x0\n",
	      "a target in the same object, by its path, has no object's name", call);
	fixture_plan.objects.len = fixture_plan.functions.len = 2;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0) [libc.so.6]  first entry\n",
	      "where several objects are traced, an entry names its own", e);
	fixture_objects[0].kernel = fixture_objects[1].kernel = true;
	shows(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n" LEFT
		   "  malloc+0x40  ret  -> main+0x24\n",
	      "the kernel's symbols are shown without object", e, b);
	fixture_plan.objects.len = fixture_plan.functions.len = 1;
	fixture_objects[0].kernel = fixture_objects[1].kernel = false;
}

#define DIM   "\033[2m"
#define RESET "\033[0m"

static void test_colour(void)
{
	struct step lost = fixture_step(STEP_LOST, SITE_ENTRY);

	lost.count = 2;
	options.color = true;
	shows(DIM LEFT RESET "\033[32mmalloc" RESET "(rdi=0x18, rsi=0x0)" DIM "  first entry" RESET
			     "\n",
	      "an entry is green", fixture_entry());
	shows(DIM LEFT RESET "  malloc+0x25  jne  \033[1mtaken" RESET " -> malloc+0x50\n",
	      "'taken' is bright", fixture_branch(SITE_JNE, true, fixture_at(0x50)));
	shows(DIM LEFT RESET "  malloc+0x25  jne  " DIM "not taken" RESET " -> malloc+0x27\n",
	      "'not taken' is dim", fixture_branch(SITE_JNE, false, fixture_at(0x27)));
	shows(DIM LEFT RESET "\033[36mmalloc returns" RESET " 0x5581a2c0" DIM "  1.2us" RESET "\n",
	      "a return is cyan", fixture_return());
	shows(DIM LEFT RESET "\033[1;31m-- 2 events lost here --" RESET "\n", "a loss is red",
	      lost);
	options.color = false;
}

int main(void)
{
	options = fixture_options;
	test_entry();
	test_regs();
	test_named();
	test_go();
	test_few_registers();
	test_branches();
	test_targets();
	test_return();
	test_gaps();
	test_tree();
	test_stack();
	test_times();
	test_delta_exit();
	test_delta_idle();
	test_global();
	test_durations();
	test_threads();
	test_hostile_names();
	test_objects();
	test_colour();
	return tap__done();
}
