// SPDX-License-Identifier: BSD-2-Clause
/* Rings that threads fill while they are read: each record arrives; of rings that are overwritten
 * the last ones. */
#include <pthread.h>
#include "inline_fixture.h"

/* ---- many records ---- */

/* Of each thread: several rounds of its ring. MATRIX=whole: more of them. */
static uint32_t many = 800000, forgeries = 25;

static bool outcome(uint32_t i)
{
	return i * 2654435761u >> 13 & 1;
}

static void *write_many(void *ctx)
{
	unsigned slot = (uintptr_t)ctx;

	for (uint32_t i = 0; i < many; i++)
		if (!put_branch(slot, outcome(i), SP - (i & 0xff) * 8))
			return (void *)1;
	return NULL;
}

static uint32_t seen[SLOTS];
static bool wrong;

static int check_event(void *ctx, const struct event *e)
{
	uint32_t i = seen[e->tid - 10]++;

	wrong |= e->type != EVENT_BRANCH || e->taken != outcome(i) || e->sp != SP - (i & 0xff) * 8;
	return 0;
}

static void test_many(void)
{
	const struct source_sink checks = {.event = check_event};
	pthread_t threads[SLOTS];
	void *failed[SLOTS];
	uint64_t end;

	open_tail(0);
	for (uintptr_t i = 0; i < SLOTS; i++) {
		begin_ring(i);
		notify(NOTICE_RING, i, 10 + i);
		pthread_create(&threads[i], NULL, write_many, (void *)i);
	}
	end = ticks() + 100000000000ull;
	while (ticks() < end && seen[0] + seen[1] + seen[2] + seen[3] < SLOTS * many) {
		uint64_t now = ticks();

		rings__pull(rings);
		merge__until(merge, now, &checks, &reached);
	}
	for (int i = 0; i < SLOTS; i++) {
		pthread_join(threads[i], &failed[i]);
		is(seen[i], many, "thread %d: each record arrives", i);
		ok(!failed[i], "thread %d never waits for long", i);
	}
	ok(!wrong, "all are as they were written, in order");
	is(rings__waiting(rings), 0, "nothing waits any more");
	close_all();
}

/* ---- how much may wait ---- */

/* Writes until its ring stays full though it is looked after. */
static void fill(unsigned slot)
{
	volatile struct log_ring *r = ring_of(slot);

	for (;;) {
		if (r->cursor >= r->limit && r->segments + 1 - r->released >= LOG_SEGMENTS) {
			rings__pull(rings);
			if (r->segments + 1 - r->released >= LOG_SEGMENTS)
				return;
		}
		put_branch(slot, true, SP);
	}
}

/* Whole rings: each look takes all that there is, so that somewhat more may wait. */
static unsigned waits_of(size_t before)
{
	return (rings__waiting(rings) - before) / LOG_RING;
}

static void test_room(void)
{
	size_t before;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	fill(0);
	is(waits_of(0), 4, "a single thread may have all of the memory");
	begin_ring(1);
	notify(NOTICE_RING, 1, 11);
	before = rings__waiting(rings);
	fill(1);
	is(waits_of(before), 2, "a further one its share, of at least two rings");
	close_all();
	open_tail(0);
	for (int i = 0; i < 2; i++) {
		begin_ring(i);
		notify(NOTICE_RING, i, 10 + i);
	}
	fill(0);
	is(waits_of(0), 3, "one of two: what is shared out to the other is left");
	before = rings__waiting(rings);
	rings__pull(rings);
	is(rings__waiting(rings), before, "no more of it is read");
	rings__pause(rings);
	ok(rings__waiting(rings) - before > LOG_RING - 2 * LOG_SEGMENT,
	   "but when the threads are paused, room or not");
	close_all();
}

/* ---- what is left out ---- */

#define LEFT_OUT 200000u

static uint64_t all_lost;

static int add_lost(void *ctx, const struct event *e)
{
	all_lost += e->type == EVENT_LOST ? e->count : 0;
	return 0;
}

