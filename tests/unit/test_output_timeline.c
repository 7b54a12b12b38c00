// SPDX-License-Identifier: BSD-2-Clause
/* The timeline: intervals of time, the longest calls, threads, calls that don't return. */
#include "output/pages/timeline.h"
#include "tap.h"

static struct timeline line;

/* A step of thread tid of process 5, "x". */
static struct step at(enum step_type type, uint32_t tid, unsigned depth, uint64_t time)
{
	return (struct step){.type = type,
			     .timed = time,
			     .time = time,
			     .pid = 5,
			     .tid = tid,
			     .comm = "x",
			     .depth = depth};
}

static void give(struct step s)
{
	timeline__step(&line, &s, NULL);
}

static void give_return(uint32_t tid, unsigned depth, uint32_t function, uint64_t time,
			uint64_t duration)
{
	struct step s = at(STEP_RETURN, tid, depth, time);

	s.function = function;
	s.has_duration = duration;
	s.duration = duration;
	give(s);
}

static void give_entry(uint32_t tid, unsigned depth, uint32_t function, uint64_t time)
{
	struct step s = at(STEP_ENTRY, tid, depth, time);

	s.function = function;
	give(s);
}

static struct timeline_bucket sum(const struct timeline_lane *l)
{
	struct timeline_bucket s = {0};

	for (size_t i = 0; i < TIMELINE_BUCKETS; i++) {
		s.events += l->buckets[i].events;
		s.lost += l->buckets[i].lost;
		s.unknown += l->buckets[i].unknown;
		s.busy += l->buckets[i].busy;
	}
	return s;
}

static uint64_t events_at(const struct timeline_lane *l, uint64_t time)
{
	return l->buckets[(time >> line.shift) - line.base].events;
}

static void start_over(void)
{
	timeline__free(&line);
	line = (struct timeline){0};
}

static void test_intervals(void)
{
	static const uint64_t times[] = {5000001, 5000003, 5000003,	5001000, 9000000,
					 4999000, 7777777, 60000000000, 1};
	const struct timeline_lane *l;
	unsigned missing = 0;

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		give(at(STEP_BRANCH, 7, 0, times[i]));
		l = line.lanes[0];
		is(sum(l).events, i + 1, "%zu events are counted once each", i + 1);
		for (size_t k = 0; k <= i; k++)
			missing += !events_at(l, times[k]);
	}
	is(missing, 0, "each event stays in the interval of its time");
	ok(line.first == 1 && line.last == 60000000000, "the first and the last time are known");
	ok((line.last >> line.shift) - line.base < TIMELINE_BUCKETS &&
		   (line.last >> (line.shift - 1)) - (line.first >> (line.shift - 1)) >=
			   TIMELINE_BUCKETS,
	   "intervals are no wider than they must be");
	give(at(STEP_BRANCH, 7, 0, 0));
	is(sum(line.lanes[0]).events, ARRAY_SIZE(times), "a branch without a time doesn't count");
	start_over();
}

static void test_busy(void)
{
	give_return(7, 0, 1, 1000100, 100);
	give_return(7, 1, 1, 1000290, 90);
	give_return(7, 0, 1, 1000300, 200);
	give(at(STEP_BRANCH, 7, 0, 1000000000));
	is(sum(line.lanes[0]).busy, 300,
	   "time in outermost calls is counted, in inner ones not again");
	give_return(7, 0, 1, 3000000000, 2000000000);
	is(sum(line.lanes[0]).busy, 2000000300, "a call's time is spread over its intervals");
	is(line.lanes[0]->buckets[(2000000000 >> line.shift) - line.base].busy, 1ull << line.shift,
	   "an interval within a call is busy as a whole");
	start_over();
}

