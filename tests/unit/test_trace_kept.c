// SPDX-License-Identifier: BSD-2-Clause
/* The last steps of each thread, of threads and processes that end. */
#include "plan/plan_private.h"
#include "trace/trace.h"
#include "tap.h"

static struct plan plan;
static struct last *last;
/* What was given: a character for each step, its thread's; upper case: that it was killed. */
static char given[4096];

static int note_step(void *ctx, const struct step *s)
{
	char text[2] = {(s->type == STEP_NAMED ? 'A' : 'a') + s->tid % 100, 0};

	strncat(given, text, sizeof(given) - strlen(given) - 1);
	return 0;
}

static void branch(uint32_t pid, uint32_t tid)
{
	const struct step s = {.type = STEP_BRANCH, .pid = pid, .tid = tid, .comm = ""};

	last__step(last, &s);
}

static void killed(uint32_t pid, uint32_t tid)
{
	struct event_named named = {.which = 0, .comm = "", .data = (const uint8_t *)"", .len = 1};
	const struct step s = {.type = STEP_NAMED,
			       .pid = pid,
			       .tid = tid,
			       .comm = "",
			       .named = &named,
			       .plan = &plan};

	last__step(last, &s);
}

static const char *all(void)
{
	given[0] = 0;
	last__give(last, true, note_step, NULL);
	return given;
}

static const char *process(uint32_t pid)
{
	given[0] = 0;
	last__give_process(last, pid, true, note_step, NULL);
	return given;
}

static void test_process(void)
{
	last = last__new(2, false);
	for (int i = 0; i < 3; i++) {
		branch(100, 100);
		branch(100, 101);
		branch(200, 202);
	}
	killed(100, 101);
	is_str(process(100), "Bbbaa", "the thread that was killed is the first");
	is_str(process(100), "Bbbaa", "they are kept");
	last__forget_process(last, 100);
	is_str(process(100), "", "until they are forgotten");
	is_str(all(), "cc", "others are still there");
	branch(200, 202);
	branch(100, 101);
	is_str(all(), "ccb", "and go on; a new thread begins anew");
	last__free(last);
}

static void test_ended(void)
{
	last = last__new(3, false);
	branch(100, 100);
	branch(200, 201);
	last__end(last, 100, 100);
	branch(100, 100);
	is_str(process(100), "aa", "another thread of the same number");
	is_str(all(), "aba", "whose steps are not among those of the first");
	last__end(last, 300, 300);
	is_str(all(), "aba", "an end of a thread without steps");
	last__free(last);
}

static void test_many_ended(void)
{
	last = last__new(1, false);
	branch(7, 7);
	for (uint32_t i = 0; i < 300; i++) {
		branch(1000, 1000 + i);
		last__end(last, 1000, 1000 + i);
	}
	branch(7, 7);
	is(strlen(all()), 257, "256 that ended are kept, and those that run");
	is(last__dropped(last), 44, "the others are counted");
	is_str(process(7), "h", "those that run have theirs");
	last__free(last);
}

/* The instruction of the newest branch caused the signal. */
static void test_taken_back(void)
{
	struct step s = {.type = STEP_BRANCH, .pid = 100, .tid = 100, .comm = "", .has_at = true};

	last = last__new(2, false);
	for (int i = 0; i < 4; i++) {
		s.at.vaddr = 0x1000 + i;
		last__step(last, &s);
	}
	s.at.vaddr = 0x1000;
	last__take_back(last, &s);
	is_str(all(), "aa", "a branch elsewhere stays");
	last__free(last);
	last = last__new(2, false);
	for (int i = 0; i < 4; i++) {
		s.at.vaddr = 0x1000 + i;
		last__step(last, &s);
	}
	last__take_back(last, &s);
	killed(100, 100);
	is_str(all(), "Aaa", "one there is taken back, and there are as many as asked for");
	last__free(last);
}

/* ---- what runs at the end of a process ---- */

enum { MAIN, HELPER, DESTRUCTOR, NFUNCTIONS };
static struct plan_function functions[NFUNCTIONS] = {[MAIN] = {.raw = "main"},
						     [HELPER] = {.raw = "helper"},
						     [DESTRUCTOR] = {.flags = FUNCTION_FINAL}};
static struct plan_site sites[2] = {{.kind = BRANCH_CALL}, {.kind = BRANCH_JCC}};

