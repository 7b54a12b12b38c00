// SPDX-License-Identifier: BSD-2-Clause
/* Differences as text, JSON and a page: golden lines, and names that would like to be markup. */
#include <elf.h>
#include "diff/diff.h"
#include "tap.h"
#include "util/scratch.h"

#define HOSTILE "</script>\xff&"

/* f: 0 jcc -> 2; 1 jmp -> 2; 2 ret */
static struct plan_block blocks[] = {
	{.start = 0x10, .end = 0x20, .site = 0, .next = 1, .taken = 2},
	{.start = 0x20, .end = 0x30, .site = 1, .next = NO_BLOCK, .taken = 2},
	{.start = 0x30, .end = 0x40, .site = 2, .next = NO_BLOCK, .taken = NO_BLOCK},
};
static struct plan_site sites[] = {
	{.vaddr = 0x1e,
	 .len = 2,
	 .block = 0,
	 .role = ROLE_BRANCH,
	 .kind = BRANCH_JCC,
	 .target = 0x30,
	 .mnemonic = "je",
	 .compare = "test edi, edi"},
	{.vaddr = 0x2e,
	 .len = 2,
	 .block = 1,
	 .role = ROLE_BRANCH,
	 .kind = BRANCH_JMP,
	 .target = 0x30,
	 .mnemonic = "jmp"},
	{.vaddr = 0x3f,
	 .len = 1,
	 .block = 2,
	 .role = ROLE_BRANCH,
	 .kind = BRANCH_RET,
	 .mnemonic = "ret"},
};
static struct plan_function functions[] = {{.name = "f<int>", .entry_site = NO_SITE}};
static struct plan_object objects[] = {{.path = "/bin/" HOSTILE}};
static struct plan p = {.objects = {.data = objects, .len = 1},
			.functions = {.data = functions, .len = 1},
			.blocks = {.data = blocks, .len = ARRAY_SIZE(blocks)},
			.sites = {.data = sites, .len = ARRAY_SIZE(sites)}};

static struct outcomes outcomes;
static struct paths runs[SIDES];
static struct diff d = {.outcomes = &outcomes, .runs = {&runs[0], &runs[1]}, .most = 10};
static struct diff_steps steps;
static struct trace_totals totals[SIDES] = {{.events = 4}, {.events = 5, .lost = 1}};
static struct diff_view view = {.d = &d,
				.steps = &steps,
				.names = {"a.bbt", HOSTILE},
				.totals = {&totals[0], &totals[1]},
				.context = 2};

/* n calls of f, by the thread 7 + side; taken in A. */
static void feed(struct paths *to, int side, unsigned n)
{
	static const struct location f = {.object = "/bin/" HOSTILE, .symbol = "f<int>"};
	uint64_t time = 100 * side;
	struct step s = {.pid = 7 + side,
			 .tid = 7 + side,
			 .comm = HOSTILE,
			 .plan = &p,
			 .timed = true,
			 .at = f,
			 .site = NO_SITE};

	for (; n; n--) {
		s.type = STEP_ENTRY;
		s.time = ++time;
		paths__step(to, &s);
		s.type = STEP_BRANCH;
		for (uint32_t i = 0; i < 3; i++) {
			if (i == 1 && !side)
				continue;
			s.site = i;
			s.taken = !side && !i;
			s.at.vaddr = sites[i].vaddr;
			s.at.offset = sites[i].vaddr - 0x10;
			s.time = ++time;
			paths__step(to, &s);
		}
		s.type = STEP_RETURN;
		s.site = NO_SITE;
		s.at = f;
		s.time = ++time;
		paths__step(to, &s);
	}
}

static void compare(struct scratch *scratch)
{
	outcomes__init(&outcomes, &p);
	for (int side = 0; side < SIDES; side++) {
		paths__init(&runs[side], &outcomes, scratch);
		feed(&runs[side], side, 1);
		paths__end(&runs[side]);
	}
	outcomes__settle(&outcomes, 0);
	counts__compare(&outcomes, d.runs[SIDE_A], d.runs[SIDE_B], &view.functions, &view.branches);
	diff__find(&d);
	diff_steps__ask(&steps, &d, view.context);
	for (int side = 0; side < SIDES; side++)
		feed(&steps.again[side], side, 1);
}

static bool has(const struct str *s, const char *text)
{
	return s->data && strstr(s->data, text);
}

