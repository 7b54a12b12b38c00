// SPDX-License-Identifier: BSD-2-Clause
/* The chrome format event by event: nested slices, instants, names of tracks. */
#include "output_fixture.h"

static struct output_options options;

#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
#define TAIL                                                                                       \
	"\n],\"otherData\":{\"producer\":\"bbtrace\",\"functions\":0,\"probes\":0,\"skipped\":0,"  \
	"\"events\":0,\"lost\":0,\"unmatched_returns\":0,\"unseen_tail_returns\":0,\"unknown\":0,\"undecoded\":0,\"code\":0,\"missed_at_most\":0}}\n"
#define IDS "\"pid\":7,\"tid\":7"
#define NAMES                                                                                      \
	"\n{\"ph\":\"M\"," IDS ",\"name\":\"thread_name\",\"args\":{\"name\":\"ls\"}},"            \
	"\n{\"ph\":\"M\"," IDS ",\"name\":\"process_name\",\"args\":{\"name\":\"ls\"}}"
#define REGS "\"args\":{\"rdi\":\"0x18\",\"rsi\":\"0x0\"}}"
#define B(ts)                                                                                      \
	",\n{\"ph\":\"B\"," IDS ",\"ts\":" ts ",\"cat\":\"function\",\"name\":\"malloc\"," REGS
#define E(ts, args)                                                                                \
	",\n{\"ph\":\"E\"," IDS ",\"ts\":" ts ",\"name\":\"malloc\",\"args\":{" args "}}"
#define I(ts, cat, name, args)                                                                     \
	",\n{\"ph\":\"i\"," IDS ",\"ts\":" ts ",\"s\":\"t\",\"cat\":\"" cat "\",\"name\":\"" name  \
	"\",\"args\":{" args "}}"

static char *render(const struct step *steps, size_t n)
{
	struct str text = {0};
	struct trace_totals none = {0};
	struct output *o = output__new(output__by_name("chrome"), &options, &fixture_plan,
				       fixture_write, &text);

	for (size_t i = 0; i < n; i++)
		output__step(o, &steps[i]);
	output__end(o, &none);
	output__free(o);
	return text.data;
}

#define shows(want, what, ...)                                                                     \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		autofree char *got_ = render(steps_, ARRAY_SIZE(steps_));                          \
		is_str(got_, HEAD NAMES want TAIL, what);                                          \
	} while (0)

static struct step at(struct step s, uint64_t call, unsigned depth, uint64_t ns)
{
	s.call = call;
	s.depth = depth;
	s.time += ns;
	return s;
}

static void test_calls(void)
{
	struct step e = fixture_entry(), r = fixture_return();

	shows(B("1000012.345") E("1000013.345", "\"value\":\"0x5581a2c0\""),
	      "a call is a slice, with its value at the end", at(e, 1, 0, 0), at(r, 1, 0, 1000));
	shows(B("1000012.345") B("1000012.346") E("1000012.347", "\"value\":\"0x5581a2c0\"")
		      E("1000012.350", "\"value\":\"0x5581a2c0\""),
	      "an inner call is a slice within its caller's", at(e, 1, 0, 0), at(e, 2, 1, 1),
	      at(r, 2, 1, 2), at(r, 1, 0, 5));
	shows(B("1000012.345") B("1000012.346") E("1000012.350", "\"return\":\"not seen\"")
		      E("1000012.350", "\"value\":\"0x5581a2c0\""),
	      "a call left by longjmp ends with its caller", at(e, 1, 0, 0), at(e, 2, 1, 1),
	      at(r, 1, 0, 5));
	shows(B("1000012.345") B("1000012.346") E("1000012.350", "\"return\":\"not seen\"")
		      B("1000012.350") E("1000012.350", "\"return\":\"not seen\"")
			      E("1000012.350", "\"return\":\"not seen\""),
	      "a call ends where another one takes its place, and all open calls end with the trace",
	      at(e, 1, 0, 0), at(e, 2, 1, 1), at(e, 3, 1, 5));
	shows(I("1000012.345", "return", "return of a call whose entry was not seen",
		"\"value\":\"0x5581a2c0\""),
	      "a return without entry is an instant", at(r, 9, 0, 0));
	shows(B("1000012.345") ",\n{\"ph\":\"i\"," IDS ",\"ts\":1000012.346,\"s\":\"t\","
			       "\"cat\":\"entry\",\"name\":\"entry again\"," REGS E(
				       "1000012.349", "\"value\":\"0x5581a2c0\""),
	      "a jump back to the entry begins no second slice", at(e, 1, 0, 0), at(e, 1, 0, 1),
	      at(r, 1, 0, 4));
}

