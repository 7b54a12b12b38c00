// SPDX-License-Identifier: BSD-2-Clause
/* Records of Go programs: which goroutine's they are is told where that may have changed, and the
 * log takes as little of a small stack as it says. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "log_fixture.h"

#define GOID	 152 /* its offset */
#define TOLD	 5   /* words of the record */
#define PATTERN	 0xa5
#define BELOW	 1024 /* bytes below the stack pointer that are looked at */
/* What an injected call keeps there, in the middle of a log: nine registers and the flags. */
#define INJECTED (10 * 8)

/* struct g */
static union {
	struct {
		uint64_t low, high;
	};
	uint64_t words[32];
} gs[2];

static __thread uint64_t current; /* the address of one of them; 0: none */
static uint64_t owners[LOG_OWNERS];
static unsigned deepest;

static int32_t current_at(void)
{
	uintptr_t thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return (int32_t)((uintptr_t)&current - thread);
}

static uint64_t *cell_of(uint64_t g)
{
	return &owners[(g >> LOG_OWNERS_SHIFT) % LOG_OWNERS];
}

/* What has changed since the thread has told of its goroutine. */
enum change {
	NOTHING,
	OTHER_G,
	OTHER_NUMBER,
	OTHER_LOW,
	OTHER_HIGH,
	OTHER_OWNER,
	UNTOLD,
	STILL_NONE,
	NOW_NONE,
	CHANGES
};

static void set_told(enum change change)
{
	uint64_t g = (uintptr_t)&gs[0];

	for (unsigned i = 0; i < ARRAY_SIZE(gs[0].words); i++)
		gs[0].words[i] = random64();
	current = change >= STILL_NONE ? 0 : g;
	ring->owners = (uintptr_t)owners;
	*cell_of(g) = change == OTHER_OWNER ? random64() : ring->base;
	ring->owner = (uintptr_t)cell_of(g);
	ring->goid = gs[0].words[GOID / 8] ^ (change == OTHER_NUMBER);
	ring->g_start = gs[0].low ^ (change == OTHER_LOW);
	ring->g_end = gs[0].high ^ (change == OTHER_HIGH);
	ring->g = change == OTHER_G	 ? (uintptr_t)&gs[1]
		  : change == UNTOLD	 ? LOG_GOROUTINE_UNKNOWN
		  : change == STILL_NONE ? LOG_GOROUTINE_NONE
					 : g;
}

static bool is_told(enum change change, enum ring_state state)
{
	if (state == TURN || state == LOST) /* a new segment */
		return true;
	return change != NOTHING && change != STILL_NONE &&
	       (change != OTHER_NUMBER || goroutine.goid);
}

static const char *wrong_goroutine(const struct trial *t, const uint64_t *w)
{
	uint64_t number = !current ? 0 : goroutine.goid ? gs[0].words[GOID / 8] : (uintptr_t)&gs[0];

	if (w[0] != LOG_ID(LOG_GOROUTINE, 0, !goroutine.goid, 0))
		return "id of the goroutine";
	if (wrong_time(t, w[1]))
		return "time of the goroutine";
	if (w[2] != number || w[3] != (current ? gs[0].low : 0) ||
	    w[4] != (current ? gs[0].high : 0))
		return "goroutine";
	return NULL;
}

static const char *wrong_state(void)
{
	uint64_t g = current ? current : LOG_GOROUTINE_NONE;

	if (ring->g != g)
		return "goroutine that was told";
	return current && *cell_of(g) != ring->base ? "owner" : NULL;
}

static void see_depth(const uint8_t *sp)
{
	unsigned below = 0;

	for (unsigned i = 1; i <= BELOW; i++)
		if (sp[-(int)i] != PATTERN && i > copier->small_zone)
			below = i;
	deepest = max_of(deepest, below);
}

static const char *try_change(struct trial *t, enum change change, enum ring_state state)
{
	uint8_t *sp = stack + STACK_SIZE / 2;
	uint64_t at, end;
	unsigned words = 0, told;
	const char *bad;

	place_log(t);
	set_ring(state);
	set_told(change);
	told = is_told(change, state) ? TOLD : 0;
	at = record_at(state);
	end = ring->limit ? ring->cursor : ring->kept;
	memset(sp - BELOW, PATTERN, BELOW);
	memset(t->stack, PATTERN, RED_ZONE);
	run_log_at(t, sp);
	see_depth(sp);
	bad = harm(t);
	if (!bad && told)
		bad = wrong_goroutine(t, (const uint64_t *)at);
	if (!bad)
		bad = wrong_record(t, (const uint64_t *)at + told, top(t), &words);
	if (!bad)
		bad = wrong_ring(state, end, at + 8 * (told + words));
	return bad ? bad : wrong_state();
}

static const char *const change_names[CHANGES] = {
	"the same goroutine",	      "another one",	   "another number",
	"another start of its stack", "another end of it", "another owner",
	"nothing told so far",	      "none, as before",   "none any more"};

static void test_changes(enum log_kind kind, const char *name)
{
	for (enum change change = 0; change < CHANGES; change++) {
		unsigned bad = 0;

		for (unsigned i = 0; i < 1500; i++) {
			struct trial t;
			const char *what;

			prepare(&t, kind, i % 8);
			t.point.is_ret = kind != LOG_BRANCH;
			goroutine.goid = i % 5 ? GOID : 0;
			ring->stack_start = (uintptr_t)stack;
			ring->stack_end = (uintptr_t)stack + STACK_SIZE;
			what = try_change(&t, change, random64() % RING_STATES);
			if (what && bad++ < 3)
				describe(&t, what);
		}
		is(bad, 0, "%s: %s", name, change_names[change]);
	}
}

/* A thread that has no thread pointer yet has no goroutine. */
static void test_fault(void)
{
	struct trial t;
	int32_t was = goroutine.g;

	prepare(&t, LOG_BRANCH, 0);
	goroutine.g = INT32_MIN; /* far below any thread's memory */
	set_told(UNTOLD);
	place_log(&t);
	set_ring(FRESH);
	ring->g = LOG_GOROUTINE_UNKNOWN;
	run_log(&t);
	goroutine.g = was;
	ok(had_fault, "the goroutine of a thread without a thread pointer can't be read");
	ok(!harm(&t), "the log goes on");
	is(((const uint64_t *)record_at(FRESH))[2], 0, "and tells that there is none");
}

int main(void)
{
	init();
	small_stack = true;
	goroutine = (struct log_goroutine){true, current_at(), GOID};
	test_changes(LOG_BRANCH, "a branch");
	test_changes(LOG_RETURN, "a return");
	test_changes(LOG_ENTRY, "an entry");
	ok(deepest > copier->small_zone, "the stack is used");
	ok(deepest + copier->small_zone + INJECTED <= copier->below,
	   "a log and an injected in it take no more of the stack than they say: %u", deepest);
	test_fault();
	return tap__done();
}
#endif
