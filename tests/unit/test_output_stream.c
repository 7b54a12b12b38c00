// SPDX-License-Identifier: BSD-2-Clause
/* What all formats share: when bytes are written, what a failed write does, the summary. */
#include <errno.h>
#include "output_fixture.h"
#include "json_check.h"

struct sink {
	struct str text;
	size_t writes, largest;
	size_t fail_at; /* this write and later ones fail; 0: none */
};

static int sink__write(void *ctx, const void *data, size_t len)
{
	struct sink *sink = ctx;

	if (sink->fail_at && ++sink->writes >= sink->fail_at)
		return -EPIPE;
	sink->writes += !sink->fail_at;
	sink->largest = max_of(sink->largest, len);
	str__put(&sink->text, data, len);
	return 0;
}

static const struct trace_totals some_totals = {
	.functions = 2,
	.probes = 131,
	.skipped = 3,
	.events = 15204,
	.lost = 1,
	.unmatched_returns = 4,
	.unseen_tail_returns = 6,
	.undecoded = 7,
	.code = 640,
	.unknown = 5,
};

static struct output *open_output(const char *format, bool line_buffered, struct sink *sink)
{
	struct output_options options = fixture_options;

	options.line_buffered = line_buffered;
	options.realtime_offset = -5;
	options.about.host = "web1";
	return output__new(output__by_name(format), &options, &fixture_plan, sink__write, sink);
}

static void test_formats(void)
{
	ok(output__by_name("text") && output__by_name("json"), "text and json are formats");
	ok(!output__by_name("") && !output__by_name("JSON") && !output__by_name("tex"),
	   "a format is found by its exact name only");
	for (const struct output_format *const *f = output_formats; *f; f++)
		ok((*f)->help && (*f)->step, "%s has help and renders", (*f)->name);
}

static void test_buffering(const char *format)
{
	struct step e = fixture_entry();
	struct sink sink = {0};
	struct output *o = open_output(format, false, &sink);

	for (int i = 0; i < 10; i++)
		output__step(o, &e);
	is(sink.writes, 0, "%s: a few lines are held", format);
	is(output__flush(o), 0, "%s: a flush succeeds", format);
	is(sink.writes, 1, "%s: a flush writes what was held, at once", format);
	is(output__flush(o), 0, "%s: a second flush succeeds", format);
	is(sink.writes, 1, "%s: a second flush has nothing to write", format);
	for (int i = 0; i < 10000; i++)
		output__step(o, &e);
	ok(sink.writes > 5 && sink.largest >= 65536 && sink.largest < 66000,
	   "%s: many lines are written 64 KiB at a time", format);
	output__free(o);
	str__free(&sink.text);
}

static void test_line_buffered(const char *format)
{
	struct step e = fixture_entry();
	struct sink sink = {0};
	struct output *o = open_output(format, true, &sink);

	output__step(o, &e);
	output__step(o, &e);
	is(sink.writes, 2, "%s: line-buffered output is written line by line", format);
	output__free(o);
	str__free(&sink.text);
}

static void test_write_error(const char *format)
{
	struct step e = fixture_entry();
	struct sink sink = {.fail_at = 2};
	struct output *o = open_output(format, true, &sink);

	is(output__step(o, &e), 0, "%s: a step whose write succeeds is no error", format);
	is(output__step(o, &e), -EPIPE, "%s: a step whose write fails is that error", format);
	is(output__step(o, &e), -EPIPE, "%s: each step after a failed write is the same error",
	   format);
	is(output__end(o, &some_totals), -EPIPE,
	   "%s: the end after a failed write is the same error", format);
	is(sink.writes, 2, "%s: after a failed write there is no other one", format);
	output__free(o);
	str__free(&sink.text);
}

static void test_end(void)
{
	struct step e = fixture_entry();
	struct sink sink = {0};
	struct object libc = {.build_id = {0x00, 0xff, 0x1a}, .build_id_len = 3};
	struct output *o;

	fixture_objects[0].object = &libc;
	o = open_output("json", false, &sink);
	output__step(o, &e);
	is(output__end(o, &some_totals), 0, "JSON ends without error");
	ok(json_check__lines_ok(sink.text.data), "JSON with its summary is strict");
	is_str(strchr(sink.text.data, '\n') + 1,
	       "{\"event\":\"summary\",\"functions\":2,\"probes\":131,\"skipped\":3,\"events\":15204,"
	       "\"lost\":1,\"unmatched_returns\":4,\"unseen_tail_returns\":6,\"unknown\":5,\"undecoded\":7,\"code\":640,\"missed_at_most\":0,"
	       "\"host\":\"web1\",\"realtime_offset_ns\":-5,\"objects\":{\"object\":[\"" LIBC
	       "\"],\"build_id\":[\"00ff1a\"]}}\n",
	       "JSON's last line is the summary");
	output__free(o);
	fixture_objects[0].object = NULL;
	str__clear(&sink.text);
	o = open_output("text", false, &sink);
	is(output__end(o, &some_totals), 0, "text ends without error");
	is(sink.text.len, 0, "text ends without a line, since its summary goes to stderr");
	output__free(o);
	str__free(&sink.text);
}

