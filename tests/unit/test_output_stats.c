// SPDX-License-Identifier: BSD-2-Clause
/* The stats: what is counted, which calls have a time, and that their memory is bounded. */
#include "stats_fixture.h"

/* "thread;main;work": the node, or NULL. */
static const struct stats_node *node(const struct stats *p, const char *path)
{
	for (size_t i = 0; i < p->nodes.len; i++) {
		struct str s = {0};
		uint32_t chain[8], n = 0;
		bool same;

		for (uint32_t j = i; j != NO_NODE && n < 8; j = p->nodes.data[j].parent)
			chain[n++] = j;
		while (n--)
			str__printf(&s, "%s%s", s.len ? "/" : "",
				    stats__name(p, &p->nodes.data[chain[n]]));
		same = !strcmp(s.data, path);
		str__free(&s);
		if (same)
			return &p->nodes.data[i];
	}
	return NULL;
}

static void test_histogram(void)
{
	struct histogram h = {0};
	uint64_t counts[64];

	is(histogram__quantile(&h, 500), 0, "a histogram without values has quantile 0");
	for (uint64_t v = 1; v <= 100; v++)
		histogram__add(&h, v);
	is(histogram__quantile(&h, 500), 50, "p50 of 1 … 100 is exact: below 128");
	is(histogram__quantile(&h, 990), 99, "p99 of 1 … 100 is exact");
	is(histogram__quantile(&h, 1), 1, "the least quantile of 1 … 100 is 1");
	is(histogram__quantile(&h, 1000), 100, "the greatest quantile of 1 … 100 is 100");
	histogram__log2(&h, counts);
	is(counts[0], 1, "of 1 … 100, 1 value is in [1, 2)");
	is(counts[5], 32, "of 1 … 100, 32 values are in [32, 64)");
	is(counts[6], 37, "of 1 … 100, 37 values are in [64, 128)");
	histogram__add(&h, 0);
	histogram__log2(&h, counts);
	is(counts[0], 2, "0 is counted with 1");
	map64__free(&h.buckets);
}

static void test_precision(void)
{
	bool good = true;

	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t v = 1ull << bit, i = 0; i < 3; v += (1ull << bit) / 3 + 1, i++) {
			struct histogram h = {0};
			uint64_t q, counts[64];

			if (v >> bit != 1)
				break;
			/* a least value, so that the bucket's own lowest is seen */
			histogram__add(&h, 0);
			histogram__add(&h, v);
			q = histogram__quantile(&h, 1000);
			histogram__log2(&h, counts);
			good &= q <= v && v - q <= v / 64 && counts[bit] == 1 + (bit == 0);
			map64__free(&h.buckets);
		}
	ok(good, "a quantile is never too large, and at most 1/64 too small, up to 2^64");
}

static void test_times(void)
{
	struct stats p =
		PROFILE(entry(MAIN_ENTRY, 1, 0, 0, 100), branch(MAIN_CALL, 1, 0, true, 0, 0x1100),
			entry(WORK_ENTRY, 2, 1, 1, 110), branch(WORK_JCC, 2, 1, true, 0, 0x1118),
			branch(WORK_ICALL, 2, 1, true, 1, 0x100), entry(LEAF_ENTRY, 3, 2, 2, 120),
			branch(LEAF_RET, 3, 2, true, 0, 0x1122), ret(LEAF_RET, 3, 2, 150, 30),
			branch(WORK_RET, 2, 1, true, 0, 0x1015), ret(WORK_RET, 2, 1, 160, 50),
			branch(MAIN_CALL, 1, 0, true, 0, 0x1100), entry(WORK_ENTRY, 4, 1, 1, 170),
			branch(WORK_JCC, 4, 1, false, 0, 0x1112), ret(WORK_RET, 4, 1, 175, 5),
			branch(MAIN_RET, 1, 0, true, 1, 0x9999), ret(MAIN_RET, 1, 0, 200, 100));
	const struct stats_function *work = &p.functions[WORK];
	const struct stats_node *n;

	is(work->calls, 2, "a function has its number of calls");
	is(work->total, 55, "a function's total is from entry to return");
	is(work->self, 25, "a function's self is without what it called");
	is(p.functions[MAIN].self, 45, "an outer function's self is without what it called, once");
	ok(work->time.min == 5 && work->time.max == 50 && work->time.n == 2,
	   "a function has its least and greatest time");
	ok(work->branches == 4 && work->conditional == 2 && work->taken == 1,
	   "a function has its branches, conditional and taken");
	ok(p.sites[WORK_JCC].taken == 1 && p.sites[WORK_JCC].not_taken == 1,
	   "a site has how often it was taken and not");
	n = node(&p, "pro;g/main/work(A<B>&)/leaf");
	ok(n && n->calls == 1 && n->self == 30 && n->time == 30,
	   "a leaf's stack has its calls and its time");
	n = node(&p, "pro;g/main");
	ok(n && n->ns == 100 && n->count == 4 && n->self == 45,
	   "an outer stack has the time of all below it");
	is(p.calls.len, 2, "two calls are two edges");
	ok(p.calls.data[0].site == MAIN_CALL && p.calls.data[0].calls == 2 &&
		   p.calls.data[0].ns == 55 && p.calls.data[0].branches == 5,
	   "an edge has the time and the branches of all within");
	is(p.calls.data[1].site, WORK_ICALL, "an edge of an indirect call has its site");
	ok(!p.open && !p.unseen && p.first == 100 && p.last == 200,
	   "with all entries and returns nothing is missing");
	stats__free(&p);
}

