// SPDX-License-Identifier: BSD-2-Clause
/* Times without tracing in the aggregates: added up once, never 0, ranked, and in each format. */
#include "stats_fixture.h"

/* What tracing took of a call that returns. */
static struct step priced(struct step s, uint64_t tracing, uint64_t noise)
{
	s.has_tracing = true;
	s.tracing = tracing;
	s.noise = noise;
	return s;
}

/* The net time, 0: not known, 1: below the noise. */
static uint64_t net(const struct stats_net *n)
{
	uint64_t ns;
	enum net state = stats_net__state(n, &ns);

	return state == NET_KNOWN ? ns : state == NET_NOISE;
}

static const struct stats_node *node(const struct stats *p, uint32_t function)
{
	const struct stats_node *n;

	vec__each (n, &p->nodes)
		if (n->function == function)
			return n;
	exit(99);
}

/* leaf, which main and work lead to, is below the noise. */
#define STEPS                                                                                      \
	entry(MAIN_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 200),                          \
		entry(LEAF_ENTRY, 3, 2, 2, 300),                                                   \
		priced(ret(LEAF_RET, 3, 2, 2300, 2000), 1950, 50),                                 \
		priced(ret(WORK_RET, 2, 1, 4200, 4000), 3000, 200),                                \
		priced(ret(MAIN_RET, 1, 0, 10100, 10000), 6000, 300)

static void test_stats(void)
{
	struct stats p = PROFILE(STEPS);

	is(net(&p.functions[MAIN].net), 4000, "a function's net time is without tracing");
	is(net(&p.functions[WORK].net), 1000, "so is an inner one's");
	is(net(&p.functions[LEAF].net), 1, "a leaf's is below the noise");
	is(net(&node(&p, MAIN)->self_net), 6000 - 3000, "self is without the callees' tracing");
	is(net(&node(&p, WORK)->self_net), 2000 - 1050, "and their time");
	is(node(&p, STATS_THREAD)->net, 3000 + 950, "a stack's net time is that of all below it");
	stats__free(&p);
}

static void test_recursion(void)
{
	struct stats p =
		PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
			entry(WORK_ENTRY, 3, 2, 2, 120), priced(ret(WORK_RET, 3, 2, 130, 10), 5, 1),
			priced(ret(WORK_RET, 2, 1, 150, 40), 25, 2),
			priced(ret(WORK_RET, 1, 0, 200, 100), 65, 3));

	is(net(&p.functions[WORK].net), 35, "recursion doesn't count twice in net");
	is(p.functions[WORK].net.calls, 1, "nor its calls");
	stats__free(&p);
	p = PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
		    priced(ret(WORK_RET, 2, 1, 150, 40), 25, 2), ret(WORK_RET, 1, 0, 200, 100));
	is(net(&p.functions[WORK].net), 0, "what an unpriced outer call takes back is not counted");
	stats__free(&p);
}

/* A callee returned before hits had a price. */
static void test_unpriced(void)
{
	struct stats p =
		PROFILE(entry(MAIN_ENTRY, 1, 0, 0, 100), entry(LEAF_ENTRY, 2, 1, 1, 110),
			ret(LEAF_RET, 2, 1, 120, 10), priced(ret(MAIN_RET, 1, 0, 200, 100), 50, 5));

	is(net(&p.functions[LEAF].net), 0, "a call without price has no net time");
	is(net(&p.functions[MAIN].net), 50, "its caller has");
	is(net(&node(&p, MAIN)->self_net), 40, "all that tracing took is the caller's own");
	is(node(&p, MAIN)->self_net.noise, 15, "give or take the callee's time");
	stats__free(&p);
	p = PROFILE(entry(MAIN_ENTRY, 1, 0, 0, 100), entry(LEAF_ENTRY, 2, 1, 1, 110),
		    ret(LEAF_RET, 2, 1, 160, 50), priced(ret(MAIN_RET, 1, 0, 200, 100), 60, 5));
	is(net(&node(&p, MAIN)->self_net), 1, "which may be more than what is left");
	stats__free(&p);
}

/* ---- the formats ---- */

static const struct trace_totals totals = {.hits = 6, .tracing = 6000, .unpriced = 2};
#define TRACING "about 6 hits x 1.0us = 6.0us of tracing; the cost of 2 more hits is not known"

static void check(const char *format, const struct step *steps, size_t n, const char *want,
		  const char *what)
{
	struct str got = fixture_render(format, steps, n, &totals);

	if (!ok(memmem(got.data, got.len, want, strlen(want)), "%s: %s", format, what))
		printf("# %.3000s\n", got.data);
	str__free(&got);
}
#define shows(format, want, what, ...)                                                             \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		check(format, steps_, ARRAY_SIZE(steps_), want, what);                             \
	} while (0)

