// SPDX-License-Identifier: BSD-2-Clause
/* The log's ring while another thread reads it: no record is lost, or as many as it says. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <pthread.h>
#include "copier_fixture.h"

#define SITE	  0x123456
#define CODE_SIZE 65536 /* the end is the stack */

static const struct arch_copier *copier;
static uint8_t *code;

/* Counts r15 down to 0, and logs it each time. */
static void place_loop(bool untimed)
{
	static const uint8_t count[] = {0x49, 0xff, 0xcf, 0x0f, 0x85}; /* dec %r15; jnz */
	struct operand r15 = {.kind = OPERAND_REG, .base = R15, .index = REG_NONE, .size = 8};
	struct log_point p = {.site = SITE,
			      .kind = LOG_TARGET,
			      .operand = &r15,
			      .dead = 1 << RCX,
			      .flags_dead = true};
	struct log_options options = {0};
	struct code_buffer c = {0};
	uint32_t again;

	copier->log_begin(&c);
	again = code_buffer__label(&c);
	code_buffer__set(&c, again, false);
	copier->log(&c, &p, &options);
	code_part__put(&c.hot, count, sizeof(count));
	code_part__fix(&c.hot, true, again, 0);
	put_exit(&c.hot);
	place_code(&c, code);
	if (untimed)
		untime_code(&c, copier, code);
	code_buffer__free(&c);
}

struct reader {
	struct log_ring *ring;
	uint64_t position;
	uint64_t next; /* value that has to follow */
	uint64_t got, lost, ends, wrong;
	unsigned delay; /* us, now and then */
	bool done;	/* nothing is written any more */
};

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/* The position up to which the writer has written; a lower one if it is between two words. */
static uint64_t written(const struct log_ring *r)
{
	uint64_t segments = LOAD(r->segments), limit = LOAD(r->limit);
	uint64_t cursor = limit ? LOAD(r->cursor) : LOAD(r->kept);
	uint64_t at = cursor - r->base - LOG_RING_AT;

	if (segments != LOAD(r->segments) || at / LOG_SEGMENT != segments % LOG_SEGMENTS)
		return 0;
	return segments * LOG_SEGMENT + at % LOG_SEGMENT;
}

static void release(struct reader *d)
{
	uint64_t segment = d->position / LOG_SEGMENT;

	memset((void *)(d->ring->base + LOG_RING_AT + segment % LOG_SEGMENTS * LOG_SEGMENT), 0,
	       LOG_SEGMENT);
	d->position = (segment + 1) * LOG_SEGMENT;
	__atomic_store_n(&d->ring->released, segment + 1, __ATOMIC_RELEASE);
	if (d->delay && segment % 16 == 0)
		usleep(d->delay);
}

static void read_record(struct reader *d)
{
	const uint64_t *w =
		(const uint64_t *)(d->ring->base + LOG_RING_AT + d->position % LOG_RING);

	switch ((uint32_t)w[0]) {
	case LOG_ID(LOG_TARGET, 0, 0, SITE):
		d->wrong += w[1] != d->next;
		d->next = w[1] - 1;
		d->got++;
		d->position += 16;
		break;
	case LOG_ID(LOG_LOST, 0, 0, 0):
		d->lost += w[1];
		d->next -= w[1];
		d->position += 16;
		break;
	case LOG_ID(LOG_END, 0, 0, 0):
		d->ends++;
		release(d);
		break;
	default:
		d->wrong++;
		d->position += 8;
	}
}

static void *read_ring(void *context)
{
	struct reader *d = context;
	bool done;

	do {
		uint64_t end;

		done = LOAD(d->done);
		end = written(d->ring);
		while (d->position < end)
			read_record(d);
		__atomic_store_n(&d->ring->beat, __builtin_ia32_rdtsc(), __ATOMIC_RELAXED);
	} while (!done);
	return NULL;
}

static struct reader run(uint64_t records, uint64_t patience, unsigned delay)
{
	struct log_ring *ring = ring__make(patience);
	struct reader d = {.ring = ring, .next = records, .delay = delay};
	struct machine in = {0}, out;
	pthread_t thread;

	ring->beat = __builtin_ia32_rdtsc();
	ring__use(ring);
	pthread_create(&thread, NULL, read_ring, &d);
	in.flags = 0x202;
	in.r[R15] = records;
	in.r[RSP] = (uintptr_t)code + CODE_SIZE - 8;
	machine__run(code, &in, &out);
	__atomic_store_n(&d.done, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	d.lost += ring->dropped;
	d.next -= ring->dropped;
	ring__free(ring);
	return d;
}

static void test_patient(void)
{
	const uint64_t records = 10000000;
	struct reader d = run(records, 1ull << 40, 0);

	is(d.got, records, "a patient writer's records all arrive");
	is(d.wrong, 0, "in order");
	is(d.lost, 0, "none is lost");
	is(d.ends, d.position / LOG_SEGMENT, "each segment has an end");
	ok(d.position / LOG_SEGMENT > 2 * LOG_SEGMENTS, "the ring is written several times");
}

static void test_impatient(void)
{
	const uint64_t records = 10000000;
	struct reader d = run(records, 0, 3000);

	ok(d.lost > 0, "an impatient writer loses records (%lld)", (long long)d.lost);
	ok(d.got > 100000, "others arrive (%lld)", (long long)d.got);
	is(d.got + d.lost, records, "the lost ones are counted");
	is(d.wrong, 0, "where they are missing");
	is(d.next, 0, "up to the end");
}

/* The reader sleeps for longer than the writer waits. */
static void test_beat(void)
{
	const uint64_t records = 2000000;
	struct reader d = run(records, 100000, 20000);

	ok(d.lost > 0, "a reader that doesn't look is waited for only so long");
	is(d.got + d.lost, records, "the lost ones are counted");
	is(d.wrong, 0, "where they are missing");
}

/* Where the time stamp counter may not be read rounds are counted between two looks. */
static void test_untimed(void)
{
	const uint64_t records = 1000000;
	struct reader d = run(records, 1, 0);

	is(d.got + d.lost, records, "without the time, too, all arrive or are counted");
	ok(d.lost < records / 2, "a reader that looks is waited for (%lld)", (long long)d.lost);
	is(d.wrong, 0, "in order");
}

int main(void)
{
	copier = arch__by_machine(EM_X86_64)->copier;
	code = map_pages(CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	machine__init();
	place_loop(false);
	test_patient();
	test_impatient();
	test_beat();
	place_loop(true);
	test_untimed();
	return tap__done();
}
#endif