/* A letter for each step: its vaddr. */
static int note_letter(void *ctx, const struct step *s)
{
	char text[2] = {s->at.vaddr ? s->at.vaddr : '!', 0};

	strncat(given, text, sizeof(given) - strlen(given) - 1);
	return 0;
}

static void step(enum step_type type, char letter, uint32_t function, unsigned depth,
		 const char *to)
{
	struct step s = {.type = type,
			 .pid = 1,
			 .tid = 1,
			 .comm = "",
			 .plan = &plan,
			 .function = function,
			 .depth = depth,
			 .site = !to,
			 .at.vaddr = letter,
			 .to_known = to,
			 .to.symbol = to};

	last__step(last, &s);
}

static const char *letters(void)
{
	given[0] = 0;
	last__give(last, false, note_letter, NULL);
	return given;
}

static void branches(const char *names, uint32_t function, unsigned depth)
{
	for (; *names; names++)
		step(STEP_BRANCH, *names, function, depth, NULL);
}

static void test_main_returns(void)
{
	last = last__new(3, false);
	branches("abcd", MAIN, 0);
	step(STEP_RETURN, 'r', MAIN, 0, NULL);
	branches("uvwxyz", HELPER, 0);
	is_str(letters(), "bcdr", "what runs after main's return is left out");
	is(last__left_out(last), 6, "and counted");
	is_str(letters(), "bcdr", "each time");
	killed(1, 1);
	is_str(letters(), "xyz!", "unless a signal kills the process there");
	is(last__left_out(last), 0, "then nothing is left out");
	last__free(last);
	last = last__new(3, true);
	branches("ab", MAIN, 0);
	step(STEP_RETURN, 'r', MAIN, 0, NULL);
	branches("uv", HELPER, 0);
	is_str(letters(), "bruv", "whole: it is shown");
	last__free(last);
}

static void test_exits(void)
{
	last = last__new(3, false);
	branches("ab", MAIN, 0);
	step(STEP_BRANCH, 'c', MAIN, 0, "exit@plt");
	branches("uv", HELPER, 1);
	branches("w", HELPER, 0);
	is_str(letters(), "abc", "what runs after exit() is left out");
	last__free(last);
	last = last__new(3, false);
	step(STEP_BRANCH, 'c', MAIN, 0, "exit_group_of@plt");
	branches("u", HELPER, 1);
	is_str(letters(), "cu", "not after a function whose name begins alike");
	last__free(last);
	last = last__new(4, false);
	step(STEP_BRANCH, 'e', MAIN, 1, "error@plt");
	branches("uv", HELPER, 2);
	is_str(letters(), "e", "error() may end the process");
	branches("b", MAIN, 1);
	is_str(letters(), "euvb", "it doesn't if its caller goes on");
	branches("c", MAIN, 1);
	is_str(letters(), "uvbc", "and nothing is missing then");
	is(last__left_out(last), 0, "nor counted as left out");
	last__free(last);
}

static void test_destructors(void)
{
	last = last__new(4, false);
	branches("a", MAIN, 0);
	step(STEP_ENTRY, 'E', DESTRUCTOR, 0, NULL);
	branches("u", DESTRUCTOR, 0);
	branches("v", HELPER, 1);
	step(STEP_RETURN, 'R', DESTRUCTOR, 0, NULL);
	step(STEP_ENTRY, 'E', DESTRUCTOR, 0, NULL);
	is_str(letters(), "a", "destructors, and what they call, are left out");
	is(last__left_out(last), 2, "their branches are counted");
	branches("b", MAIN, 0);
	is_str(letters(), "aEuvREb", "not if the process goes on, as after dlclose()");
	last__free(last);
	last = last__new(2, false);
	branches("a", MAIN, 0);
	step(STEP_ENTRY, 'E', DESTRUCTOR, 0, NULL);
	branches("uvwx", DESTRUCTOR, 0);
	branches("b", MAIN, 0);
	is_str(letters(), "xb", "of more than is kept, the last");
	last__free(last);
}

int main(void)
{
	plan.functions.data = functions;
	plan.functions.len = NFUNCTIONS;
	plan.sites.data = sites;
	plan.sites.len = ARRAY_SIZE(sites);
	plan__add_named(&plan, NAMED_KILLED, "killed");
	test_process();
	test_ended();
	test_many_ended();
	test_taken_back();
	test_main_returns();
	test_exits();
	test_destructors();
	plan__free_named(&plan);
	return tap__done();
}
