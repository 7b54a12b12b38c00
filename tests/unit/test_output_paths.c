// SPDX-License-Identifier: BSD-2-Clause
/* The formats paths and paths:json: golden lines; times with and without events; what isn't
 * counted. */
#include <elf.h>
#include "tap.h"
#include "output/paths/paths.h"

#define PROG "/bin/prog"

/*
 * work:	entry, je to the ret
 *	loop:	call leaf
 *		jne to the loop
 *		ret
 */
enum { WORK, LEAF };
enum { ENTRY, JE, CALL, JNE, RET, LEAF_ENTRY, LEAF_RET, SITES };

static struct plan_object objects[] = {{.path = PROG}};
static const struct range ranges[] = {{.vaddr = 0x1000, .size = 0x40},
				      {.vaddr = 0x1040, .size = 0x10}};
static struct plan_function functions[] = {
	[WORK] = {.name = "work", .ranges = &ranges[0], .nranges = 1, .entry_site = ENTRY},
	[LEAF] = {.name = "leaf",
		  .ranges = &ranges[1],
		  .nranges = 1,
		  .entry_block = 4,
		  .entry_site = LEAF_ENTRY},
};
static struct plan_block blocks[] = {
	{.start = 0x1000, .end = 0x1010, .site = JE, .taken = 3, .next = 1},
	{.start = 0x1010, .end = 0x1020, .site = CALL, .taken = NO_BLOCK, .next = 2},
	{.start = 0x1020, .end = 0x1030, .site = JNE, .taken = 1, .next = 3},
	{.start = 0x1030, .end = 0x1040, .site = RET, .taken = NO_BLOCK, .next = NO_BLOCK},
	{.start = 0x1040,
	 .end = 0x1050,
	 .function = LEAF,
	 .site = LEAF_RET,
	 .taken = NO_BLOCK,
	 .next = NO_BLOCK},
};
static struct plan_site sites[SITES] = {
	[ENTRY] = {.vaddr = 0x1000, .role = ROLE_ENTRY, .entry = 1},
	[JE] = {.vaddr = 0x100e, .kind = BRANCH_JCC, .target = 0x1030},
	[CALL] = {.vaddr = 0x101b, .block = 1, .kind = BRANCH_CALL, .target = 0x1040},
	[JNE] = {.vaddr = 0x102e, .block = 2, .kind = BRANCH_JCC, .target = 0x1010},
	[RET] = {.vaddr = 0x103f, .block = 3, .kind = BRANCH_RET},
	[LEAF_ENTRY] =
		{.vaddr = 0x1040, .function = LEAF, .block = 4, .role = ROLE_ENTRY, .entry = 1},
	[LEAF_RET] = {.vaddr = 0x104f, .function = LEAF, .block = 4, .kind = BRANCH_RET},
};
static struct plan plan = {
	.objects = {.data = objects, .len = 1},
	.functions = {.data = functions, .len = ARRAY_SIZE(functions)},
	.sites = {.data = sites, .len = SITES},
	.blocks = {.data = blocks, .len = ARRAY_SIZE(blocks)},
};

/* time 0: it has no event */
static struct step step(enum step_type type, uint32_t site, uint64_t call, uint64_t time)
{
	return (struct step){
		.type = type,
		.pid = 5,
		.tid = 7,
		.comm = "prog",
		.plan = &plan,
		.site = site,
		.function = site == NO_SITE ? NO_FUNCTION : sites[site].function,
		.call = call,
		.time = time,
		.timed = time,
		.at = {.object = PROG, .vaddr = site == NO_SITE ? 0 : sites[site].vaddr}};
}

static struct step branch(uint32_t site, uint64_t call, uint64_t time, bool taken)
{
	struct step s = step(STEP_BRANCH, site, call, time);

	s.taken = taken;
	s.to_known = true;
	s.to = (struct location){.object = PROG, .symbol = "leaf", .vaddr = sites[site].target};
	return s;
}

static struct step entry(uint32_t site, uint64_t call, uint64_t time)
{
	return step(STEP_ENTRY, site, call, time);
}

static struct step ret(uint32_t site, uint64_t call, uint64_t time, uint64_t duration)
{
	struct step s = step(STEP_RETURN, site, call, time);

	s.has_duration = duration;
	s.duration = duration;
	return s;
}

#define NOTHING(type) step(type, NO_SITE, 0, 0)
#define SKIPS(call, t)                                                                             \
	entry(ENTRY, call, t), branch(JE, call, t + 10, true), branch(RET, call, t + 20, true),    \
		ret(RET, call, t + 20, 20)
