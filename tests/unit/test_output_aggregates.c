// SPDX-License-Identifier: BSD-2-Clause
/* The formats that aggregate: folded, summary and callgrind byte by byte; the important parts of
 * svg and pprof. */
#include <zlib.h>
#include "stats_fixture.h"

static const struct trace_totals none;

#define RENDER(format, totals, ...)                                                                \
	({                                                                                         \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		fixture_render(format, steps_, ARRAY_SIZE(steps_), totals);                        \
	})
#define shows(format, totals, want, what, ...)                                                     \
	do {                                                                                       \
		struct str got_ = RENDER(format, totals, __VA_ARGS__);                             \
		is_str(got_.data, want, "%s: %s", format, what);                                   \
		str__free(&got_);                                                                  \
	} while (0)

/* main calls work, which calls leaf and jumps to main's start, then main is still open. */
#define STEPS                                                                                      \
	entry(MAIN_ENTRY, 1, 0, 0, 100), branch(MAIN_CALL, 1, 0, true, 0, 0x1100),                 \
		entry(WORK_ENTRY, 2, 1, 1, 110), branch(WORK_JCC, 2, 1, true, 0, 0x1118),          \
		branch(WORK_JCC, 2, 1, false, 0, 0x1112),                                          \
		branch(WORK_ICALL, 2, 1, true, 1, 0x100), entry(LEAF_ENTRY, 3, 2, 2, 120),         \
		branch(LEAF_RET, 3, 2, true, 0, 0x1122), ret(LEAF_RET, 3, 2, 1500, 1380),          \
		branch(WORK_IJMP, 2, 1, true, 0, 0x1138),                                          \
		branch(WORK_IJMP, 2, 1, true, 0, 0x7777), branch(WORK_JMP, 2, 1, true, 0, 0x1000), \
		branch(WORK_RET, 2, 1, true, 0, 0x1015), ret(WORK_RET, 2, 1, 2110, 2000)

static void test_folded(void)
{
	shows("folded", &none,
	      "pro:g;main;work(A<B>&) 620\n"
	      "pro:g;main;work(A<B>&);leaf 1380\n"
	      "# bbtrace: 1 call without return, not timed\n",
	      "each stack has its own ns", STEPS);
	shows("folded:count", &none,
	      "pro:g;main 1\n"
	      "pro:g;main;work(A<B>&) 1\n"
	      "pro:g;main;work(A<B>&);leaf 1\n"
	      "# bbtrace: 1 call without return, not timed\n",
	      "each stack has its calls", STEPS);
	shows("folded:count", &none, "pro:g;leaf 1\n", "without anything missing there is no note",
	      entry(LEAF_ENTRY, 1, 0, 0, 100), ret(LEAF_RET, 1, 0, 101, 1));
	fixture_functions[LEAF].name = "a;b\nc d";
	shows("folded:count", &none, "pro:g;a:b\\x0ac d 1\n", "names can't break a line or a stack",
	      entry(LEAF_ENTRY, 1, 0, 0, 100), ret(LEAF_RET, 1, 0, 101, 1));
	fixture_functions[LEAF].name = "leaf";
}