/* The first of it was written long before the last of it. */
static void test_cut(void)
{
	const struct source_sink adds = {.event = add_lost};

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	for (uint32_t i = 0; i < LEFT_OUT; i++) {
		put_branch(0, outcome(i), SP);
		if (!(i % 10000))
			rings__pull(rings);
	}
	rings__cut(rings);
	notify(NOTICE_END, 0, 10);
	merge__end(merge, ticks(), &adds);
	is(all_lost, LEFT_OUT, "each record that is left out is counted as lost");
	close_all();
}

/* ---- rings that are overwritten ---- */

static bool put_number(unsigned slot, uint32_t i)
{
	return put_branch(slot, outcome(i), (uint64_t)i << 3);
}

/* What one reading passes on: numbers that follow each other, but for gaps. */
static struct {
	uint32_t first, next;
	unsigned events, gaps, jumps;
	bool gap; /* was the last thing that was passed on */
} numbers;

static int check_number(void *ctx, const struct event *e)
{
	uint32_t i = (uint32_t)e->sp >> 3;

	wrong |= e->type != EVENT_BRANCH || e->taken != outcome(i) || e->sp & 7;
	if (!numbers.events)
		numbers.first = i;
	if (i != numbers.next && !numbers.gap)
		numbers.jumps++;
	numbers.next = i + 1;
	numbers.gap = false;
	numbers.events++;
	return 0;
}

static int check_gap(void *ctx, const struct sideband_event *e)
{
	wrong |= e->type != SIDEBAND_GAP || e->pid != 10 || e->tid != 10;
	numbers.gaps++;
	numbers.gap = true;
	return 0;
}

static void take_numbers(void)
{
	const struct source_sink checks = {.event = check_number, .sideband = check_gap};

	uint64_t now;

	numbers.events = numbers.gaps = numbers.jumps = 0;
	rings__tail(rings);
	now = ticks();
	rings__tail(rings); /* shows that all that was written before was read */
	merge__until(merge, now, &checks, &reached);
}

static void begin_numbers(uint64_t tail)
{
	open_tail(tail);
	wrong = false;
	numbers.next = 0;
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
}

#define IN_SEGMENT ((LOG_SEGMENT - LOG_RECORD_MAX) / 8)

static void test_laps(void)
{
	bool waits = false;

	begin_numbers(LOG_RING);
	for (uint32_t i = 0; i < 100; i++)
		waits |= !put_number(0, i);
	rings__pull(rings);
	merge__until(merge, ticks(), &sink, &reached);
	is_str(passed(), "", "nothing is read as long as nobody asks");
	take_numbers();
	is(numbers.events, 100, "then all is, if nothing was overwritten");
	is(numbers.gaps, 0, "without a gap");
	for (uint32_t i = 100; i < many; i++)
		waits |= !put_number(0, i);
	ok(!waits, "the thread never waits");
	take_numbers();
	is(numbers.next, many, "the last records are read");
	ok(numbers.events >= (LOG_SEGMENTS - 1) * IN_SEGMENT, "all that the ring has: %u",
	   numbers.events);
	is(numbers.gaps, 1, "there is a gap before them");
	is(numbers.jumps, 0, "and none between them");
	take_numbers();
	is(numbers.events, 0, "they are read once");
	ok(!wrong, "all are as they were written");
	close_all();
}

static void test_end_of_tail(void)
{
	begin_numbers(LOG_SEGMENT);
	for (uint32_t i = 0; i < many; i++)
		put_number(0, i);
	notify(NOTICE_END, 0, 10);
	ok(rings__waiting(rings) <= 2 * LOG_SEGMENT,
	   "no more is kept of a thread that ends than is wanted");
	take_numbers();
	ok(numbers.next == many && numbers.events >= LOG_SEGMENT / 8 - LOG_RECORD_MAX / 8 * 2,
	   "but that is: %u records", numbers.events);
	ok(numbers.gaps == 1 && !numbers.jumps && !wrong, "behind a gap");
	is(rings__waiting(rings), 0, "nothing waits any more");
	close_all();
}

/* ---- of what waits, only a part is wanted ---- */

static uint32_t look_for;
static bool found;

static int check_kept(void *ctx, const struct event *e)
{
	found |= (uint32_t)e->sp >> 3 == look_for;
	return check_number(ctx, e);
}