static void test_recursion(void)
{
	struct stats p = PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
				 entry(WORK_ENTRY, 3, 2, 2, 120), ret(WORK_RET, 3, 2, 130, 10),
				 ret(WORK_RET, 2, 1, 150, 40), ret(WORK_RET, 1, 0, 200, 100));

	is(p.functions[WORK].total, 100, "recursion doesn't count twice in total");
	is(p.functions[WORK].time.sum, 150, "each recursive call has its duration");
	is(p.functions[WORK].self, 100, "each recursive call has its own part of self");
	ok(p.calls.len == 1 && p.calls.data[0].calls == 2 && p.calls.data[0].ns == 0,
	   "recursion doesn't count twice in the edge to itself");
	stats__free(&p);
}

/* Of three calls the outermost is not timed: it was entered before the trace, or has not returned.
 */
static void test_open_recursion(void)
{
	struct stats p = PROFILE(branch(WORK_ICALL, 1, 0, true, 1, 0x100),
				 entry(WORK_ENTRY, 2, 1, 1, 110), entry(WORK_ENTRY, 3, 2, 2, 120),
				 ret(WORK_RET, 3, 2, 130, 10), ret(WORK_RET, 2, 1, 150, 40),
				 entry(WORK_ENTRY, 4, 1, 1, 160), ret(WORK_RET, 4, 1, 167, 7));

	is(p.functions[WORK].total, 47,
	   "attached to within a recursion, total is of the outermost timed calls");
	ok(p.functions[WORK].open == 1 && p.functions[WORK].time.n == 3,
	   "attached to within a recursion, one call is open");
	stats__free(&p);
	p = PROFILE(branch(WORK_ICALL, 1, 0, true, 1, 0x100), entry(WORK_ENTRY, 2, 1, 1, 110),
		    ret(WORK_RET, 2, 1, 150, 40), ret(WORK_RET, 1, 0, 160, 0),
		    entry(WORK_ENTRY, 3, 0, 0, 170), ret(WORK_RET, 3, 0, 173, 3));
	is(p.functions[WORK].total, 43, "an untimed return of the outermost call keeps total");
	is(p.functions[WORK].open, 0, "an untimed return leaves no call open");
	stats__free(&p);
	p = PROFILE(entry(MAIN_ENTRY, 1, 0, 0, 100), branch(MAIN_CALL, 1, 0, true, 0, 0x1100),
		    entry(WORK_ENTRY, 2, 1, 1, 110), entry(WORK_ENTRY, 3, 2, 2, 120),
		    ret(WORK_RET, 3, 2, 150, 30), entry(WORK_ENTRY, 4, 2, 2, 160),
		    ret(WORK_RET, 4, 2, 162, 2));
	is(p.functions[WORK].total, 32,
	   "what a call that has not returned called counts in its function's total");
	ok(p.calls.data[1].ns == 32 && p.functions[WORK].open == 1 && p.functions[MAIN].open == 1,
	   "what a call that has not returned called counts in its edge, and it is open");
	stats__free(&p);
}

/* A call in the middle of a recursion is left by longjmp(3), or waits on another stack. */
static void test_left_recursion(void)
{
	struct stats p =
		PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
			entry(WORK_ENTRY, 3, 2, 2, 120), ret(WORK_RET, 3, 2, 130, 10),
			branch(WORK_ICALL, 1, 0, true, 1, 0x100), ret(WORK_RET, 1, 0, 200, 100));

	is(p.functions[WORK].total, 100, "what a call that was left by a jump called counts once");
	is(p.functions[WORK].open, 1, "a call that was left by a jump stays open");
	stats__free(&p);
	p = PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
		    entry(WORK_ENTRY, 3, 2, 2, 120), ret(WORK_RET, 3, 2, 130, 10),
		    branch(WORK_ICALL, 1, 0, true, 1, 0x100), ret(WORK_RET, 2, 1, 160, 50));
	is(p.functions[WORK].total, 50,
	   "a call that was come back to has its own time, what it called is in it");
	stats__free(&p);
}

