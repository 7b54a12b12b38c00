// SPDX-License-Identifier: BSD-2-Clause
/* Repeated lines in the text format. */
#include "output_fixture.h"

static struct output_options options;

/* Steps with the options of the moment render as want. */
#define shows(want, what, ...) fixture_shows("text", &options, want, what, __VA_ARGS__)

#define LEFT  "   0.000012345 ls-7          "
#define LATE  "               ls-7          "
#define DIM   "\033[2m"
#define RESET "\033[0m"

static struct step later(struct step s, uint64_t ns)
{
	s.time += ns;
	return s;
}

static void test_fold_line(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x20)), implied = b;

	implied.timed = false;
	implied.implied = true;
	options.fold = true;
	shows(LEFT "  malloc+0x25  jne  taken -> malloc+0x20  4 times in 3.5us\n",
	      "a line that repeats has its count and how long all took", b, later(b, 1000),
	      later(b, 2000), later(b, 3500));
	shows(LATE "  malloc+0x25  jne  taken -> malloc+0x20  2 times\n",
	      "an untimed line that repeats has a count alone", implied, implied);
	shows(LEFT "  malloc+0x25  jne  taken -> malloc+0x20\n" LATE
		   "  malloc+0x25  jne  taken -> malloc+0x20\n",
	      "an implied branch and a recorded one are not folded together", b, implied);
	options.time = TIME_NONE;
	shows("ls-7            malloc+0x25  jne  taken -> malloc+0x20  2 times\n",
	      "a line that repeats has a count alone with -T none", b, later(b, 5));
	options.time = TIME_REL;
	options.color = true;
	shows(DIM LEFT RESET "  malloc+0x25  jne  \033[1mtaken" RESET
			     " -> malloc+0x20  \033[33m2 times in 5ns" RESET "\n",
	      "the count of a line that repeats is yellow", b, later(b, 5));
	options.color = false;
	options.fold = false;
	shows(LEFT "  malloc+0x25  jne  taken -> malloc+0x20\n" LEFT
		   "  malloc+0x25  jne  taken -> malloc+0x20\n",
	      "--no-fold shows each line", b, b);
}

static void test_fold_body(void)
{
	struct step a = fixture_branch(SITE_LOOP, false, fixture_at(0x29)),
		    b = fixture_branch(SITE_JNE, true, fixture_at(0x20)),
		    c = fixture_branch(SITE_JMP, true, fixture_at(0x10));

	options.fold = true;
	shows("   0.000015845 ls-7            malloc+0x25  jne  taken -> malloc+0x20"
	      "  3 times in 3.5us\n",
	      "a line that repeats takes as long with the latest first (--last)", later(b, 3500),
	      later(b, 2000), b);
	shows("   0.000012352 ls-7            2 times in 7ns:\n"
	      "   0.000012352 ls-7            | malloc+0x25  jne  taken -> malloc+0x20\n"
	      "   0.000012350 ls-7            | malloc+0x27  jrcxz  not taken -> malloc+0x29\n",
	      "several lines that repeat take as long with the latest first (--last)", later(b, 7),
	      later(a, 5), b, a);
	shows(LEFT "  2 times in 7ns:\n" LEFT
		   "  | malloc+0x27  jrcxz  not taken -> malloc+0x29\n" LEFT
		   "  | malloc+0x25  jne  taken -> malloc+0x20\n",
	      "several lines that repeat stand below their count", a, b, later(a, 5), later(b, 7));
	shows(LEFT "  2 times in 9ns:\n" LEFT
		   "  | malloc+0x25  jne  taken -> malloc+0x20  3 times in 2ns\n" LEFT
		   "  | malloc+0x29  jmp  -> malloc+0x10\n",
	      "a line that repeats within several has a count of its own", b, later(b, 1),
	      later(b, 2), c, later(b, 5), later(b, 6), later(b, 7), later(c, 9));
	shows(LEFT "  2 times in 0ns:\n" LEFT "  | 2 times in 0ns:\n" LEFT
		   "  | | malloc+0x27  jrcxz  not taken -> malloc+0x29\n" LEFT
		   "  | | malloc+0x25  jne  taken -> malloc+0x20\n" LEFT
		   "  | malloc+0x29  jmp  -> malloc+0x10\n",
	      "several lines that repeat within others stand below a count of their own", a, b, a,
	      b, c, a, b, a, b, c);
	options.fold = false;
}

