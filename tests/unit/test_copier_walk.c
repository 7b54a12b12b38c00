// SPDX-License-Identifier: BSD-2-Clause
/* The callers in an entry's record: frames that frame pointers lead to, and nothing is read that
 * might fault. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "log_fixture.h"

#define PAGE	 4096
#define OWN_SIZE (3 * PAGE)
#define FRAMES	 (OWN_SIZE / 2 / 16)

/* What precedes it and what follows it faults. */
static uint8_t *own;

static void make_own(void)
{
	own = (uint8_t *)map_pages(OWN_SIZE + 2 * PAGE, PROT_NONE) + PAGE;
	if (mprotect(own, OWN_SIZE, PROT_READ | PROT_WRITE))
		abort();
}

/* A stack from sp to its end, of frames of random sizes; the last one leads to last. */
static unsigned make_frames(struct trial *t, uint64_t sp, uint64_t end, unsigned most,
			    uint64_t last)
{
	uint64_t at = sp + AROUND + random64() % 4 * 8, n = 0;

	t->in.r[RBP] = at;
	while (++n < most) {
		uint64_t next = at + 16 + random64() % 8 * 8;

		if (next > end - 16)
			break;
		((uint64_t *)at)[0] = next;
		((uint64_t *)at)[1] = random64();
		at = next;
	}
	((uint64_t *)at)[0] = last;
	((uint64_t *)at)[1] = random64();
	return n;
}

static uint64_t number_of(const struct trial *t, enum ring_state state)
{
	const uint64_t *w = (const uint64_t *)record_at(state);
	unsigned leaves = t->point.is_ret || t->point.operand;

	return w[4 + 2 * leaves + __builtin_popcount(t->options.regs)];
}

/* Where the last frame pointer leads: nowhere, below, just behind the end, to what can't be read.
 */
static uint64_t last_of(unsigned way, uint64_t end)
{
	const uint64_t ways[] = {0,	   (uintptr_t)own, end - 8,    end,
				 end + 64, random64(),	   UINT64_MAX, 0xffff8000};

	return ways[way % ARRAY_SIZE(ways)];
}

static void test_own(bool known)
{
	unsigned bad = 0, faults = 0, most = 0;

	for (unsigned i = 0; i < 6000; i++) {
		enum ring_state state = random64() % RING_STATES;
		uint64_t sp = (uintptr_t)own + PAGE + random64() % (PAGE / 8) * 8;
		uint64_t end = known ? (uintptr_t)own + OWN_SIZE : (sp | (PAGE - 1)) + 1;
		uint64_t room = end - sp;
		struct trial t;
		const char *what;
		unsigned n;

		prepare(&t, LOG_ENTRY, i % 8);
		t.options.callers = true;
		t.point.is_ret = i % 3 == 0;
		ring->stack_start = known ? (uintptr_t)own : i % 2 ? (uintptr_t)own + 2 * PAGE : 0;
		ring->stack_end = known ? end : i % 2 ? (uintptr_t)own + OWN_SIZE : 0;
		if (room < AROUND + 64 || (!known && (sp & (PAGE - 1)) < 256))
			continue;
		memcpy(t.stack + RED_ZONE, &sp, 8);
		t.in.r[RSP] = sp;
		n = make_frames(&t, sp, end, 1 + random64() % FRAMES, last_of(i / 8, end));
		what = try_at(&t, state, 0, (uint8_t *)sp);
		faults += had_fault;
		most = max_of(most, (unsigned)number_of(&t, state));
		if (!what && number_of(&t, state) != min_of(n, (unsigned)LOG_CALLERS))
			what = "number of frames";
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "callers on %s",
	   known ? "the thread's stack" : "another stack, in the same page");
	is(faults, 0, "nothing is read that can't be");
	is(most, LOG_CALLERS, "as many as there is room for");
}

/* A frame pointer that is none. */
static void test_garbage(void)
{
	unsigned bad = 0, faults = 0;

	ring->stack_start = (uintptr_t)stack;
	ring->stack_end = (uintptr_t)stack + STACK_SIZE;
	for (unsigned i = 0; i < 4000; i++) {
		struct trial t;
		const char *what;

		prepare(&t, LOG_ENTRY, i % 8);
		t.options.callers = true;
		t.in.r[RBP] = i % 2 ? random64() >> random64() % 64
				    : (uintptr_t)stack + random64() % (STACK_SIZE + 64);
		what = try(&t, random64() % RING_STATES, 0);
		faults += had_fault;
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "any value as frame pointer");
	is(faults, 0, "it is not followed where it can't be");
}

/* Memory that goes away all the same. */
static void test_gone(void)
{
	struct trial t;

	prepare(&t, LOG_ENTRY, 0);
	t.options.callers = true;
	ring->stack_start = (uintptr_t)own;
	ring->stack_end = (uintptr_t)own + OWN_SIZE + PAGE;
	t.in.r[RSP] = (uintptr_t)own + PAGE;
	t.in.r[RBP] = (uintptr_t)own + 2 * PAGE;
	((uint64_t *)t.in.r[RBP])[0] = (uintptr_t)own + OWN_SIZE + 64;
	((uint64_t *)t.in.r[RBP])[1] = 7;
	place_log(&t);
	set_ring(FRESH);
	run_log_at(&t, (uint8_t *)t.in.r[RSP]);
	ok(had_fault && !harm(&t), "a load that faults does no harm");
	is(number_of(&t, FRESH), 1, "and ends the stack");
}

int main(void)
{
	init();
	make_own();
	test_own(true);
	test_own(false);
	test_garbage();
	test_gone();
	return tap__done();
}
#endif