static void test_summary(void)
{
	const struct trace_totals lost = {.lost = 7, .at_least = 1, .missed = 9};

	shows("summary", &lost,
	      "calls  timed  open   total    self    min    avg    p50    p99    max  branches"
	      "  taken  function\n"
	      "   1+     1+     0  2.0us+  620ns+  2.0us  2.0us  2.0us  2.0us  2.0us        7+"
	      "  50.0%  work(A<B>&)\n"
	      "   1+     1+     0  1.3us+  1.3us+  1.3us  1.3us  1.3us  1.3us  1.3us        1+"
	      "      -  leaf\n"
	      "   1+     0+     1       -       -      -      -      -      -      -        1+"
	      "      -  main\n"
	      "\n"
	      "work(A<B>&), how long its calls took:\n"
	      "     1.0us ..   2.0us  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| 1+\n"
	      "\n"
	      "leaf, how long its calls took:\n"
	      "     1.0us ..   2.0us  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| 1+\n"
	      "\n"
	      "Missing: at least 7 events lost; at most 9 hits missed, of all processes; 1 call "
	      "without return, not timed; every count may be too low.\n",
	      "a lossy trace has a table, histograms, what is missing, and a + at counts that may be too low",
	      STEPS);
	fixture_width = 76;
	shows("summary", &none,
	      "calls  timed  open  total   self    p99    max  branches  taken  function\n"
	      "    1      1     0  1.3us  1.3us  1.3us  1.3us         1      -  leaf\n"
	      "(terminal too narrow: min, avg, p50 omitted)\n"
	      "\n"
	      "leaf, how long its calls took:\n"
	      "     1.0us ..   2.0us  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| 1\n",
	      "on a narrow terminal min, avg and p50 are omitted", entry(LEAF_ENTRY, 1, 0, 0, 100),
	      branch(LEAF_RET, 1, 0, true, 0, 0x1122), ret(LEAF_RET, 1, 0, 1500, 1380));
	fixture_width = 0;
	shows("summary", &none,
	      "calls  timed  open  total  self  min  avg  p50  p99  max  branches  taken  "
	      "function\n",
	      "without calls the table has no rows",
	      {.type = STEP_EXIT, .site = NO_SITE, .function = NO_FUNCTION});
}

#define CALLGRIND_HEAD "# callgrind format\nversion: 1\ncreator: bbtrace " BBTRACE_VERSION "\n"
#define CALLGRIND_EVENTS                                                                           \
	"positions: instr line\nevent: Ns : Nanoseconds\nevent: Branches : Branches "              \
	"executed\nevents: Ns Branches\n"

static void test_callgrind(void)
{
	shows("callgrind", &none,
	      CALLGRIND_HEAD
	      "desc: Missing: 1 call without return, not timed\n" CALLGRIND_EVENTS "\n"
	      "ob=(1) /bin/prog\nfl=(1) ???\nfn=(1) main\n"
	      "0x1000 0 0 0\n"
	      "0x1010 0 0 1\n"
	      "cob=(1)\ncfi=(1)\ncfn=(2) work(A<B>&)\ncalls=1 0x1100 0\n0x1010 0 2000 8\n"
	      "\n"
	      "ob=(1)\nfl=(1)\nfn=(2)\n"
	      "0x1100 0 0 0\n"
	      "0x1110 0 0 2\n"
	      "jcnd=1/2 0x1118 0\n0x1110 0\n"
	      "0x1120 0 10 1\n"
	      "0x1130 0 0 2\n"
	      "jump=1 0x1138 0\n0x1130 0\n"
	      "0x1138 0 0 1\n"
	      "jfn=(1)\njump=1 0x1000 0\n0x1138 0\n"
	      "0x1140 0 610 1\n"
	      "cob=(2) /lib/lib;x.so\ncfi=(1)\ncfn=(3) leaf\ncalls=1 0x100 0\n0x1120 0 1380 1\n"
	      "\n"
	      "ob=(2)\nfl=(1)\nfn=(3)\n"
	      "0x100 0 0 0\n"
	      "0x110 0 1380 1\n"
	      "\ntotals: 2000 9\n",
	      "calls stand at their instruction, with jumps within and between functions", STEPS);
}