static unsigned count(const struct str *s, const char *text)
{
	unsigned n = 0;

	for (const char *at = s->data; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void test_json(void)
{
	struct str s = {0};

	diff__json(&view, &s);
	is(count(&s, "\n"), 5, "a difference, three branches, a summary: a line each");
	ok(has(&s, "{\"event\":\"difference\",\"number\":1,\"kind\":\"branch\",\"threads\":{\"a\":{"
		   "\"pid\":7,\"tid\":7,\"comm\":\"</script>\xef\xbf\xbd&\",\"thread\":0},\"b\":{"
		   "\"pid\":8,"),
	   "who it is of; names are valid UTF-8");
	ok(has(&s, "\"insn\":\"je\",\"compare\":\"test edi, edi\""), "what the branch tests");
	ok(has(&s, "\"a\":{\"taken\":true,"), "what A did");
	ok(has(&s, "\"index\":1,\"branches\":0,\"calls\":0,\"steps\":[{\"ts\":2,"),
	   "the way of A begins with the branch");
	ok(has(&s, "\"b\":{\"taken\":false,"), "what B did");
	ok(has(&s, "\"index\":1,\"branches\":1,\"calls\":0,\"steps\":[{\"ts\":102,"),
	   "the way of B is one branch longer");
	ok(has(&s, "\"a\":2,\"b\":3,\"steps\":[{\"ts\":3,"), "they meet at the ret");
	ok(has(&s, "{\"event\":\"summary\",\"a\":\"a.bbt\",\"b\":\"</script>\xef\xbf\xbd&\","
		   "\"same\":3,\"differences\":1,\"shown\":1,\"uncertain\":0,"
		   "\"threads_only_a\":0,\"threads_only_b\":0,\"functions\":0,\"edges\":3,"
		   "\"losses\":{\"a\":{\"events\":4,\"lost\":0,\"unknown\":0,"
		   "\"missed_at_most\":0},\"b\":{\"events\":5,\"lost\":1,"),
	   "the summary");
	str__free(&s);
}

static void test_page(void)
{
	struct str s = {0};

	diff__html(&view, &s);
	is(count(&s, "<script"), 1, "the page has one script");
	is(count(&s, "</script"), 1, "whatever names are like");
	is(count(&s, "\xff"), 0, "and is valid UTF-8");
	is(count(&s, "{{"), 0, "no hole is left");
	is(count(&s, "class=\"difference\""), 1, "it has the difference");
	ok(has(&s, "f&lt;int&gt;"), "names are escaped");
	ok(has(&s, "after <code>test edi, edi</code>"), "it says what the branch tests");
	ok(has(&s, "Missing in B: lost events: 1"), "it says what is missing");
	ok(has(&s, "1 branch until they meet"), "it says how long B is alone");
	str__free(&s);
}

static void test_text(void)
{
	struct str s = {0};

	diff__text(&view, &s);
	ok(has(&s, "\ndifference 1 of 1: < </script>\\xff&-7 > </script>\\xff&-8, after 1 steps "),
	   "text: who it is of");
	ok(has(&s, "until they meet: A takes 0 branches; B takes 1 branch\n"),
	   "text: how long each is alone");
	str__free(&s);
}

static void test_counts_only(void)
{
	struct diff none = {.outcomes = &outcomes, .runs = {&runs[0], &runs[1]}};
	struct diff_view counts = view;
	struct str s = {0};

	counts.d = &none;
	counts.steps = NULL;
	counts.counts_only = true;
	diff__json(&counts, &s);
	is(count(&s, "\n"), 4, "counts alone: the branches and a summary");
	ok(!has(&s, "\"same\""), "nothing is said of paths");
	str__clear(&s);
	diff__html(&counts, &s);
	is(count(&s, "<section"), 0, "a page of counts has no difference of paths");
	is(count(&s, "class=\"counts\""), 1, "and a table");
	str__free(&s);
}

int main(void)
{
	struct scratch *scratch = scratch__new();

	p.arch = arch__by_machine(EM_X86_64);
	compare(scratch);
	test_json();
	test_page();
	test_text();
	test_counts_only();
	diff_steps__free(&steps);
	diff__free(&d);
	vec__free(&view.functions);
	vec__free(&view.branches);
	for (int side = 0; side < SIDES; side++)
		paths__free(&runs[side]);
	outcomes__free(&outcomes);
	scratch__free(scratch);
	return tap__done();
}
