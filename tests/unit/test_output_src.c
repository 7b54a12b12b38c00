// SPDX-License-Identifier: BSD-2-Clause
/* Source lines in text and JSON: whose they are, what was inlined, and where there is room. */
#include "output_fixture.h"
#include "json_check.h"

#define BASE 0x98580
enum { MAIN_C, UTIL_H, HOSTILE };
static char *files[] = {(char *)"/src/main.c", (char *)"/src/../src/util.h",
			(char *)"/src/\033[31m\xff.c"};
static struct plan_line rows[] = {
	{BASE, 0, MAIN_C, 10},	      {BASE + 0x25, 0, UTIL_H, 31},
	{BASE + 0x27, 0, UTIL_H, 32}, {BASE + 0x29, 0, MAIN_C, 12},
	{BASE + 0x38, 0, HOSTILE, 5}, {BASE + 0x40, 0, MAIN_C, 15},
	{BASE + 0x50, 0, MAIN_C, 14}, {BASE + 0x60},
};
static struct plan_scope scopes[] = {
	{.name = "malloc", .parent = NO_SCOPE},
	{.name = "f<int>",
	 .raw = "_ZN2ns1fEi",
	 .parent = 0,
	 .call_file = 1 + MAIN_C,
	 .call_line = 11},
	{.name = "clamp", .parent = 1, .call_file = 1 + UTIL_H, .call_line = 20},
	{.name = "unplaced", .parent = 0},
};
static struct plan_scope_range ranges[] = {
	{BASE, BASE + 0x25, 0, 0},	  {BASE + 0x25, BASE + 0x27, 0, 1},
	{BASE + 0x27, BASE + 0x29, 0, 2}, {BASE + 0x29, BASE + 0x30, 0, 0},
	{BASE + 0x38, BASE + 0x40, 0, 3}, {BASE + 0x40, BASE + 0x60, 0, 0},
};
static struct output_options options;

#define SET(vec, array) ((vec).data = (array), (vec).len = ARRAY_SIZE(array))

#define LEFT		      "   0.000012345 ls-7          "
#define text(want, what, ...) fixture_shows("text", &options, want, what, __VA_ARGS__)

/* The value of src. */
static void json(const char *want, const char *what, struct step step)
{
	autofree char *got = fixture_render("json", &options, &step, 1);
	char *start = strstr(got, "\"src\":"), *end = start ? strstr(start, "],\"") : NULL;

	ok(json_check__lines_ok(got), "%s, in strict JSON", what);
	if (end)
		end[1] = 0;
	is_str(start ? start + strlen("\"src\":") : "", want, what);
}

static void test_json(void)
{
	json("[{\"function\":\"malloc\",\"file\":\"/src/main.c\",\"line\":10}]",
	     "an entry has the line of its first instruction", fixture_entry());
	json("[{\"function\":\"malloc\",\"file\":\"/src/main.c\",\"line\":10}]",
	     "a return has the line of its vaddr, the function's first instruction",
	     fixture_return());
	json("[{\"function\":\"ns::f\",\"file\":\"/src/../src/util.h\",\"line\":31},"
	     "{\"function\":\"malloc\",\"file\":\"/src/main.c\",\"line\":11}]",
	     "an inlined function is the first frame, with its scopes and without parameters",
	     fixture_branch(SITE_JNE, true, fixture_at(0x50)));
	json("[{\"function\":\"clamp\",\"file\":\"/src/../src/util.h\",\"line\":32},"
	     "{\"function\":\"ns::f\",\"file\":\"/src/../src/util.h\",\"line\":20},"
	     "{\"function\":\"malloc\",\"file\":\"/src/main.c\",\"line\":11}]",
	     "what was inlined in it is before it",
	     fixture_branch(SITE_LOOP, true, fixture_at(0x50)));
	json("[{\"file\":\"/src/main.c\",\"line\":12}]",
	     "code of no function that is known has a line alone",
	     fixture_branch(SITE_CALL, true, fixture_at(0)));
	json("[{\"function\":\"unplaced\",\"file\":\"/src/\\u001b[31m\xef\xbf\xbd.c\",\"line\":5},"
	     "{\"function\":\"malloc\"}]",
	     "where the call is not known there is no line; any bytes may be in a name",
	     fixture_branch(SITE_ICALL, true, fixture_at(0)));
}

