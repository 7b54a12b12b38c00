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
	const struct step s = {
		.type = STEP_NAMED, .pid = pid, .tid = tid, .comm = "", .named = &named};

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
	last__give_process(last, &plan, pid, true, note_step, NULL);
	return given;
}

static void test_process(void)
{
	last = last__new(2);
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
	last = last__new(3);
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
	last = last__new(1);
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

	last = last__new(2);
	for (int i = 0; i < 4; i++) {
		s.at.vaddr = 0x1000 + i;
		last__step(last, &s);
	}
	s.at.vaddr = 0x1000;
	last__take_back(last, &s);
	is_str(all(), "aa", "a branch elsewhere stays");
	last__free(last);
	last = last__new(2);
	for (int i = 0; i < 4; i++) {
		s.at.vaddr = 0x1000 + i;
		last__step(last, &s);
	}
	last__take_back(last, &s);
	killed(100, 100);
	is_str(all(), "Aaa", "one there is taken back, and there are as many as asked for");
	last__free(last);
}

int main(void)
{
	plan__add_named(&plan, NAMED_KILLED, "killed");
	test_process();
	test_ended();
	test_many_ended();
	test_taken_back();
	plan__free_named(&plan);
	return tap__done();
}
