// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that want the supervisor to look (arch_tracee.beacon) ring the bell of their memory's
 * first area. A futex can't be polled, so each bell has a thread that waits for it. What that reads
 * is the program's, which may ring at will: that costs a look at its threads, at most a thousand
 * per second.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "space.h"

#define MOST	512 /* bells at once, each has a thread */
#define WAIT_S	10
#define REST_NS 1000000
#define STACK	65536

struct bell {
	uint32_t *word; /* mapped for its thread alone, which unmaps it */
	int rung;	/* eventfd, the tracer's */
	atomic_bool ends;
};

static unsigned bells;

static void wait_for_ring(const struct bell *b, uint32_t seen)
{
	const struct timespec most = {.tv_sec = WAIT_S}, rest = {.tv_nsec = REST_NS};

	syscall(SYS_futex, b->word, FUTEX_WAIT, seen, &most, NULL, 0);
	nanosleep(&rest, NULL);
}

static void *listen(void *ctx)
{
	struct bell *b = ctx;
	const uint64_t one = 1;
	uint32_t seen = 0, now;

	while (!atomic_load(&b->ends)) {
		wait_for_ring(b, seen);
		now = __atomic_load_n(b->word, __ATOMIC_ACQUIRE);
		if (now != seen)
			(void)!write(b->rung, &one, sizeof(one));
		seen = now;
	}
	munmap((uint8_t *)b->word - LOG_BELL_AT, LOG_PAGE);
	free(b);
	return NULL;
}

static int start(struct bell *b)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	err = pthread_create(&thread, &attr, listen, b);
	pthread_attr_destroy(&attr);
	return err;
}

struct bell *bell__new(int rung, void *page)
{
	/* a second mapping of the same memory (mremap(2), old_size 0) */
	uint8_t *mem = bells < MOST ? mremap(page, 0, LOG_PAGE, MREMAP_MAYMOVE) : MAP_FAILED;
	struct bell *b;

	if (mem == MAP_FAILED)
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->word = (uint32_t *)(void *)(mem + LOG_BELL_AT);
	b->rung = rung;
	bells++;
	if (!start(b))
		return b;
	bells--;
	munmap(mem, LOG_PAGE);
	free(b);
	return NULL;
}

void bell__free(struct bell *b)
{
	uint32_t *word = b ? b->word : NULL;

	if (!b)
		return;
	bells--;
	atomic_store(&b->ends, true);
	/* This fails if its thread has ended, and its mappings with it. */
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