/* The call before work's entry was of something else: work's call site is unknown. */
static void test_call_site(void)
{
	struct step through_plt = branch(MAIN_CALL, 1, 0, true, 0, 0x500);
	struct str got;

	got = RENDER("callgrind", &none, entry(MAIN_ENTRY, 1, 0, 0, 100),
		     branch(MAIN_CALL, 1, 0, true, 0, 0x1500), entry(WORK_ENTRY, 2, 1, 1, 110));
	ok(strstr(got.data, "cfn=(2) work(A<B>&)\ncalls=1 0x1100 0\n0x1000 0 0 0\n"),
	   "callgrind: a call whose call site is unknown stands at the caller's start");
	str__free(&got);
	through_plt.to.symbol = "_Z4work@plt";
	got = RENDER("callgrind", &none, entry(MAIN_ENTRY, 1, 0, 0, 100), through_plt,
		     entry(WORK_ENTRY, 2, 1, 1, 110));
	ok(strstr(got.data, "cfn=(2) work(A<B>&)\ncalls=1 0x1100 0\n0x1010 0 0 0\n"),
	   "callgrind: a call through a PLT stub stands at its call site");
	str__free(&got);
}

/* work begins in one file, has inlined code of another file, and jumps to it. */
static void test_lines(void)
{
	static struct plan_line lines[] = {
		{0x1000, 0, 0, 10}, {0x1100, 0, 0, 20}, {0x1118, 0, 1, 7}, {0x1138, 0, 0, 21}};
	static char *files[] = {"a.c", "inl.h"};
	static const char want[] = "ob=(1)\nfl=(2)\nfn=(2)\n"
				   "0x1100 20 0 0\n"
				   "0x1110 20 0 2\n"
				   "jfi=(3) inl.h\njcnd=1/2 0x1118 7\n0x1110 20\n"
				   "fi=(3)\n"
				   "0x1120 7 10 1\n"
				   "0x1130 7 0 2\n"
				   "jfi=(2)\njump=1 0x1138 21\n0x1130 7\n"
				   "fi=(2)\n"
				   "0x1138 21 0 1\n"
				   "jfn=(1)\njump=1 0x1000 10\n0x1138 21\n"
				   "0x1140 21 610 1\n"
				   "fi=(3)\n"
				   "cob=(2) /lib/lib;x.so\ncfi=(1) ???\ncfn=(3) leaf\n"
				   "calls=1 0x100 0\n0x1120 7 1380 1\n";
	struct str got;

	fixture_plan.lines.data = lines;
	fixture_plan.lines.len = ARRAY_SIZE(lines);
	fixture_plan.line_files.data = files;
	fixture_plan.line_files.len = 2;
	got = RENDER("callgrind", &none, STEPS);
	ok(strstr(got.data, "\nob=(1) /bin/prog\nfl=(2) a.c\nfn=(1) main\n0x1000 10 0 0\n"),
	   "callgrind: a function is in the file where it starts");
	ok(strstr(got.data, want), "callgrind: inlined code is in the file that it comes from");
	str__free(&got);
	fixture_plan.lines.len = fixture_plan.line_files.len = 0;
}

static void test_svg(void)
{
	struct str got = RENDER("svg", &none, STEPS);

	ok(!strncmp(got.data, "<?xml version=\"1.0\"", 19), "svg: the output is an XML document");
	ok(strstr(got.data, "<title>work(A&lt;B&gt;&amp;)\n2 µs, 100 %; itself 620 ns; 1 call<"),
	   "svg: a frame shows its name, time, share and calls");
	ok(strstr(got.data, "<title>leaf\n1.38 µs, 69 %; itself 1.38 µs; 1 call<"),
	   "svg: an inner frame shows its name, time, share and calls");
	ok(strstr(got.data, "1 call, 1 of them not timed"),
	   "svg: a frame with an untimed call says so");
	ok(strstr(got.data, "Missing: 1 call without return, not timed."),
	   "svg: the document says what is missing");
	str__free(&got);
	got = RENDER("svg", &none, entry(MAIN_ENTRY, 1, 0, 0, 100));
	ok(strstr(got.data, "No call was seen from its entry to its return."),
	   "svg: a trace without timed calls says so");
	str__free(&got);
	got = RENDER("svg:count", &none, STEPS);
	ok(strstr(got.data, "<title>leaf\n1 call, 33.3 %<"),
	   "svg:count: a frame shows its share of the calls");
	str__free(&got);
}