static void test_totals(void)
{
	struct trace_totals none = {.functions = 1};
	struct str s = {0};

	totals__text(&some_totals, &s);
	is_str(s.data,
	       "bbtrace: 2 functions, 131 probes (3 skipped), 15204 events, 1 lost, "
	       "4 unmatched returns, 6 unseen returns of tail calls, 7 of 640 bytes not decoded",
	       "the summary line has all totals");
	str__clear(&s);
	totals__text(&none, &s);
	is_str(s.data,
	       "bbtrace: 1 function, 0 probes (0 skipped), 0 events, 0 lost, 0 unmatched returns",
	       "the summary line has the same words for every number");
	str__clear(&s);
	none.lost = 7;
	none.at_least = 1;
	none.missed = 9;
	totals__text(&none, &s);
	is_str(s.data,
	       "bbtrace: 1 function, 0 probes (0 skipped), 0 events, at least 7 lost, 0 unmatched "
	       "returns, at most 9 hits missed, of all processes",
	       "the summary line says which totals are bounds");
	str__free(&s);
}

static void test_tracing(void)
{
	static const struct {
		struct trace_totals totals;
		const char *want;
	} rows[] = {
		{{.hits = 465210, .tracing = 4186890000},
		 "about 465210 hits x 9.0us = 4.1s of tracing"},
		{{.hits = 3100, .tracing = 1600000, .unpriced = 1000},
		 "about 3100 hits x 516ns = 1.6ms of tracing; the cost of 1000 more hits is not "
		 "known"},
		{{.hits = 8, .tracing = 80, .unpriced = 1},
		 "about 8 hits x 10ns = 80ns of tracing; the cost of 1 more hit is not known"},
		{{.unpriced = 17}, "tracing: 17 hits, whose cost is not known"},
		{{.unpriced = 1}, "tracing: 1 hit, whose cost is not known"},
	};
	const struct trace_totals none = {0};
	struct sink sink = {0};
	struct output *o = open_output("json", false, &sink);
	struct str s = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str__clear(&s);
		ok(totals__tracing(&rows[i].totals, &s), "%s: times include that", rows[i].want);
		is_str(s.data, rows[i].want, "%s", rows[i].want);
	}
	ok(!totals__tracing(&none, &s), "without hits times include no tracing");
	output__end(o, &rows[1].totals);
	ok(strstr(sink.text.data, ",\"missed_at_most\":0,\"hits\":3100,\"tracing_ns\":1600000,"
				  "\"hits_unpriced\":1000,\"host\":"),
	   "JSON's summary has the hits and what they cost");
	output__free(o);
	str__free(&sink.text);
	str__free(&s);
}

/* Which formats show times. */
static void test_times(void)
{
	static const char *const without[] = {
		"annotate",  "dot",	    "folded:count", "svg:count", "lcov",
		"cobertura", "coverage",    "drcov",	    "bolt",	 "autofdo",
		"tests",     "tests:names", "autofdo:gcc"};
	struct output_options some = {.time = TIME_NONE, .events = PLAN_ENTRY | PLAN_BRANCH};
	struct output o = {0};

	for (const struct output_format *const *f = output_formats; *f; f++) {
		bool times = true;

		for (size_t i = 0; i < ARRAY_SIZE(without); i++)
			times &= strcmp((*f)->name, without[i]) != 0;
		o.format = *f;
		is(output__shows_times(&o), times, "%s shows %s times", (*f)->name,
		   times ? "its" : "no");
	}
	o.format = output__by_name("text");
	o.options = some;
	ok(!output__shows_times(&o), "text with -T none and without returns shows no times");
	o.options.events |= PLAN_RETURN;
	ok(output__shows_times(&o), "text with returns shows how long calls took");
}

static void test_unused(void)
{
	struct sink sink = {0};

	output__free(open_output("text", true, &sink));
	output__free(NULL);
	is(sink.writes, 0, "an output that is only made and freed writes nothing");
}

int main(void)
{
	static const char *const formats[] = {"text", "json"};

	test_formats();
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		test_buffering(formats[i]);
		test_line_buffered(formats[i]);
		test_write_error(formats[i]);
	}
	test_end();
	test_totals();
	test_tracing();
	test_times();
	test_unused();
	return tap__done();
}