static void test_missing(void)
{
	const struct trace_totals totals = {.lost = 3, .unknown = 1};
	struct str text = {0};
	const struct stats_node *n;
	/* leaf's return is lost, work's entry was before the trace, main never returns */
	struct stats p =
		PROFILE(branch(WORK_JCC, 1, 0, true, 0, 0x1118), entry(LEAF_ENTRY, 2, 1, 1, 100),
			ret(WORK_RET, 1, 0, 150, 0), entry(MAIN_ENTRY, 3, 0, 0, 200),
			entry(WORK_ENTRY, 4, 3, 1, 210), ret(WORK_RET, 4, 1, 220, 10));

	is(p.unseen, 1, "a call whose entry was not seen is counted");
	is(p.open, 2, "calls whose return was not seen are counted");
	ok(p.functions[WORK].calls == 1 && p.functions[WORK].time.n == 1 &&
		   p.functions[WORK].unseen == 1,
	   "only a call seen from entry to return has a time");
	n = node(&p, "pro;g/work(A<B>&)/leaf");
	ok(n && n->calls == 1 && !n->timed && !n->ns,
	   "a stack of an open call counts it, and has no time");
	n = node(&p, "pro;g/main");
	ok(n && !n->self && n->ns == 10, "the stack around a timed call has that one's time only");
	ok(stats__missing(&p, &totals, &text), "something is missing where entries or returns are");
	is_str(text.data,
	       "3 events lost; 1 path unknown; 2 calls without return, not timed; "
	       "1 call whose entry was not seen, not timed; every count may be too low",
	       "it is said what is missing: entries, returns and lost events");
	str__free(&text);
	stats__free(&p);
}

/* work leaves leaf by longjmp; what leaf had called is no time of work's own. */
static void test_longjmp(void)
{
	struct stats p =
		PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(LEAF_ENTRY, 2, 1, 1, 110),
			entry(LEAF_ENTRY, 3, 2, 2, 120), ret(LEAF_RET, 3, 2, 150, 30),
			branch(WORK_JCC, 1, 0, true, 0, 0x1118), ret(WORK_RET, 1, 0, 200, 100));

	is(p.functions[WORK].self, 70, "self is without the calls of a call that never returned");
	is(p.nodes.data[0].ns, 100, "the outermost stack's time is all that was seen");
	is(p.open, 1, "a call that was left is open");
	stats__free(&p);
}

/* A coroutine: work goes to another stack from within leaf, and leaf comes back later. */
static void test_other_stack(void)
{
	const struct stats_node *n;
	struct stats p =
		PROFILE(entry(MAIN_ENTRY, 1, 0, 0, 100), entry(WORK_ENTRY, 2, 1, 1, 110),
			entry(LEAF_ENTRY, 3, 2, 2, 120), branch(MAIN_CALL, 1, 0, true, 0, 0x1100),
			entry(LEAF_ENTRY, 4, 1, 1, 130), ret(LEAF_RET, 4, 1, 140, 10),
			branch(LEAF_RET, 3, 1, true, 0, 0x1122), ret(LEAF_RET, 3, 1, 170, 50));

	n = node(&p, "pro;g/main/work(A<B>&)/leaf");
	ok(n && n->timed == 1 && n->self == 50,
	   "a resumed call's return counts where it was called");
	n = node(&p, "pro;g/main/leaf");
	ok(n && n->timed == 1 && n->self == 10, "what ran while a call was left counts elsewhere");
	stats__free(&p);
}

static void test_targets(void)
{
	const struct stats_site *s;
	struct stats p;

	stats__init(&p, &fixture_plan);
	s = &p.sites[WORK_IJMP];
	for (unsigned i = 0; i < 3 * (STATS_TARGETS + 5); i++) {
		struct step b = branch(WORK_IJMP, 1, 0, true, 0, 0x2000 + i / 3);

		stats__step(&p, &b);
	}
	stats__step(&p, &(struct step){.type = STEP_BRANCH, .site = WORK_IJMP, .function = WORK});
	is(s->targets.len, STATS_TARGETS, "an indirect branch has at most STATS_TARGETS targets");
	is(s->more, 15, "further targets of an indirect branch are counted together");
	is(s->unknown_target, 1, "an unknown target of an indirect branch is counted");
	ok(s->targets.data[0].count == 3 && s->targets.data[STATS_TARGETS - 1].count == 3,
	   "each target of an indirect branch has its count");
	stats__free(&p);
}