#define TIMES(call, t)                                                                             \
	entry(ENTRY, call, t), branch(JE, call, t + 10, false), branch(CALL, call, t + 20, true)

static int write_to(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

static char *render(const char *format, const struct step *steps, size_t n)
{
	static const struct trace_totals totals;
	static const struct output_options options;
	struct str text = {0};
	struct output *o = output__new(output__by_name(format), &options, &plan, write_to, &text);

	for (size_t i = 0; i < n; i++)
		output__step(o, &steps[i]);
	output__end(o, &totals);
	output__free(o);
	str__put(&text, "", 0);
	return text.data;
}

#define shows(format, want, what, ...)                                                             \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		autofree char *got_ = render(format, steps_, ARRAY_SIZE(steps_));                  \
		is_str(got_, want, what);                                                          \
	} while (0)

#define HEAD "    count     total     share       min       avg       max  path\n"

static void test_text(void)
{
	shows("paths",
	      "work: 4 of 5 paths ran: 3 from the entry, 2 from a loop's start\n" HEAD
	      "        1     4.0us     93.0%     4.0us     4.0us     4.0us  #4 around the loop at +0x10\n"
	      "      +0x2e taken\n"
	      "        1     130ns      3.0%     130ns     130ns     130ns  #2 entry to the loop at +0x10\n"
	      "      +0xe not taken, +0x1b call leaf, +0x2e taken\n"
	      "        1     130ns      3.0%     130ns     130ns     130ns  #5 loop at +0x10 to return\n"
	      "      +0x2e not taken\n"
	      "        2      40ns      0.9%      20ns      20ns      20ns  #1 entry to return\n"
	      "      +0xe taken\n"
	      "\n",
	      "paths by their cost, and where they differ", SKIPS(1, 100), SKIPS(2, 200),
	      TIMES(3, 1000), branch(JNE, 3, 1130, true), branch(CALL, 3, 1200, true),
	      branch(JNE, 3, 5130, true), branch(CALL, 3, 5200, true), branch(JNE, 3, 5240, false),
	      branch(RET, 3, 5260, true), ret(RET, 3, 5260, 4260));
	shows("paths", "No path of a function was seen from its beginning to its end.\n",
	      "nothing ran", NOTHING(STEP_EXIT));
}

static void test_json(void)
{
	static const struct step steps[] = {};
	autofree char *none = render("paths:json", steps, 0);
	autofree char *got = NULL;
	const struct step some[] = {SKIPS(1, 100), TIMES(2, 1000)};

	got = render("paths:json", some, ARRAY_SIZE(some));
	ok(strstr(none, "{\"event\":\"summary\"") == none, "the summary is the last line");
	ok(strstr(got,
		  "{\"event\":\"paths\",\"function\":\"work\",\"object\":\"/bin/prog\",\"ran\":1,"
		  "\"possible\":5,\"calls\":1,\"loops\":0,\"total_ns\":20,\"apart\":{\"before\":0,"
		  "\"unknown\":0,\"left\":0,\"open\":1,\"more\":0}}\n") == got,
	   "a line for the function");
	ok(strstr(got,
		  "\n{\"event\":\"path\",\"function\":\"work\",\"object\":\"/bin/prog\",\"number\":1,"
		  "\"count\":1,\"timed\":1,\"near\":0,\"total_ns\":20,\"min_ns\":20,\"max_ns\":20,"
		  "\"begins\":\"entry\",\"start\":{\"vaddr\":\"0x1000\"},\"parts\":[{\"vaddr\":"
		  "\"0x100e\",\"kind\":\"jcc\",\"taken\":true}],\"end\":{\"vaddr\":\"0x103f\"},"
		  "\"ends\":\"return\"}\n"),
	   "and one for each path");
}

/* ---- counts ---- */

static struct path_counts counts_of(const struct step *steps, size_t n)
{
	struct path_counts p;

	path_counts__init(&p, &plan);
	for (size_t i = 0; i < n; i++)
		path_counts__step(&p, &steps[i]);
	path_counts__end(&p);
	return p;
}
#define COUNTS(...)                                                                                \
	({                                                                                         \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		counts_of(steps_, ARRAY_SIZE(steps_));                                             \
	})

static const struct path_row *row(const struct path_counts *p, uint64_t number)
{
	static const struct path_row none;
	const struct path_row *r;

	vec__each (r, &p->rows)
		if (r->number == number)
			return r;
	return &none;
}

