// SPDX-License-Identifier: BSD-2-Clause
/*
 * The browser of traces: text in cells, steps as bytes and back, calls and their paths, screens and
 * keys. Random keys at random sizes run under the sanitizers.
 */
#include <locale.h>
#include "output_fixture.h"
#include "tui/browser.h"

/* ---- cells ---- */

static const char *in_cells(unsigned width, const char *text)
{
	static struct str out;
	struct grid g = {0};

	grid__resize(&g, width, 1);
	grid__put(&g, &(struct span){0, 0, width, 0}, text, 0);
	str__clear(&out);
	str__puts(&out, "");
	grid__text(&g, 0, &out);
	grid__free(&g);
	return out.data;
}

static void test_cells(void)
{
	struct grid g = {0};

	is_str(in_cells(10, "plain"), "plain", "text");
	is_str(in_cells(3, "plain"), "pla", "text is cut where the row ends");
	is_str(in_cells(10, "a\x1b]0;b\nc\x07"), "a?]0;b?c?", "what a terminal would interpret");
	is_str(in_cells(10, "\x1b[32mgreen\x1b[0m x"), "green x", "colours take no cells");
	is_str(in_cells(10, "gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f", "UTF-8");
	is_str(in_cells(10, "\xff\xc3(\xe2\x82x\xc0\xaf"), "?\?(?\?x?", "what isn't UTF-8");
	is_str(in_cells(10, "a\xe2\x80\xae"
			    "b\xc2\x9b"),
	       "a?b?", "characters that turn text, and C1");
	is_str(in_cells(3, "\xe6\x97\xa5\xe6\x9c\xac"), "\xe6\x97\xa5",
	       "half of a wide character isn't shown");
	is(text__width("\x1b[1;31m\xe6\x97\xa5x\x1b[0m"), 3, "a wide character has two columns");
	grid__resize(&g, 8, 1);
	is(grid__put(&g, &(struct span){0, 2, 6, 3}, "abcdefghij", 0), 6, "a span of a row");
	is(g.cells[2].ch, 'd', "text is scrolled");
	is(g.cells[6].ch, ' ', "and ends with the span");
	grid__put(&g, &(struct span){7, 0, 8, 0}, "x", 0);
	grid__free(&g);
}

static void test_names(void)
{
	autofree struct str s = {0};

	text__put_name(&s, "operator new", 8);
	is_str(s.data, "operato>", "a long name is cut, and that is shown");
	str__clear(&s);
	text__put_name(&s, "a\nb", 8);
	is_str(s.data, "a\\x0ab", "control characters of a name");
}

/* ---- steps as bytes ---- */

static struct step full_step(void)
{
	static const uint64_t args[2] = {5, UINT64_MAX};
	static struct location stack[2];
	static struct fetched fetched[2];
	struct step s = fixture_entry();

	stack[0] = fixture_at(3);
	stack[1] = fixture_main();
	fetched[1] = (struct fetched){.len = 4, .bytes = "abc"};
	s.syscall_args = args;
	s.nsyscall_args = 2;
	s.stack = stack;
	s.nstack = 2;
	s.stack_end = STACK_CUT;
	s.fetched = fetched;
	s.nfetched = 2;
	s.text = "a mark";
	s.count = 7;
	s.at_least = s.implied = s.untyped = s.has_since = s.has_off = s.has_tracing = true;
	s.since_entry = 1;
	s.off = 2;
	s.tracing = 3;
	s.noise = 4;
	s.interrupt = IN_NMI;
	s.goroutine = GOROUTINE_AT | 8;
	s.run = 1;
	s.ns_pid = 12;
	s.call = 1ull << 40;
	s.caller = 9;
	s.depth = 3;
	s.tested = (struct tested){TESTED | TESTED_TWO, {1, UINT64_MAX}};
	return s;
}

static void test_record(void)
{
	struct step s = full_step();
	struct names names = {0};
	struct kept_step k;
	autofree struct str bytes = {0};
	const struct step *got;
	uint8_t type;
	uint32_t depth;

	record__put(&names, &s, 77, &bytes);
	is(record__peek((uint8_t *)bytes.data, bytes.len, &type, &depth), 77, "its call");
	is(depth, 3, "its depth");
	ok(record__get(&names, &fixture_plan, (uint8_t *)bytes.data, bytes.len, &k), "it is read");
	got = kept__step(&k);
	ok(got->time == s.time && got->call == s.call && got->caller == 9 && got->run == 1 &&
		   got->ns_pid == 12 && got->goroutine == s.goroutine && got->cpu == 1,
	   "numbers");
	ok(!memcmp(got->regs, s.regs, sizeof(fixture_regs)), "registers");
	ok(!memcmp(got->fetched, s.fetched, 2 * sizeof(*s.fetched)), "values");
	ok(location__same(&got->stack[1], &s.stack[1]) && got->stack_end == STACK_CUT, "frames");
	is_str(got->text, "a mark", "a text");
	ok(got->named->len == s.named->len &&
		   !memcmp(got->named->data, s.named->data, s.named->len),
	   "a named event");
	ok(got->tested.flags == s.tested.flags && got->tested.value[1] == UINT64_MAX,
	   "what was tested");
	kept__free(&k);
	for (size_t len = 0; len < bytes.len; len++) {
		if (!record__get(&names, &fixture_plan, (uint8_t *)bytes.data, len, &k))
			continue;
		is(len, bytes.len, "bytes that are cut are no step");
		kept__free(&k);
	}
	for (size_t i = 0; i < bytes.len; i++) { /* any bytes are survived */
		bytes.data[i] ^= 0x55;
		if (record__get(&names, &fixture_plan, (uint8_t *)bytes.data, bytes.len, &k))
			kept__free(&k);
		bytes.data[i] ^= 0x55;
	}
	names__free(&names);
}

/* ---- calls ---- */

static struct model model;
static uint64_t now, ids;
static unsigned calls, steps;

static void feed(struct step s, uint64_t call, unsigned depth, uint32_t function)
{
	s.named = NULL;
	s.time = now++;
	s.call = call;
	s.depth = depth;
	s.function = function;
	steps++;
	is(model__step(&model, &s), 0, "a step is taken");
}

/* A call with some branches, and calls within it. */
static void make_call(uint64_t caller, unsigned depth, unsigned inner, bool returns)
{
	uint64_t id = ++ids;
	struct step s = fixture_entry();

	calls++;
	s.caller = caller;
	feed(s, id, depth, 0);
	feed(fixture_branch(SITE_JNE, inner & 1, fixture_at(0x40)), id, depth, 0);
	if (inner == 4) /* a path that only one run has */
		feed(fixture_branch(SITE_JMP, true, fixture_at(0x40)), id, depth, 0);
	for (unsigned i = 0; i < inner; i++)
		make_call(id, depth + 1, inner - 1, i || inner != 2);
	feed(fixture_branch(SITE_LOOP, true, fixture_at(0x30)), id, depth, 0);
	if (returns)
		feed(fixture_return(), id, depth, 0);
}

static void begin(unsigned inner)
{
	calls = steps = 0;
	now = fixture_options.start_time;
	is(model__begin_run(&model, model.nruns ? "b.bbt" : "a.bbt", &fixture_plan,
			    &fixture_options),
	   0, "a run begins");
	for (unsigned i = 0; i < 3; i++)
		make_call(0, 0, inner - i, true);
	model__end_run(&model, &(struct trace_totals){.lost = 2});
}

static void test_paths(void)
{
	const struct run *r = &model.run[0];
	struct path p;
	size_t folded;

	is(r->ncalls, calls, "each entry is a call");
	is(r->total, steps, "each step is kept");
	path__of_thread(&p, r, 0);
	is(p.rows.len, 3, "calls are folded first");
	path__expand_all(&p);
	is(p.rows.len, steps, "all steps have a row when all calls are expanded");
	path__fold_all(&p);
	is(p.rows.len, 3, "and are folded again");
	ok(path__expand(&p, 1, 1), "one call is expanded");
	folded = p.rows.len;
	ok(path__expand(&p, 3, 99), "and one in it, with all in that");
	is(path__fold(&p, 4), 3, "folding a step of it folds the call");
	is(p.rows.len, folded, "all its rows are gone");
	is(path__fold(&p, 2), 1, "the outer one");
	is(p.rows.len, 3, "as in the beginning");
	is(path__fold(&p, 0), SIZE_MAX, "no call to fold");
	path__free(&p);
	path__of_call(&p, r, 0);
	is(p.rows.data[0].kind, ROW_STEP, "a call's own entry is no row to expand");
	path__expand_all(&p);
	for (size_t i = 0; i < p.rows.len; i++)
		if (p.rows.data[i].kind == ROW_EXPANDED && i + p.rows.data[i].below >= p.rows.len)
			ok(false, "rows below a call are in its path");
	path__free(&p);
}

/* ---- screens ---- */

static bool never(void *ctx)
{
	return false;
}

static struct browser browser;
static struct grid grid;

static const char *row(unsigned i)
{
	static struct str text;

	browser__draw(&browser, &grid);
	str__clear(&text);
	str__puts(&text, "");
	grid__text(&grid, i, &text);
	return text.data;
}

static void press(const char *keys)
{
	for (; *keys; keys++)
		browser__key(&browser, *keys);
}

static bool shows(const char *text)
{
	for (unsigned i = 0; i < grid.height; i++)
		if (strstr(row(i), text))
			return true;
	return false;
}

static void test_screens(void)
{
	grid__resize(&grid, 100, 24);
	browser__init(&browser, &model, &(struct patience){never, NULL});
	ok(shows("Functions of a.bbt"), "the functions are first");
	ok(shows("malloc"), "the function that ran");
	ok(shows("Missing: 2 events lost"), "what is missing");
	press("\n");
	ok(shows("Calls of malloc"), "its calls");
	press("s");
	ok(shows("by duration"), "sorted by the next column");
	press("S\n");
	ok(shows("Path of malloc"), "the steps of one");
	ok(shows("+ malloc("), "in which calls are folded");
	press("E");
	ok(!shows("+ malloc("), "and then expanded");
	press("/taken\n");
	ok(browser.screens.data[2]->cursor > 0, "a search moves the cursor");
	press("&not taken\n");
	ok(shows("&not taken"), "a filter is shown");
	ok(!shows(" taken ->") || shows("not taken ->"), "and leaves only what matches");
	press("&\x15nothing like it\n");
	ok(shows("no row matches"), "a filter that nothing matches");
	press("&\x15\n/(\n");
	ok(shows("("), "a pattern that is none has a message");
	press("h");
	ok(shows("Keys"), "help");
	press("qqqq");
	ok(browser.ends, "q ends in the first screen");
	browser__free(&browser);
}

static void test_random_keys(void)
{
	static const char keys[] = "jkgG\n\nqsSreECu[]tTpc&/nN:<>h 12x\x1b\x15";
	uint64_t random = 1;

	browser__init(&browser, &model, &(struct patience){never, NULL});
	for (unsigned i = 0; i < 20000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		if (i % 97 == 0)
			grid__resize(&grid, random >> 40 & 127, random >> 50 & 31);
		browser__key(&browser, keys[(random >> 33) % (sizeof(keys) - 1)]);
		browser.ends = false;
		if (browser.screens.len > 20)
			press("\x1bqqqqqqqqqqqqqqqqqq");
		if (i % 7 == 0)
			browser__draw(&browser, &grid);
	}
	ok(browser.screens.len > 0, "random keys at random sizes are survived");
	browser__free(&browser);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	test_cells();
	test_names();
	test_record();
	begin(4);
	model__end(&model);
	test_paths();
	test_screens();
	test_random_keys();
	model__free(&model);
	model = (struct model){0};
	begin(4);
	begin(3);
	model__end(&model);
	grid__resize(&grid, 100, 24);
	browser__init(&browser, &model, &(struct patience){never, NULL});
	ok(shows("Functions of A a.bbt and B b.bbt"), "two runs are compared");
	press("\n");
	ok(shows("[only A]"), "paths that only one has are marked");
	browser__free(&browser);
	test_random_keys();
	model__free(&model);
	grid__free(&grid);
	return tap__done();
}
