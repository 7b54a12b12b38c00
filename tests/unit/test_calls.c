// SPDX-License-Identifier: BSD-2-Clause
/* A thread's calls: the innermost active one is found whatever becomes dormant, resumes or ends;
 * those that were left in great numbers are not kept. Each answer is compared with that of a search
 * through all. */
#include "code_trace_fixture.h"
#include "trace/calls.h"

#define ROUNDS 300000
#define MOST   60

static struct trace t = {.plan = &code_plan, .options.events = PLAN_RETURN};
static struct thread th;

static size_t any(size_t n)
{
	return (size_t)rand() % n;
}

static void push(uint64_t sp)
{
	const struct call c = {.sp = sp, .state = CALL_AT, .called_directly = any(2)};

	calls__push(&t, &th, &c);
}

static struct call *searched(size_t below)
{
	while (below-- > 0)
		if (!th.calls.data[below].dormant)
			return &th.calls.data[below];
	return NULL;
}

static bool all_is_right(void)
{
	struct call *top = searched(th.calls.len), *c;
	size_t dormant = 0;

	vec__each (c, &th.calls) {
		dormant += c->dormant;
		if (c->dormant && !calls__may_reuse(&th, c->sp))
			return false;
	}
	return calls__top(&th) == top && th.ndormant == dormant &&
	       (!top || calls__caller(&th, top) == searched((size_t)(top - th.calls.data)));
}

static void change(void)
{
	struct call *c = th.calls.len ? &th.calls.data[any(th.calls.len)] : NULL;
	uint64_t sp = 1 + any(40);

	switch (c && th.calls.len < MOST ? any(9) : c ? 3 : 0) {
	case 0:
	case 1:
		return push(sp);
	case 2:
		calls__suspend_below(&th, sp);
		calls__reuse(&t, &th, sp);
		return push(sp);
	case 3:
		return calls__remove(&th, c);
	case 4:
		return calls__abandon_chain(&t, &th, c);
	case 5:
		return calls__suspend_below(&th, sp);
	case 6:
		return calls__suspend_from(&th, c);
	default:
		c = calls__make_current(&th, c);
		if (calls__top(&th) != c)
			exit(1);
	}
}

static void test_any(void)
{
	struct thread copy = {0};
	int right = 0;

	for (int i = 0; i < ROUNDS; i++) {
		change();
		right += all_is_right();
	}
	ok(right == ROUNDS, "the innermost ones are found whatever happened");
	calls__copy(&copy, &th);
	vec__free(&th.calls);
	th = copy;
	ok(all_is_right(), "and in a copy");
	calls__abandon_all(&t, &th);
	ok(!th.ndormant, "none is left at the end");
}

static void test_many(void)
{
	const uint64_t before = t.totals.unmatched_returns;
	const size_t n = 100000;
	size_t dormant;

	for (uint64_t sp = n + 1; sp > 0; sp--)
		push(sp);
	/* longjmp to the outermost */
	calls__suspend_above(&th, 0);
	push(n);
	dormant = th.ndormant;
	ok(dormant > 0 && dormant < n / 10, "few of many calls that were left are kept: %zu",
	   dormant);
	ok(t.totals.unmatched_returns - before == n - dormant, "and the others are counted");
	ok(th.calls.data[th.calls.len - 2].sp == 1, "the innermost ones are kept");
	ok(all_is_right(), "the innermost active one is found");
	calls__abandon_all(&t, &th);
}

int main(void)
{
	srand(1);
	test_any();
	test_many();
	vec__free(&th.calls);
	return tap__done();
}
