// SPDX-License-Identifier: BSD-2-Clause
/* Taking records out of the ring buffer, by the thread or without it: all arrive, in order, also
 * those before an error. libbpf's ring buffer is one of the test's own. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "source/probes/stream/drain.h"
#include "tap.h"

#define MAX (1u << 20) /* bytes that wait at most */

/* ---- a ring: numbered records, then an error or nothing more ---- */

struct numbers {
	ring_buffer_sample_fn take;
	void *ctx;
	uint64_t next, end;
};
static struct {
	struct numbers rings[2]; /* in the order in which they were added */
	unsigned n;
	int err;
} ring;

#define SECOND (1ull << 32) /* the first number of the second ring */

int ring_buffer__add(struct ring_buffer *r, int map_fd, ring_buffer_sample_fn take, void *ctx)
{
	struct numbers *added = &ring.rings[ring.n++];

	added->take = take;
	added->ctx = ctx;
	return 0;
}

struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn take, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	ring.n = 0;
	ring_buffer__add(NULL, map_fd, take, ctx);
	return (struct ring_buffer *)&ring;
}

void ring_buffer__free(struct ring_buffer *r)
{
}

int ring_buffer__consume(struct ring_buffer *r)
{
	int err = 0;

	for (unsigned i = 0; !err && i < ring.n; i++)
		while (!err && ring.rings[i].next < ring.rings[i].end) {
			uint64_t record[4] = {ring.rings[i].next++};

			err = ring.rings[i].take(ring.rings[i].ctx, record, sizeof(record));
		}
	return err ? err : ring.err;
}

/* ---- what is taken ---- */

static uint64_t second; /* so many records of the second ring were taken, in order */

/* Counts the records of the first ring from number on, as long as those of each ring are in
 * order. */
static uint64_t count(const struct batch *list, uint64_t number)
{
	uint64_t size, record, *next;

	for (const struct batch *b = list; b; b = b->next)
		for (const char *at = b->records; at < b->records + b->len;
		     at += sizeof(size) + size) {
			memcpy(&size, at, sizeof(size));
			memcpy(&record, at + sizeof(size), sizeof(record));
			next = record >= SECOND ? &second : &number;
			if (record % SECOND != *next)
				return number;
			++*next;
		}
	return number;
}

/* Takes records until an error, or until there are none. taken: before; returns how many by now. */
static uint64_t take_all(struct drain *d, uint64_t taken, int *err)
{
	struct batch *list;
	uint64_t until;

	do {
		*err = drain__take(d, 100, -1, &list, &until);
		if (*err) {
			ok(!list, "an error comes without records, which would be lost");
			break;
		}
		taken = count(list, taken);
		drain__give_back(d, list);
	} while (list);
	return taken;
}

static void test_records(uint64_t records, int broken, bool threaded, bool two, const char *what)
{
	int map = eventfd(1, EFD_CLOEXEC), err;
	struct drain *d = NULL;
	uint64_t taken;

	ring.rings[0] = (struct numbers){.end = records};
	ring.rings[1] = (struct numbers){.next = SECOND, .end = SECOND + records / 2};
	ring.err = broken;
	second = 0;
	is(drain__open(map, two ? map : -1, MAX, &d), 0, "%s: opened", what);
	if (threaded)
		is(drain__start(d), 0, "%s: a thread takes the records", what);
	taken = take_all(d, 0, &err);
	drain__stop(d);
	is(take_all(d, taken, &err), records, "%s: each record is taken, once, in order", what);
	is(second, two ? records / 2 : 0, "%s: and each of another ring", what);
	is(err, broken, "%s: then, what became of the ring is returned", what);
	drain__close(d);
	close(map);
}

#define LONG_MS (120 * 1000) /* only ends a hang */

/* Without records, by what is readable: nothing more is waited for. */
static void test_woken(void)
{
	int map = eventfd(0, EFD_CLOEXEC), fd = eventfd(1, EFD_CLOEXEC);
	struct drain *d = NULL;
	struct batch *list;
	uint64_t until, start = now_ns(CLOCK_MONOTONIC);

	ring.rings[0] = (struct numbers){};
	ring.err = 0;
	is(drain__open(map, -1, MAX, &d), 0, "a ring that stays empty is opened");
	is(drain__start(d), 0, "a thread looks at it");
	is(drain__take(d, LONG_MS, fd, &list, &until), 0, "the wait is no error");
	ok(!list, "there are no records");
	ok(now_ns(CLOCK_MONOTONIC) - start < LONG_MS * 1000000ull / 2,
	   "a readable descriptor ends the wait");
	drain__close(d);
	close(map);
	close(fd);
}

int main(void)
{
	test_woken();
	test_records(0, 0, false, false, "an empty ring");
	test_records(100000, 0, false, false, "many records");
	test_records(100000, 0, true, false, "many records, by a thread");
	test_records(100000, 0, false, true, "two rings");
	test_records(100000, 0, true, true, "two rings, by a thread");
	test_records(3, -EIO, false, false, "a ring that breaks");
	test_records(100000, -EIO, true, false, "a ring that breaks, by a thread");
	return tap__done();
}