static int longest_first(const void *a, const void *b)
{
	const struct timeline_call *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

/* Durations are a permutation of 1 … n. */
static void test_longest(void)
{
	const uint64_t n = 40009; /* a prime */
	unsigned wrong = 0;

	for (uint64_t i = 1; i <= n; i++)
		give_return(7, 0, i, 1000000000 + i * n, i * 12345 % n ? i * 12345 % n : n);
	is(line.ncalls, TIMELINE_CALLS, "no more calls than the limit are kept");
	is(line.omitted, n - TIMELINE_CALLS, "the other calls are counted");
	is(line.calls[0].ns, n - TIMELINE_CALLS + 1, "the first of them is the shortest");
	qsort(line.calls, line.ncalls, sizeof(*line.calls), longest_first);
	for (size_t i = 0; i < line.ncalls; i++)
		wrong += line.calls[i].ns != n - i ||
			 line.calls[i].start + line.calls[i].ns !=
				 1000000000 + line.calls[i].function * n;
	is(wrong, 0, "the longest calls are kept, each with its function and its start");
	start_over();
}

static const struct timeline_call *call_of(uint32_t function)
{
	for (size_t i = 0; i < line.ncalls; i++)
		if (line.calls[i].function == function)
			return &line.calls[i];
	return NULL;
}

static void is_call(uint32_t function, uint64_t start, uint64_t ns, bool open, const char *what)
{
	const struct timeline_call *c = call_of(function);

	ok(c && c->start == start && c->ns == ns && c->open == open, "%s", what);
}

static void test_open(void)
{
	give_entry(7, 0, 1, 1000);
	give_entry(7, 1, 2, 1100);
	give_return(7, 1, 2, 1200, 100);
	give_entry(7, 1, 3, 1300);
	give_entry(7, 2, 4, 1400);
	give(at(STEP_BRANCH, 7, 1, 1500)); /* call 4 was left: longjmp */
	give_entry(8, 0, 5, 1600);
	give(at(STEP_EXIT, 8, 0, 1700));
	give_entry(9, 300, 6, 1750); /* deeper than is tracked; its callers were not seen */
	give(at(STEP_BRANCH, 7, 1, 2000));
	timeline__end(&line);
	is(line.ncalls, 4, "calls that returned or are open are shown");
	is_call(1, 1000, 1000, true, "a call that doesn't return is open until the end");
	is_call(2, 1100, 100, false, "a call that returned has its duration");
	is_call(3, 1300, 700, true, "an inner call that doesn't return is open, too");
	ok(!call_of(4), "a call that was left is not shown as open");
	is_call(5, 1600, 100, true, "a call of a thread that ended is open until then");
	start_over();
}

static void test_stop(void)
{
	struct step stop = {
		.type = STEP_STOP, .timed = true, .time = 3000, .site = NO_SITE, .comm = ""};

	give_entry(7, 0, 1, 1000);
	give(at(STEP_BRANCH, 7, 0, 1500));
	give(stop);
	give_entry(7, 0, 2, 5000);
	give_return(7, 0, 2, 5100, 100);
	timeline__end(&line);
	is_call(1, 1000, 500, true, "a call that is open at a stop is shown up to its last event");
	is_call(2, 5000, 100, false, "and the next one as what it is");
	start_over();
}

/* Of several traces, which may have the same threads. */
static void test_runs(void)
{
	struct step s = at(STEP_ENTRY, 7, 0, 5000);

	give_entry(7, 0, 1, 1000);
	give(at(STEP_BRANCH, 8, 0, 1500));
	s.function = 2;
	s.run = 2;
	give(s);
	s.time = 900;
	s.function = 3;
	s.run = 3;
	give(s);
	timeline__end(&line);
	is_call(1, 1000, 500, true, "a call that is open at the end of a trace ends with that");
	is_call(2, 5000, 0, true, "not with the trace before");
	is_call(3, 900, 0, true, "and not with a later one that is joined first");
	is(line.nlanes, 4, "each trace has its own threads");
	start_over();
}

/* Of no thread: they are shown, and no lane is made for them. */
static void test_points(void)
{
	struct str text = {0};
	struct json j = {.out = &text, .in_script = true};
	struct step s = {.timed = true, .site = NO_SITE, .comm = ""};
	char noted[] = "a </script>";

	s.type = STEP_MARK;
	s.text = noted;
	s.time = 900;
	give(s);
	noted[0] = 'b'; /* what is kept is a copy */
	give(at(STEP_BRANCH, 7, 0, 1000));
	s.text = NULL;
	s.type = STEP_STOP;
	s.time = 1100;
	give(s);
	s.type = STEP_START;
	s.time = 1200;
	give(s);
	s = at(STEP_MARK, 7, 0, 1300);
	s.text = "its own";
	give(s);
	is(line.nlanes, 1, "marks of no thread have no lane");
	is(sum(line.lanes[0]).events, 1, "marks and stops are no events");
	timeline__end(&line);
	timeline__json(&line, 900, &j);
	ok(strstr(text.data, "\"begin\":0,\"span\":400,"), "the timeline goes from mark to mark");
	ok(strstr(text.data, "\n\"marks\":[[0,\"mark\",\"a \\u003c/script>\"],[200,\"stop\"],"
			     "[300,\"start\"],[400,\"mark\",\"its own = 0\",0]]}"),
	   "marks and stops have their times, marks their texts, a thread's mark its lane");
	str__free(&text);
	start_over();
}

static void test_marks(void)
{
	struct step lost = at(STEP_LOST, 7, 0, 0);

	lost.count = 12;
	give(at(STEP_BRANCH, 7, 0, 1000000));
	give(lost);
	give(at(STEP_BRANCH, 7, 0, 9000000));
	give(at(STEP_UNKNOWN, 7, 0, 9000000));
	is(line.lanes[0]->buckets[(1000000 >> line.shift) - line.base].lost, 12,
	   "lost events are marked behind the thread's last event");
	is(line.lanes[0]->buckets[(9000000 >> line.shift) - line.base].unknown, 1,
	   "an unknown path is marked at its time");
	is(sum(line.lanes[0]).events, 2, "marks are no events");
	start_over();
	give(lost);
	timeline__end(&line);
	is(line.last, 0, "a loss alone has no time");
	start_over();
}

static void test_threads(void)
{
	struct str text = {0};
	struct json j = {.out = &text};

	for (uint32_t i = 1; i <= TIMELINE_LANES + 36; i++)
		give_return(i, 0, 1, 1000 + i, i);
	is(line.nlanes, TIMELINE_LANES + 1, "threads beyond the limit share a lane");
	is(sum(line.lanes[TIMELINE_LANES]).events, 36, "the shared lane has their events");
	is(sum(line.lanes[0]).events, 1, "each other thread has its own");
	is(line.index.len, TIMELINE_LANES, "threads beyond the limit take no memory");
	give_entry(TIMELINE_LANES + 5, 0, 2, 2000);
	timeline__end(&line);
	ok(!call_of(2), "open calls of threads that share a lane are not told apart");
	timeline__json(&line, 1000, &j);
	ok(strstr(text.data, "{\"name\":\"[other threads]\",\"buckets\":["),
	   "the shared lane has no thread's name");
	str__free(&text);
	start_over();
}

static void test_json(void)
{
	struct str text = {0};
	struct json j = {.out = &text, .in_script = true};
	struct step s = at(STEP_ENTRY, 7, 1, 100);

	s.comm = "</script>";
	s.function = 3;
	give(s);
	s = at(STEP_RETURN, 7, 2, 160);
	s.comm = "</script>";
	s.function = 4;
	s.has_duration = true;
	s.duration = 40;
	give(s);
	give((struct step){.type = STEP_LOST, .pid = 5, .tid = 7, .comm = "</script>", .count = 9});
	timeline__end(&line);
	timeline__json(&line, 90, &j);
	is_str(text.data,
	       "{\"begin\":10,\"span\":60,\"width\":1,\"before\":0,\"omitted\":0,\"shortest\":40,\"lanes\":[\n"
	       "{\"name\":\"\\u003c/script>\",\"pid\":5,\"tid\":7,\"buckets\":[[0,1],[60,1,0,9]]}],\n"
	       "\"calls\":[[0,1,3,0,60,1],[0,2,4,20,40]]}",
	       "the timeline as JSON");
	str__free(&text);
	start_over();
	timeline__end(&line);
	timeline__json(&line, 90, &(struct json){.out = &text});
	is_str(text.data,
	       "{\"begin\":0,\"span\":0,\"width\":1,\"before\":0,\"omitted\":0,\"shortest\":0,\"lanes\":[],\n"
	       "\"calls\":[]}",
	       "the timeline of nothing");
	str__free(&text);
}

static void give_values(enum step_type type, unsigned depth, uint64_t time, uint64_t duration,
			const char *values)
{
	struct step s = at(type, 7, depth, time);

	s.function = depth + 1;
	s.has_duration = duration;
	s.duration = duration;
	timeline__step(&line, &s, values);
}

static void test_values(void)
{
	struct str text = {0};
	struct json j = {.out = &text, .in_script = true};
	size_t whole = 0;

	give_values(STEP_ENTRY, 0, 100, 0, "(n=1)");
	give_values(STEP_ENTRY, 1, 110, 0, "(s=\"<\")");
	give_values(STEP_RETURN, 1, 115, 5, "-2 ENOENT");
	give_values(STEP_ENTRY, 1, 120, 0, NULL);
	give_values(STEP_RETURN, 1, 127, 7, "3");
	/* of another call: its entry was not seen */
	give_values(STEP_ENTRY, 1, 130, 0, "(s=NULL)");
	give_values(STEP_RETURN, 1, 139, 11, NULL);
	timeline__end(&line);
	timeline__json(&line, 100, &j);
	ok(strstr(text.data, "\"calls\":[[0,0,1,0,39,1,\"(n=1)\"],"
			     "[0,1,2,10,5,0,\"(s=\\\"\\u003c\\\")\",\"-2 ENOENT\"],"
			     "[0,1,2,20,7,0,\"\",\"3\"],[0,1,2,28,11]]"),
	   "calls have their own arguments and results");
	str__free(&text);
	start_over();
	for (unsigned i = 0; i < TIMELINE_CALLS + 10; i++) {
		give_values(STEP_ENTRY, 0, 1000 + 100 * i, 0, "(few)");
		give_values(STEP_RETURN, 0, 1010 + 100 * i + i % 7, 10 + i % 7, "1");
	}
	is(line.ncalls, TIMELINE_CALLS, "those of calls that are not shown are forgotten");
	for (size_t i = 0; i < line.ncalls; i++)
		whole += !strcmp(line.calls[i].args, "(few)") && !strcmp(line.calls[i].result, "1");
	is(whole, TIMELINE_CALLS, "those of the others are kept");
	start_over();
}

int main(void)
{
	test_values();
	test_intervals();
	test_busy();
	test_longest();
	test_open();
	test_stop();
	test_runs();
	test_points();
	test_marks();
	test_threads();
	test_json();
	return tap__done();
}