static void test_depth(void)
{
	const unsigned levels = STATS_DEPTH + 1000;
	struct stats p;

	stats__init(&p, &fixture_plan);
	for (unsigned i = 0; i < levels; i++) {
		struct step s = entry(WORK_ENTRY, i + 1, i, i, 100 + i);

		stats__step(&p, &s);
	}
	for (unsigned i = levels; i-- > 0;) {
		struct step s = ret(WORK_RET, i + 1, i, 100 + 2 * levels - i, 2 * (levels - i));

		stats__step(&p, &s);
	}
	stats__end(&p);
	is(p.nodes.len, STATS_DEPTH + 2, "stacks have at most STATS_DEPTH levels");
	is(p.deeper, 1000, "calls deeper than STATS_DEPTH are counted together");
	is(p.functions[WORK].total, 2 * levels,
	   "with calls deeper than STATS_DEPTH total is still the outermost call's");
	is(p.nodes.data[0].ns, 2 * levels,
	   "with calls deeper than STATS_DEPTH no time is lost or counted twice");
	stats__free(&p);
}

/* Threads without end. */
static void test_nodes(void)
{
	struct trace_totals none = {0};
	struct str text = {0};
	struct stats p;

	stats__init(&p, &fixture_plan);
	for (unsigned i = 0; i < STATS_NODES; i++) {
		struct step s = entry(WORK_ENTRY, 2 * i + 1, 0, 0, 100), r;

		s.tid = i + 1;
		stats__step(&p, &s);
		r = ret(WORK_RET, 2 * i + 1, 0, 107, 7);
		r.tid = i + 1;
		stats__step(&p, &r);
	}
	stats__end(&p);
	ok(p.nodes.len <= STATS_NODES + 1, "there are at most STATS_NODES stacks");
	is(p.functions[WORK].calls, STATS_NODES,
	   "with more than STATS_NODES stacks every call is counted");
	is(p.other, STATS_NODES / 2,
	   "calls in further stacks than STATS_NODES are counted together");
	ok(stats__missing(&p, &none, &text) && strstr(text.data, "more different stacks"),
	   "that there are more stacks than STATS_NODES is said");
	str__free(&text);
	stats__free(&p);
}

static void test_names(void)
{
	struct step other = entry(WORK_ENTRY, 2, 0, 0, 100),
		    again = entry(WORK_ENTRY, 3, 0, 0, 200);
	stats_nodes nodes;
	struct stats p;

	other.tid = 8;
	again.comm = "other";
	p = PROFILE(entry(WORK_ENTRY, 1, 0, 0, 50), ret(WORK_RET, 1, 0, 70, 20), other, again);
	is(p.threads.len, 3, "a thread under a new name is another thread of the stats");
	stats__by_name(&p, &nodes);
	is(nodes.len, 4, "by name, threads are two roots with a node each");
	ok(nodes.data[1].calls == 2 && nodes.data[0].ns == 20,
	   "by name, threads of one name are added up");
	vec__free(&nodes);
	stats__free(&p);
}

/* Control comes back to the first instruction of a call that goes on. */
static void test_again(void)
{
	struct stats p = PROFILE(entry(WORK_ENTRY, 1, 0, 0, 100), entry(LEAF_ENTRY, 2, 1, 1, 110),
				 ret(LEAF_RET, 2, 1, 120, 10), entry(WORK_ENTRY, 1, 0, 0, 130),
				 ret(WORK_RET, 1, 0, 200, 100));

	ok(p.functions[WORK].calls == 2 && p.functions[WORK].time.n == 1,
	   "a function that jumps back to its entry has two entries and one return");
	is(p.functions[WORK].self, 90,
	   "a function that jumps back to its entry has the time of one call");
	is(p.open, 0, "a function that jumps back to its entry and returned is not open");
	stats__free(&p);
}

static void test_foreign(void)
{
	/* what no replay gives out, and a damaged file might */
	struct stats p =
		PROFILE({.type = STEP_ENTRY, .site = 99, .function = WORK},
			{.type = STEP_BRANCH, .site = WORK_JCC, .function = 99, .call = 1},
			{.type = STEP_RETURN, .site = NO_SITE, .function = NO_FUNCTION},
			ret(WORK_RET, 5, 900, 100, 200), ret(LEAF_RET, 5, 900, 100, 200),
			entry(WORK_ENTRY, 9, 8, 0, 5), entry(WORK_ENTRY, 8, 8, 70000, 5),
			entry(WORK_ENTRY, 0, 0, 3, 5), branch(WORK_JMP, 3, 4000000000, true, 0, 0));

	ok(p.nodes.len < 20, "steps that make no sense do no harm");
	stats__free(&p);
}

int main(void)
{
	test_histogram();
	test_precision();
	test_times();
	test_recursion();
	test_open_recursion();
	test_left_recursion();
	test_missing();
	test_longjmp();
	test_other_stack();
	test_targets();
	test_depth();
	test_nodes();
	test_names();
	test_again();
	test_foreign();
	return tap__done();
}