static void test_near(void)
{
	struct path_counts p =
		COUNTS(TIMES(1, 100), branch(JNE, 1, 0, true), branch(CALL, 1, 200, true),
		       branch(JNE, 1, 0, false), branch(RET, 1, 300, true), ret(RET, 1, 300, 200));

	is(row(&p, 2)->ns, 100, "a path that ends without an event ends at the next one");
	is(row(&p, 2)->near, 1, "which is told");
	is(row(&p, 5)->ns, 100, "and the next path begins there");
	path_counts__free(&p);
	p = COUNTS(TIMES(1, 100), branch(JNE, 1, 0, true), branch(CALL, 1, 0, true),
		   branch(JNE, 1, 0, true), branch(CALL, 1, 0, true), branch(JNE, 1, 0, false),
		   branch(RET, 1, 300, true), ret(RET, 1, 300, 200));
	is(row(&p, 2)->count + row(&p, 4)->count + row(&p, 5)->count, 3,
	   "paths between two events are counted");
	is(row(&p, 2)->timed + row(&p, 4)->timed + row(&p, 5)->timed, 0,
	   "but no time is made up for them");
	path_counts__free(&p);
}

static void test_net(void)
{
	struct step steps[] = {TIMES(1, 100), branch(JNE, 1, 400, true), branch(CALL, 1, 500, true),
			       branch(JNE, 1, 900, true)};
	struct path_counts p;
	uint64_t ns;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		steps[i].era = 1;
		steps[i].spent = i * 10;
		steps[i].spread = i;
	}
	p = counts_of(steps, ARRAY_SIZE(steps));
	is(stats_net__state(&row(&p, 2)->net, &ns), NET_KNOWN, "the time without tracing is known");
	is(ns, 300 - 30, "it is without the hits from the beginning on");
	path_counts__free(&p);
	steps[4].era = steps[5].era = 2;
	p = counts_of(steps, ARRAY_SIZE(steps));
	is(stats_net__state(&row(&p, 4)->net, &ns), NET_UNKNOWN, "not if one of them has no price");
	path_counts__free(&p);
}

static void test_apart(void)
{
	struct path_counts p = COUNTS(branch(CALL, 1, 100, true), branch(JNE, 1, 200, true),
				      branch(CALL, 1, 300, true), branch(JNE, 1, 400, true));

	is(p.functions[WORK].apart[APART_BEFORE], 1, "what began before the trace isn't counted");
	is(row(&p, 4)->count, 1, "the loop's iterations are");
	is(row(&p, 4)->ns, 200, "with their time");
	is(p.functions[WORK].apart[APART_OPEN], 1, "the last one is not");
	path_counts__free(&p);

	p = COUNTS(TIMES(1, 100), NOTHING(STEP_UNKNOWN), branch(JNE, 1, 200, true),
		   branch(CALL, 1, 300, true), branch(JNE, 1, 400, false),
		   branch(RET, 1, 420, true), ret(RET, 1, 420, 320));
	is(p.functions[WORK].apart[APART_UNKNOWN], 1, "nor is one with an unknown part");
	is(row(&p, 5)->count, 1, "the next one is");
	path_counts__free(&p);

	p = COUNTS(TIMES(1, 100), branch(RET, 1, 200, true), ret(RET, 1, 200, 100));
	is(p.functions[WORK].apart[APART_LEFT], 1, "nor one that no edge continues");
	is(p.rows.len, 0, "and it isn't guessed");
	path_counts__free(&p);

	p = COUNTS(entry(ENTRY, 1, 100), ret(RET, 2, 200, 0));
	is(p.functions[WORK].apart[APART_BEFORE] + p.functions[WORK].apart[APART_OPEN], 2,
	   "a return alone is none of another call");
	path_counts__free(&p);
}

static void test_recursion(void)
{
	struct path_counts p =
		COUNTS(TIMES(1, 100), TIMES(2, 200), SKIPS(3, 300), branch(JNE, 2, 400, false),
		       branch(RET, 2, 410, true), ret(RET, 2, 410, 210), branch(JNE, 1, 500, false),
		       branch(RET, 1, 510, true), ret(RET, 1, 510, 410));

	is(row(&p, 1)->count, 1, "the innermost call has its path");
	is(row(&p, 3)->count, 2, "and the outer ones theirs");
	is(row(&p, 3)->ns, 620, "with what they called");
	path_counts__free(&p);
}

int main(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	plan__index(&plan);
	test_text();
	test_json();
	test_near();
	test_net();
	test_apart();
	test_recursion();
	return tap__done();
}