static void test_branches(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x50)), n = b, i = b, c = b;

	shows(I("1000012.345", "branch", "jne taken",
		"\"at\":\"malloc+0x25\",\"vaddr\":\"0x985a5\",\"to\":\"malloc+0x50\",\"taken\":true"),
	      "a branch is an instant", b);
	n.taken = false;
	n.to_known = false;
	shows(I("1000012.345", "branch", "jne not taken",
		"\"at\":\"malloc+0x25\",\"vaddr\":\"0x985a5\",\"taken\":false"),
	      "a branch not taken, without known target, says so", n);
	i.timed = false;
	i.implied = true;
	i.time = 0;
	c = fixture_branch(SITE_CALL, false, fixture_main());
	c.to.symbol = NULL;
	shows(I("1000012.345", "branch", "call",
		"\"at\":\"malloc+0x30\",\"vaddr\":\"0x985b0\",\"to\":\"0x4444\"")
		      I("1000012.345", "branch", "jne taken",
			"\"at\":\"malloc+0x25\",\"vaddr\":\"0x985a5\",\"to\":\"malloc+0x50\",\"taken\":true,"
			"\"implied\":true"),
	      "an implied branch has the time of the step before it", c, i);
}

static void test_marks(void)
{
	struct step lost = fixture_step(STEP_LOST, SITE_ENTRY), exit = lost, unknown = lost;

	lost.count = 17;
	unknown.type = STEP_UNKNOWN;
	exit.type = STEP_EXIT;
	shows(I("1000012.345", "lost", "events lost", "\"count\":17")
		      I("1000012.345", "unknown", "path unknown", ""),
	      "lost events and an unknown path are instants in their place", lost, unknown);
	shows(B("1000012.345") E("1000012.346", "\"return\":\"not seen\"")
		      I("1000012.346", "task", "exit", "") "," NAMES B("1000012.350")
			      E("1000012.350", "\"return\":\"not seen\""),
	      "an exit ends open calls, and the next thread of that number has a name of its own",
	      at(fixture_entry(), 1, 0, 0), at(exit, 0, 0, 1), at(fixture_entry(), 2, 0, 5));
}

#define G(ts, cat, name)                                                                           \
	",\n{\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":" ts ",\"s\":\"g\",\"cat\":\"" cat            \
	"\",\"name\":\"" name "\",\"args\":{}}"

static void test_global(void)
{
	struct step stop = {
		.type = STEP_STOP, .timed = true, .time = 1000013345, .site = NO_SITE, .comm = ""};
	struct step start = stop, mark = stop, own = fixture_step(STEP_MARK, SITE_ENTRY);

	start.type = STEP_START;
	mark.type = STEP_MARK;
	mark.text = "a \"b\"";
	own.text = "mine";
	shows(B("1000012.345") E("1000012.345", "\"return\":\"not seen\"")
		      G("1000013.345", "recording", "recording stops")
			      G("1000013.345", "recording", "recording starts")
				      G("1000013.345", "mark", "a \\\"b\\\"")
					      I("1000012.345", "mark", "mine", "\"number\":\"0\""),
	      "a stop ends all calls where they were seen last; marks are instants of the whole trace, or of their thread",
	      at(fixture_entry(), 1, 0, 0), stop, start, mark, own);
}

static void test_tracks(void)
{
	struct step a = fixture_step(STEP_UNKNOWN, SITE_ENTRY), b = a, idle;
	autofree char *got = NULL;

	b.tid = 8;
	b.comm = "wo\"rk\n";
	idle = at(b, 0, 0, 0);
	idle.pid = idle.tid = 0;
	idle.cpu = 3;
	idle.comm = "";
	got = render((struct step[]){a, b, idle}, 3);
	ok(strstr(got, "{\"ph\":\"M\",\"pid\":7,\"tid\":8,\"name\":\"thread_name\",\"args\":{"
		       "\"name\":\"wo\\\"rk\\u000a\"}}"),
	   "a thread's name is escaped");
	ok(!strstr(got, "\"process_name\",\"args\":{\"name\":\"wo"),
	   "a process has its first thread's name");
	ok(strstr(got, "\"pid\":0,\"tid\":16777219,"), "each CPU's idle thread has a track");
}

static void test_order(void)
{
	struct step a = fixture_step(STEP_UNKNOWN, SITE_ENTRY);

	a.type = STEP_FORK;
	shows(I("1000012.345", "task", "fork", "") I("1000012.345", "task", "fork", ""),
	      "the times of a track never go back", a, at(a, 0, 0, -1));
}

int main(void)
{
	options = fixture_options;
	test_calls();
	test_branches();
	test_marks();
	test_tracks();
	test_global();
	test_order();
	return tap__done();
}
