// SPDX-License-Identifier: BSD-2-Clause
/* Ranks of branches, of runs that are made up: a plan of one function with a few conditionals, and
 * what each run did. */
#include "diff/diff.h"
#include "tap.h"

#define SITES 8

static struct plan_site sites[SITES];
static struct plan_function functions[] = {{.name = "f"}, {.name = "g"}};
static struct plan plan;
static struct outcomes outcomes;
static struct rank rank;

static void set_up(void)
{
	for (uint32_t i = 0; i < SITES; i++)
		sites[i] = (struct plan_site){
			.vaddr = 16 * i, .target = 4096 + i, .kind = BRANCH_JCC, .len = 2};
	plan = (struct plan){.sites = {.data = sites, .len = SITES},
			     .functions = {.data = functions, .len = 2}};
	outcomes__init(&outcomes, &plan);
	rank__init(&rank, &outcomes);
	outcomes.nfunctions = 2;
	outcomes.same = xcalloc(2, sizeof(*outcomes.same));
	outcomes.changed = xcalloc(2, sizeof(*outcomes.changed));
	outcomes.same[1] = 1;
}

static void tear_down(void)
{
	rank__free(&rank);
	outcomes__free(&outcomes);
}

/* "A": site 0 is taken, "a": it is not; each as a step of its own. */
static void play(struct paths *p, const char *steps)
{
	for (; *steps; steps++) {
		bool taken = *steps < 'a';
		uint32_t site = *steps - (taken ? 'A' : 'a');
		uint32_t outcome = outcomes__branch(&outcomes, site, taken, NULL);
		bool is_first = p->counts.len <= outcome || !p->counts.data[outcome];

		paths__count(p, outcome, 1);
		if (is_first)
			p->first.data[outcome] = p->steps;
	}
}

static void add(bool fails, const char *steps, struct rank_about about)
{
	static const uint32_t both[] = {0, 1};
	struct paths p;

	if (!about.functions) {
		about.functions = both;
		about.nfunctions = 2;
	}
	about.fails = fails;
	about.events = PLAN_ENTRY | PLAN_BRANCH;
	paths__init(&p, &outcomes, NULL);
	play(&p, steps);
	rank__add(&rank, &p, &about);
	paths__free(&p);
}

static void pass(const char *steps)
{
	add(false, steps, (struct rank_about){0});
}

static void fail(const char *steps)
{
	add(true, steps, (struct rank_about){0});
}

/* The row of that rank: "A" as above; " " if there is none. */
static char at(size_t i)
{
	const struct outcome *o;

	if (i > rank.rows.len)
		return ' ';
	o = &outcomes.rows.data[rank.rows.data[i - 1].outcome];
	return (o->taken ? 'A' : 'a') + (char)o->site;
}

static const struct rank_row *row_of(uint32_t site)
{
	static const struct rank_row none;
	const struct rank_row *r;

	vec__each (r, &rank.rows)
		if (outcomes.rows.data[r->outcome].site == site)
			return r;
	return &none;
}

static void test_cause_before_effects(void)
{
	set_up();
	/* B is the cause; C follows it, d comes late; A varies */
	pass("abda");
	pass("Abdd");
	pass("abd");
	fail("aBCD");
	fail("ABCD");
	rank__find(&rank, NULL);
	is(at(1), 'B', "the earliest one that decides is the first");
	is(at(2), 'D', "a later one that decides comes behind it");
	is(at(3), 'C', "what only failing runs come to follows");
	ok(rank.rows.data[0].score == 1 && rank.rows.data[2].score == 1, "all tell as much");
	ok(rank.rows.data[0].decides && !rank.rows.data[2].decides, "Increase tells them apart");
	is(rank.complete, 3, "three tell the runs apart");
	is(rank.rows.data[0].runs[RANK_FAIL], 2, "failing 2");
	is(rank.rows.data[0].of[RANK_FAIL], 2, "of 2");
	is(rank.rows.data[0].runs[RANK_PASS], 0, "passing 0");
	is(rank.rows.data[0].of[RANK_PASS], 3, "of 3");
	is(rank.rows.data[0].sites[RANK_PASS], 3, "so many passing executions went the other way");
	tear_down();
}

static void test_counts(void)
{
	set_up();
	for (int i = 0; i < 4; i++)
		pass(i % 2 ? "AAabbB" : "AAAabbB");
	for (int i = 0; i < 4; i++)
		fail(i % 2 ? "AAAAAabbB" : "AAAAAAabBB");
	rank__find(&rank, NULL);
	is(at(1), 'A', "a loop that goes on for longer");
	is(rank.rows.data[0].how, RANK_AT_LEAST, "is told by its count");
	is(rank.rows.data[0].count, 5, "at least 5 times");
	ok(rank.rows.data[0].score > 0.3 && rank.rows.data[0].score < 1,
	   "a threshold costs something");
	ok(rank.rows.data[0].decides, "its share goes with the count");
	tear_down();
}