static void test_fold_calls(void)
{
	struct step e = fixture_entry(), b = fixture_branch(SITE_JNE, true, fixture_at(0x20)),
		    r = fixture_return(), e2 = later(e, 4000), r2 = later(r, 5000), other = r2;

	b.depth = e.depth = e2.depth = r.depth = r2.depth = other.depth = 1;
	e2.has_since = true;
	e2.since_entry = 4000;
	r2.duration = 17;
	other.value++;
	other.duration = 17;
	r2.has_tracing = true;
	options.fold = true;
	shows(LEFT "  2 times in 5.0us:\n" LEFT "  | malloc(rdi=0x18, rsi=0x0)  first entry\n" LEFT
		   "  |   malloc+0x25  jne  taken -> malloc+0x20\n" LEFT
		   "  | malloc returns 0x5581a2c0  1.2us\n",
	      "calls that differ in their times only are folded", e, b, r, e2, b, r2);
	shows(LEFT
	      "  malloc(rdi=0x18, rsi=0x0)  first entry\n" LEFT
	      "    malloc+0x25  jne  taken -> malloc+0x20\n" LEFT
	      "  malloc returns 0x5581a2c0  1.2us\n"
	      "   0.000016345 ls-7            malloc(rdi=0x18, rsi=0x0)  +4.0us since last\n" LEFT
	      "    malloc+0x25  jne  taken -> malloc+0x20\n"
	      "   0.000017345 ls-7            malloc returns 0x5581a2c1  17ns\n",
	      "calls that return different values are not folded", e, b, r, e2, b, other);
	options.fold = false;
}

static void test_fold_marks(void)
{
	autofree char *want = NULL;
	struct step s = fixture_step(STEP_UNKNOWN, SITE_ENTRY),
		    deep = fixture_branch(SITE_JNE, true, fixture_at(0x20));

	options.fold = true;
	shows(LEFT "-- path unknown --\n" LEFT "-- path unknown --\n",
	      "unknown paths are not folded", s, s);
	deep.depth = 50;
	options.time = TIME_NONE;
	want = xasprintf("ls-7%*s[50] malloc+0x25  jne  taken -> malloc+0x20  2 times\n",
			 10 + 40 * 2 + 2, "");
	shows(want, "a folded line of deep recursion has its depth as a number", deep, deep);
	options.time = TIME_REL;
	options.fold = false;
}

/* A line of a branch is rendered once, and again where anything of its text differs. */
static void test_fold_known(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_main()), steps[24];
	char *folded, *unfolded;
	size_t n = 0;

#define DIFFERS(member, value)                                                                     \
	do {                                                                                       \
		steps[n++] = b;                                                                    \
		steps[n] = b;                                                                      \
		steps[n++].member = (value);                                                       \
	} while (0)
	DIFFERS(depth, 3);
	DIFFERS(interrupt, IN_HARDIRQ);
	DIFFERS(taken, false);
	DIFFERS(site, SITE_ICALL);
	DIFFERS(at.symbol, "other");
	DIFFERS(at.offset, 5);
	DIFFERS(to.symbol, "other");
	DIFFERS(to.symbol, NULL);
	DIFFERS(to.offset, 5);
	DIFFERS(to.object, NULL);
	DIFFERS(to_known, false);
#undef DIFFERS
	options.fold = true;
	folded = fixture_render("text", &options, steps, n);
	options.fold = false;
	unfolded = fixture_render("text", &options, steps, n);
	is_str(folded, unfolded, "lines that differ in anything are shown as without folding");
	free(folded);
	free(unfolded);
}

/* What was known of a line that nothing has any more is another line's now. */
static void test_fold_forgotten(void)
{
	const struct step b = fixture_branch(SITE_JNE, true, fixture_main()), e = fixture_entry();
	struct str text = {0};
	struct output *o;

	options.fold = true;
	o = output__new(output__by_name("text"), &options, &fixture_plan, fixture_write, &text);
	output__step(o, &b);
	output__settle(o);
	output__step(o, &e);
	output__step(o, &b);
	output__settle(o);
	output__free(o);
	options.fold = false;
	str__put(&text, "", 0);
	ok(strstr(text.data, "malloc(") && strstr(strstr(text.data, "malloc("), "jne"),
	   "a line that has come out is shown again, not the one that has its place");
	str__free(&text);
}

/* Settling shows the lines that are held; folding goes on with later ones. */
static void test_fold_settle(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x20));
	struct str text = {0};
	struct output *o;

	options.fold = true;
	options.time = TIME_NONE;
	o = output__new(output__by_name("text"), &options, &fixture_plan, fixture_write, &text);
	output__step(o, &b);
	output__step(o, &b);
	output__flush(o);
	is(text.len, 0, "a flush holds lines that may repeat");
	output__settle(o);
	is_str(text.data, "ls-7            malloc+0x25  jne  taken -> malloc+0x20  2 times\n",
	       "settling shows the lines that were held");
	str__clear(&text);
	output__step(o, &b);
	output__end(o, &(struct trace_totals){0});
	is_str(text.data, "ls-7            malloc+0x25  jne  taken -> malloc+0x20\n",
	       "the end shows the lines that were held");
	output__free(o);
	str__free(&text);
	options = fixture_options;
}

int main(void)
{
	options = fixture_options;
	test_fold_line();
	test_fold_body();
	test_fold_calls();
	test_fold_marks();
	test_fold_known();
	test_fold_forgotten();
	test_fold_settle();
	return tap__done();
}