static void test_kept(void)
{
	const struct source_sink checks = {.event = check_kept, .sideband = check_gap};
	struct wanted_at wanted = {.tid = 10};
	size_t most = 0, bytes = 2 * LOG_SEGMENT;

	numbers.events = numbers.gaps = numbers.jumps = 0;
	look_for = many / 2;
	begin_numbers(0);
	for (uint32_t i = 0; i < many; i++) {
		put_number(0, i);
		if (i == look_for)
			wanted.position = log_ring__position(ring_of(0));
		if (i % 10000)
			continue;
		rings__pull(rings);
		merge__keep(merge, bytes, &wanted, wanted.position != 0, ticks());
		most = max_of(most, rings__waiting(rings));
	}
	rings__pull(rings);
	notify(NOTICE_END, 0, 10);
	merge__keep(merge, bytes, &wanted, 1, UINT64_MAX);
	merge__end(merge, ticks(), &checks);
	ok(most < 4 * bytes + LOG_RING, "little waits: at most %zu bytes", most);
	ok(found, "what was wanted is there");
	is(numbers.next, many, "the last records are, too");
	ok(numbers.events >= 2 * (bytes - 3 * LOG_SEGMENT / 2) / 8 && numbers.events < many / 2,
	   "and no more than these: %u records", numbers.events);
	is(numbers.gaps, 2, "a gap is before each");
	ok(!numbers.jumps && !wrong, "and none between them");
	close_all();
}

static volatile bool ends;

static void *write_laps(void *ctx)
{
	volatile uint32_t *n = ctx;

	while (!ends)
		if (!put_number(0, (*n)++))
			return (void *)1;
	return NULL;
}

/* Rings are read while they are overwritten. */
static void test_racing(void)
{
	uint64_t events = 0, gaps = 0, jumps = 0;
	volatile uint32_t written = 0;
	pthread_t thread;
	void *failed;

	begin_numbers(LOG_RING);
	pthread_create(&thread, NULL, write_laps, (void *)&written);
	while (written < 5 * many) {
		take_numbers();
		events += numbers.events;
		gaps += numbers.gaps;
		jumps += numbers.jumps;
	}
	ends = true;
	pthread_join(thread, &failed);
	take_numbers();
	events += numbers.events;
	gaps += numbers.gaps;
	ok(!failed, "the thread never waits");
	is(numbers.next, written, "its last record is read in the end");
	ok(events && gaps, "%llu of %u records were read, with %llu gaps",
	   (unsigned long long)events, written, (unsigned long long)gaps);
	is(jumps + numbers.jumps, 0, "each gap is told");
	ok(!wrong, "no record is half overwritten");
	close_all();
}

/* ---- rings that hold whatever the program has put there ---- */

static uint64_t seed = 88172645463325252ull;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers that arithmetic goes wrong with, places within and just outside of the ring, and others.
 */
static uint64_t forged_word(const struct log_ring *r)
{
	uint64_t word = random_word(), base = BASE + ((const char *)r - area);

	switch (word >> 8 & 7) {
	case 0:
		return word & 1;
	case 1:
		return (1ull << (word & 63)) - (word >> 6 & 3);
	case 2:
		return -(word & 0xffff);
	case 3:
		return base + LOG_RING_AT + (word >> 16) % (LOG_RING + 2 * LOG_PAGE) - LOG_PAGE;
	case 4:
		return base + LOG_RING_AT + (word >> 16) % LOG_SEGMENTS * LOG_SEGMENT;
	case 5:
		return (word >> 16) % 64;
	case 6:
		return ticks() - (word & 0xffff);
	default:
		return word;
	}
}

static void forge(struct log_ring *r)
{
	uint64_t *words = (uint64_t *)r;

	for (unsigned n = random_word() % 4 + 1; n; n--)
		__atomic_store_n(&words[random_word() % (sizeof(*r) / 8)], forged_word(r),
				 __ATOMIC_RELAXED);
}

static void *forge_on(void *ring)
{
	while (!ends)
		forge(ring);
	return NULL;
}

/* What is passed on of the thread that forges, and of the other one. */
static struct {
	unsigned other;
	uint64_t most_lost;
} forged;