static void test_shares(void)
{
	set_up();
	pass("Aaaaaaaaaa");
	pass("AAaaaaaaaaaaaaaaaaaa");
	pass("Aaaaaaaaaaaa");
	pass("AAAaaaaaaaaaaaaaaaaaaaaaaaaa");
	fail("AAaa");
	fail("AAAaa");
	fail("Aa");
	fail("AAaaa");
	rank__find(&rank, NULL);
	is(rank.rows.len, 1, "one branch tells something");
	ok(rank.rows.data[0].how == RANK_SHARE_AT_LEAST || rank.rows.data[0].how == RANK_AT_MOST,
	   "by its share, or by its count");
	is(rank.rows.data[0].runs[RANK_FAIL], 4, "of all failing runs");
	is(rank.rows.data[0].runs[RANK_PASS], 0, "and of no other");
	tear_down();
}

static void test_nothing(void)
{
	set_up();
	pass("aB");
	pass("Ab");
	fail("Ab");
	fail("aB");
	rank__find(&rank, NULL);
	is(rank.rows.len, 0, "what is the same in both sets is no row");
	tear_down();
}

static void test_never(void)
{
	set_up();
	pass("aAb");
	pass("aAb");
	pass("aA");
	fail("abb");
	fail("ab");
	fail("a");
	rank__find(&rank, NULL);
	is(at(1), 'A', "what failing runs never do");
	is(rank.rows.data[0].how, RANK_NEVER, "never");
	ok(rank.rows.data[0].decides, "it decides: they come to its site");
	tear_down();
}

#define LONG "fffffffffffffffffffffffff"

/* The cause is taken by a passing run, too, and only the verdict at the end tells all apart. */
static void test_verdict(void)
{
	set_up();
	for (int i = 0; i < 40; i++)
		pass(i ? i % 2 ? "abcd" LONG "h" : "aBcd" LONG "h" : "abCd" LONG "h");
	for (int i = 0; i < 20; i++)
		fail(i % 2 ? "abCd" LONG "H" : "aBCd" LONG "H");
	rank__find(&rank, NULL);
	is(at(1), 'C', "what comes before a verdict and can't be chance is the first");
	is(at(2), 'H', "the verdict comes behind it");
	ok(rank.rows.data[1].verdict, "it is known as one");
	tear_down();

	set_up();
	for (int i = 0; i < 3; i++)
		pass(i ? "abcd" LONG "h" : "abCd" LONG "h");
	for (int i = 0; i < 2; i++)
		fail("abCd" LONG "H");
	rank__find(&rank, NULL);
	is(at(1), 'H', "what may be chance doesn't come before a verdict");
	tear_down();
}

static void test_unknown(void)
{
	static const uint32_t only_g[] = {1};
	uint32_t not_known;

	set_up();
	sites[1].function = 1;
	pass("ab");
	pass("ab");
	fail("AB");
	add(true, "B", (struct rank_about){.functions = only_g, .nfunctions = 1});
	not_known = outcomes__branch(&outcomes, 1, true, NULL);
	add(true, "A", (struct rank_about){.unknown_outcomes = &not_known, .nunknown = 1});
	rank__find(&rank, NULL);
	is(row_of(0)->of[RANK_FAIL], 2, "a run that didn't trace the function tells nothing");
	is(row_of(1)->of[RANK_FAIL], 2, "a count that isn't known neither");
	is(row_of(0)->runs[RANK_FAIL], 2, "the others do");
	ok(row_of(0)->score < 1, "what is known of fewer runs tells less");
	is(rank.complete, 0, "and doesn't tell all of them apart");
	tear_down();
}

static void test_bounds(void)
{
	set_up();
	pass("AA");
	pass("A");
	add(true, "AAAAA", (struct rank_about){.bounds = true});
	fail("AAAA");
	rank__find(&rank, NULL);
	is(rank.rows.len, 0, "lower bounds have no thresholds");
	tear_down();
}

static void test_functions(void)
{
	bool chosen[] = {false, true};

	set_up();
	sites[1].function = 1;
	pass("ab");
	fail("AB");
	rank__find(&rank, chosen);
	is(rank.rows.len, 1, "of the functions that are asked for");
	is(at(1), 'B', "only those");
	tear_down();

	set_up();
	sites[1].function = 1;
	outcomes.changed[0] = true;
	pass("ab");
	fail("AB");
	rank__find(&rank, NULL);
	is(rank.rows.len, 1, "functions that differ between builds are left out");
	tear_down();
}

static void test_unequal(void)
{
	set_up();
	for (int i = 0; i < 200; i++)
		pass(i % 3 ? i % 7 ? "abc" : "aBc" : "Abc");
	fail("AbC");
	fail("abC");
	rank__find(&rank, NULL);
	is(at(1), 'C', "two failing runs among two hundred");
	ok(rank.rows.data[0].score > 0.99, "tell all");
	ok(rank.rows.len < 2 || rank.rows.data[1].score < 0.3, "and noise little");
	tear_down();
}

int main(void)
{
	test_cause_before_effects();
	test_counts();
	test_shares();
	test_nothing();
	test_never();
	test_verdict();
	test_unknown();
	test_bounds();
	test_functions();
	test_unequal();
	return tap__done();
}