static void test_text(void)
{
	text(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry                  main.c:10\n",
	     "the last cell of an entry is where it is", fixture_entry());
	text(LEFT "  malloc+0x29  jmp  -> malloc+0x60                      main.c:12\n",
	     "the last cell of a branch is where it is",
	     fixture_branch(SITE_JMP, true, fixture_at(0x60)));
	text(LEFT "  malloc+0x29  jmp  -> malloc+0x50                      main.c:12 -> 14\n",
	     "and where it leads to, if that is another line",
	     fixture_branch(SITE_JMP, true, fixture_at(0x50)));
	text(LEFT "  malloc+0x29  jmp  -> malloc+0x2a                      main.c:12\n",
	     "a branch to the same line has it once",
	     fixture_branch(SITE_JMP, true, fixture_at(0x2a)));
	text(LEFT "  malloc+0x29  jmp  -> main+0x24 [ls]                   main.c:12\n",
	     "of another object nothing is told", fixture_branch(SITE_JMP, true, fixture_main()));
	text(LEFT
	     "  malloc+0x29  jmp  -> malloc+0x25                      main.c:12 -> util.h:31 f\n",
	     "what was inlined is named", fixture_branch(SITE_JMP, true, fixture_at(0x25)));
	text(LEFT "  malloc+0x27  jrcxz  taken -> malloc+0x50              util.h:32 clamp, "
		  "util.h:20 f, main.c:11 -> main.c:14\n",
	     "innermost first", fixture_branch(SITE_LOOP, true, fixture_at(0x50)));
	text(LEFT
	     "  malloc+0x38  call  -> malloc+0x60                     \\x1b[31m\\xff.c:5 unplaced\n",
	     "a file's name can't control the terminal",
	     fixture_branch(SITE_ICALL, true, fixture_at(0x60)));
	text(LEFT "malloc returns 0x5581a2c0  1.2us\n", "a return has no such cell",
	     fixture_return());
}

/* Below 100 columns, time and thread take 18, and a target in the same function is its offset. */
#define NARROW "0.000012345 ls-7  "

static void test_room(void)
{
	struct step b = fixture_branch(SITE_JMP, true, fixture_at(0x60));

	options.width = 83;
	text(NARROW "  malloc+0x29  jmp  -> +0x60                            main.c:12\n",
	     "a terminal that is wide enough has the column", b);
	options.width = 82;
	text(NARROW "  malloc+0x29  jmp  -> +0x60  main.c:12\n", "else it is behind the line", b);
	options.width = 55;
	text(NARROW "  malloc+0x29  jmp  -> +0x60\n", "or not there, where it doesn't fit", b);
	options.color = true;
	options.width = 82;
	text("\033[2m" NARROW "\033[0m  malloc+0x29  jmp  -> +0x60  \033[2mmain.c:12\033[0m\n",
	     "colours take no room", b);
	options.color = false;
	options.width = 0;
	options.no_src = true;
	text(LEFT "  malloc+0x29  jmp  -> malloc+0x60\n", "--no-src: text has none", b);
	json("", "--no-src: json has none", b);
	options.no_src = false;
}

static void test_fold(void)
{
	struct step b = fixture_branch(SITE_JMP, true, fixture_at(0x50)), e = fixture_entry(),
		    later = e;

	options.fold = true;
	text(LEFT
	     "  malloc+0x29  jmp  -> malloc+0x50                      main.c:12 -> 14  3 times "
	     "in 0ns\n",
	     "lines that repeat are folded", b, b, b);
	later.has_since = true;
	later.since_entry = 1250;
	text(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry                  main.c:10  2 times in "
		  "0ns\n",
	     "entries are, whose times take other room", e, later);
	options.fold = false;
}

static void test_none(void)
{
	fixture_plan.lines.len = fixture_plan.scopes.len = fixture_plan.scope_ranges.len = 0;
	json("", "without lines there is no src", fixture_entry());
	text(LEFT "malloc(rdi=0x18, rsi=0x0)  first entry\n", "without lines there is no such cell",
	     fixture_entry());
}

int main(void)
{
	options = fixture_options;
	SET(fixture_plan.lines, rows);
	SET(fixture_plan.line_files, files);
	SET(fixture_plan.scopes, scopes);
	SET(fixture_plan.scope_ranges, ranges);
	test_json();
	test_text();
	test_room();
	test_fold();
	test_none();
	return tap__done();
}