static int check_forged(void *ctx, const struct event *e)
{
	if (e->tid == 11 && e->type == EVENT_BRANCH)
		forged.other++;
	if (e->type == EVENT_LOST)
		forged.most_lost = max_of(forged.most_lost, e->count);
	return 0;
}

static void ignore_work(void *ctx, const struct log_work *w)
{
}

#define EACH 20 /* records of the other thread, between two */

static void look(uint64_t tail, const struct source_sink *checks)
{
	if (tail)
		rings__tail(rings);
	else
		rings__pull(rings);
	merge__until(merge, ticks(), checks, &reached);
}

/* Ends one thread, whose ring says anything, at a place that its tracer has read from there, or as
 * it could not; the other one's records all arrive. */
static void test_forged(uint64_t tail, bool races)
{
	const struct source_sink checks = {.event = check_forged, .sideband = check_gap};
	size_t waited = 0, n = 0;
	pthread_t thread;

	memset(&forged, 0, sizeof(forged));
	for (unsigned i = 0; i < forgeries; i++) {
		struct notice end;

		open_tail(tail);
		for (int slot = 0; slot < 2; slot++) {
			begin_ring(slot);
			notify(NOTICE_RING, slot, 10 + slot);
		}
		for (int k = random_word() % 9000; k; k--)
			put_number(0, k);
		forge(ring_of(0));
		ends = false;
		if (races)
			pthread_create(&thread, NULL, forge_on, ring_of(0));
		for (int k = 0; k < EACH; k++)
			n += put_number(1, k);
		look(tail, &checks);
		end = notify_of(NOTICE_END, 0, 10);
		rings__work(rings, ignore_work, NULL);
		rings__receive(rings, &end, -1);
		notify(NOTICE_END, 1, 11);
		waited = max_of(waited, rings__waiting(rings));
		merge__end(merge, ticks(), &checks);
		ends = true;
		if (races)
			pthread_join(thread, NULL);
		close_all();
	}
	is(forged.other, n, "%s, %s: what another thread has written arrives",
	   tail ? "the last is wanted" : "all is wanted", races ? "forged on" : "forged once");
	ok(waited <= 4 * LOG_RING, "little waits: %zu bytes", waited);
	ok(forged.most_lost < 1000000000000ull, "no loss is told that can't be: %llu",
	   (unsigned long long)forged.most_lost);
}

static void test_forged_numbers(void)
{
	uint64_t sum = 0;
	volatile uint64_t *counter;

	open_tail(0);
	begin_ring(0);
	notify(NOTICE_RING, 0, 10);
	ring_of(0)->kept = ring_of(0)->cursor;
	ring_of(0)->dropped = 1000000000000000000ull;
	ring_of(0)->limit = 0;
	notify(NOTICE_END, 0, 10);
	merge__end(merge, ticks(), &sink);
	is_str(passed(), "10:lost1", "a number of losses that can't be is not told");
	close_all();
	counters = 1;
	open_tail(0);
	begin_ring(0);
	counter = (uint64_t *)((char *)ring_of(0) + LOG_COUNTERS_AT);
	*counter = 0;
	notify(NOTICE_RING, 0, 10);
	*counter = 5;
	rings__count(rings, &sum);
	is(sum, 5, "a counter");
	*counter = 1ull << 60;
	rings__count(rings, &sum);
	is(sum, 5, "which has a value that it can't have");
	*counter = 3;
	rings__count(rings, &sum);
	is(sum, 5, "which goes back");
	*counter = 7;
	rings__count(rings, &sum);
	is(sum, 7, "which goes on");
	close_all();
	counters = 0;
}

int main(void)
{
	if (runs_whole()) {
		many = 3000000;
		forgeries = 60;
	}
	note__set_level(NOTE_QUIET);
	plan.arch = arch__by_machine(EM_X86_64);
	test_many();
	test_room();
	test_cut();
	test_laps();
	test_end_of_tail();
	test_kept();
	test_racing();
	for (int races = 0; races < 2; races++) {
		test_forged(0, races);
		test_forged(LOG_RING, races);
	}
	test_forged_numbers();
	str__free(&text);
	return tap__done();
}