#define UNPRICED entry(MAIN_ENTRY, 1, 0, 0, 100), ret(MAIN_RET, 1, 0, 20100, 20000)
#define NOISE	 entry(LEAF_ENTRY, 1, 0, 0, 100), priced(ret(LEAF_RET, 1, 0, 2100, 2000), 1950, 50)

static void test_summary(void)
{
	fixture_width = 50;
	shows("summary",
	      "calls   total    net  branches  taken  function\n"
	      "    1   4.0us  1.0us         0      -  work(A<B>&)\n"
	      "    1  20.0us      -         0      -  main\n"
	      "    1   2.0us  noise         0      -  leaf\n"
	      "(terminal too narrow: timed, open, self, min, avg,\np50, p99, max omitted)\n"
	      "\n"
	      "noise: below the tracer's noise: tracing took so\nmuch of that time that the program's own part is\nnot known.\n"
	      "Times include about 6 hits x 1.0us = 6.0us of\ntracing; the cost of 2 more hits is not known.\n",
	      "ranked by net time, then what has none, then what is below the noise", UNPRICED,
	      entry(WORK_ENTRY, 2, 0, 0, 30000), entry(LEAF_ENTRY, 3, 2, 1, 30300),
	      priced(ret(LEAF_RET, 3, 1, 32300, 2000), 1950, 50),
	      priced(ret(WORK_RET, 2, 0, 34000, 4000), 3000, 200));
	fixture_width = 0;
	shows("summary", "calls  timed  open   total    self ",
	      "without any net time there is no such column", UNPRICED);
}

static void test_svg(void)
{
	shows("svg", ">bbtrace: where the time went, without tracing<",
	      "the title says that times are without tracing", STEPS);
	shows("svg", "<title>main\n3.95 µs, 100 %; itself 3 µs; 1 call<",
	      "a frame is as wide as its net time and those below it", STEPS);
	shows("svg", "<title>work(A&lt;B&gt;&amp;)\n950 ns, 24.1 %; itself 950 ns; 1 call<",
	      "an inner frame, too", STEPS);
	shows("svg", "Times include " TRACING ". 1 frame below the tracer's noise is left out. <",
	      "the note has what times include, and what is below the noise", STEPS);
	shows("svg", "; itself below the tracer's noise; 1 call<",
	      "a frame that is below the noise but for what it called says so",
	      entry(MAIN_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 200),
	      priced(ret(WORK_RET, 2, 1, 4200, 4000), 3000, 200),
	      priced(ret(MAIN_RET, 1, 0, 5100, 5000), 3990, 300));
	shows("svg", "1 frame whose time without tracing is not known is left out. ",
	      "so does what is not known", STEPS, entry(MAIN_ENTRY, 4, 0, 0, 30000),
	      entry(LEAF_ENTRY, 5, 4, 1, 30100), ret(LEAF_RET, 5, 1, 30200, 100));
	shows("svg",
	      ">bbtrace: how often was called what (all times are below the tracer&#39;s noise)<",
	      "where all is below the noise it shows calls", NOISE);
	shows("svg", "<title>main\n20 µs, 100 %; itself 20 µs; 1 call<",
	      "where nothing is known it shows the clock's times", UNPRICED);
	shows("svg", ">bbtrace: where the time went<", "and says so", UNPRICED);
}

static void test_comments(void)
{
	shows("folded", "pro:g;main 20000\n# bbtrace: times include " TRACING "\n",
	      "a comment says what times include", UNPRICED);
	shows("folded:count", "pro:g;main 1\n", "calls include no tracing", UNPRICED);
	shows("callgrind", "desc: Times include: " TRACING "\n",
	      "the description says what times include", UNPRICED);
	shows("html", "<p class=\"tracing\">Times include " TRACING ".</p>\n",
	      "the page says what times include", UNPRICED);
}

static void test_html(void)
{
	shows("html", "\"total\":10000,\"net\":4000,\"self\":6000,", "a function has its net time",
	      STEPS);
	shows("html", "\"total\":2000,\"noise\":true,\"self\":2000,",
	      "or that it is below the noise", STEPS);
	shows("html", "\"total\":20000,\"self\":20000,", "or neither", UNPRICED);
	shows("html", ">Where the time went, without tracing<",
	      "the flame graph says what it shows", STEPS);
}

int main(void)
{
	test_stats();
	test_recursion();
	test_unpriced();
	test_summary();
	test_svg();
	test_comments();
	test_html();
	return tap__done();
}