static struct str gunzip(const struct str *gz)
{
	struct str out = {0};
	z_stream z = {.next_in = (Bytef *)gz->data, .avail_in = gz->len};

	str__reserve(&out, 1 << 20);
	z.next_out = (Bytef *)out.data;
	z.avail_out = 1 << 20;
	inflateInit2(&z, 15 + 16);
	ok(inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in,
	   "pprof: the output is one gzip member");
	out.len = z.total_out;
	inflateEnd(&z);
	return out;
}

#define holds(s, literal) memmem((s)->data, (s)->len, literal, sizeof(literal) - 1)

static void test_pprof(void)
{
	struct str gz, raw;

	fixture_functions[LEAF].name = "l\377f";
	gz = RENDER("pprof", &none, STEPS);
	raw = gunzip(&gz);
	/* sample: location ids 3 2 1, values 1 and 1380 (0xe4 0x0a), then labels */
	ok(holds(&raw, "\x0a\x03\x03\x02\x01\x12\x03\x01\xe4\x0a\x1a"),
	   "pprof: a sample has its innermost function first");
	ok(holds(&raw, "\x32\x00\x32\x05"
		       "calls"),
	   "pprof: the string table begins with the empty string");
	ok(holds(&raw, "l\357\277\275f"), "pprof: strings are UTF-8");
	ok(holds(&raw, "bbtrace: missing: 1 call without return, not timed"),
	   "pprof: what is missing is a comment");
	/* time_nanos 1000100 = 0xbd04a4 as a varint, duration_nanos 2010 */
	ok(holds(&raw, "\x48\xa4\x85\x3d\x50\xda\x0f"),
	   "pprof: a profile has its start by CLOCK_REALTIME and its duration");
	str__free(&gz);
	str__free(&raw);
	fixture_functions[LEAF].name = "leaf";
}

/* Counts that are printed now and then. */
static void test_interval(void)
{
	struct missed rows[] = {{.site = WORK_JCC, .hits = 4},
				{.site = NO_SITE, .what = "uprobe_multi", .hits = 5}};
	const missed_vec missed = {.data = rows, .len = ARRAY_SIZE(rows)};
	const struct trace_totals some = {.missed = 9};
	const struct output_options options = {.start_time = 1000000, .zeros = true};
	static const char *const formats[] = {"json", "text"};
	struct str got[2] = {0};

	for (int i = 0; i < 2; i++) {
		struct output *o = output__new(output__by_name(formats[i])->counting, &options,
					       &fixture_plan, fixture_write, &got[i]);

		output__missed(o, &missed);
		output__interval(o, 1501000000, &some);
		str__put(&got[i], "", 0);
		output__interval(o, 2501000000, &none);
		str__put(&got[i], "", 0);
		output__free(o);
	}
	ok(strstr(got[0].data,
		  "\"at_least\":true}\n{\"event\":\"interval\",\"ts\":1501000000,"
		  "\"missed_at_most\":9,\"missed\":[{\"object\":\"/bin/prog\",\"symbol\":\"work(A<B>&)\","
		  "\"offset\":16,\"hits\":4},{\"by\":\"uprobe_multi\",\"hits\":5}]}\n"),
	   "an interval of counts in JSON says which probes missed hits, and marks the counts");
	ok(strstr(got[1].data, "+\n-- 1.500 s, at most 9 hits missed, of all processes\n"),
	   "so does one in text, but for the probes");
	ok(strstr(got[1].data, "0\n-- 2.500 s\n"), "nothing missed: no mark");
	str__free(&got[0]);
	str__free(&got[1]);
}

int main(void)
{
	test_interval();
	test_folded();
	test_summary();
	test_callgrind();
	test_call_site();
	test_lines();
	test_svg();
	test_pprof();
	return tap__done();
}
