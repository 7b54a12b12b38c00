// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include "../bpf/wire_named.h"
#include "drain.h"

/* The most bytes taken at once: a ring that is filled continuously is never empty. */
#define BATCH_SIZE    (256u << 10)
#define BATCH_RECORDS (BATCH_SIZE - sizeof(struct batch))
#define RECORD_MAX    (sizeof(uint64_t) + WIRE_RECORD_MAX)
#define SPARE_MAX     16 /* batches that are kept for reuse; others are freed */
/* Few records don't wake the reader (ring_flags() of bpf/): the ring is polled at this interval. */
#define LOOK_MS 100

struct drain {
	struct ring_buffer *ring;
	struct batch *batch; /* the batch being filled */
	int records_wait;    /* eventfd: a batch is ready */
	int looks;	     /* eventfd: the thread must look into the ring, or end */
	int epoll;	     /* epoll of that, and of the ring's wakeup */
	bool runs;
	pthread_t thread;
	size_t max;

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t room;
	struct batch *ready, *last; /* a queue */
	struct batch *spare;
	size_t waiting; /* bytes of records that are ready */
	unsigned nspare;
	uint64_t until;
	int err;
	bool ends;
};

static struct batch *new_batch(void)
{
	struct batch *b =
		mmap(NULL, BATCH_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return b == MAP_FAILED ? NULL : b;
}

static void free_batches(struct batch *b)
{
	struct batch *next;

	for (; b; b = next) {
		next = b->next;
		munmap(b, BATCH_SIZE);
	}
}

static int take_record(void *ctx, void *data, size_t size)
{
	struct batch *b = ((struct drain *)ctx)->batch;
	uint64_t n = size;

	if (b->len + sizeof(n) + size > BATCH_RECORDS)
		return -EMSGSIZE;
	memcpy(b->records + b->len, &n, sizeof(n));
	memcpy(b->records + b->len + sizeof(n), data, size);
	b->len += sizeof(n) + size;
	/* the ring continues here at the next call */
	return b->len + RECORD_MAX > BATCH_RECORDS ? -EAGAIN : 0;
}

/*
 * Edge-triggered: with level triggering any record in the ring would wake the thread, which would
 * spin on single records.
 */
static int watch(struct drain *d, int map_fd)
{
	struct epoll_event ring = {.events = EPOLLIN | EPOLLET},
			   looks = {.events = EPOLLIN | EPOLLET};

	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->records_wait = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->looks = eventfd(0, EFD_CLOEXEC);
	return d->epoll < 0 || d->records_wait < 0 || d->looks < 0 ||
			       epoll_ctl(d->epoll, EPOLL_CTL_ADD, map_fd, &ring) ||
			       epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->looks, &looks)
		       ? -errno
		       : 0;
}

/* Losses are few; after a ring that is filled all the time they would wait. */
static int map_rings(struct drain *d, int map_fd, int losses_fd)
{
	d->ring = ring_buffer__new(losses_fd < 0 ? map_fd : losses_fd, take_record, d, NULL);
	if (!d->ring || (losses_fd >= 0 && ring_buffer__add(d->ring, map_fd, take_record, d)))
		return err__set(errno, "cannot map the ring buffer: %s", strerror(errno));
	return 0;
}

int drain__open(int map_fd, int losses_fd, size_t max, struct drain **out)
{
	struct drain *d = xcalloc(1, sizeof(*d));
	int err;

	d->max = max;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->room, NULL);
	err = watch(d, map_fd);
	if (err)
		err__set(-err, "cannot wait for the ring buffer: %s", strerror(-err));
	else
		err = map_rings(d, map_fd, losses_fd);
	if (err)
		drain__close(d);
	*out = err ? NULL : d;
	return err;
}

/* ---- the thread ---- */

/* Appends to the last batch if it has space, so that few records at a time don't use much
 * memory. */
static void append(struct drain *d)
{
	struct batch *last = d->last;

	d->waiting += d->batch->len;
	if (last && last->len + d->batch->len <= BATCH_RECORDS) {
		memcpy(last->records + last->len, d->batch->records, d->batch->len);
		last->len += d->batch->len;
		d->batch->len = 0;
		return;
	}
	*(last ? &last->next : &d->ready) = d->batch;
	d->last = d->batch;
	d->batch = NULL;
}

static void hand_over(struct drain *d)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&d->lock);
	while (d->runs && d->waiting && d->waiting + d->batch->len > d->max && !d->ends)
		pthread_cond_wait(&d->room, &d->lock);
	append(d);
	pthread_mutex_unlock(&d->lock);
	(void)!write(d->records_wait, &one, sizeof(one));
}

/* Makes sure that there is a batch to fill. */
static bool have_batch(struct drain *d)
{
	if (d->batch)
		return true;
	pthread_mutex_lock(&d->lock);
	d->batch = d->spare;
	if (d->spare) {
		d->spare = d->spare->next;
		d->nspare--;
	}
	pthread_mutex_unlock(&d->lock);
	if (!d->batch)
		d->batch = new_batch();
	if (!d->batch)
		return false;
	d->batch->next = NULL;
	d->batch->len = 0;
	return true;
}

/* Takes one batch. Returns false if the ring is empty, or broken. */
static bool take_batch(struct drain *d)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC);
	int n = have_batch(d) ? ring_buffer__consume(d->ring) : -ENOMEM;

	if (d->batch && d->batch->len)
		hand_over(d);
	pthread_mutex_lock(&d->lock);
	if (n >= 0)
		d->until = start;
	else if (n != -EAGAIN)
		d->err = n;
	pthread_mutex_unlock(&d->lock);
	return n == -EAGAIN;
}

static void *run(void *ctx)
{
	struct drain *d = ctx;
	struct epoll_event e;
	bool ends;

	do {
		epoll_wait(d->epoll, &e, 1, LOOK_MS);
		pthread_mutex_lock(&d->lock);
		ends = d->ends;
		pthread_mutex_unlock(&d->lock);
		while (take_batch(d))
			;
	} while (!ends && !d->err);
	return NULL;
}

int drain__start(struct drain *d)
{
	sigset_t all, old;
	int err;

	if (d->runs)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	d->runs = true;
	err = pthread_create(&d->thread, NULL, run, d);
	if (err)
		d->runs = false;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? err__set(err, "cannot start a thread: %s", strerror(err)) : 0;
}

static bool wake(struct drain *d)
{
	const uint64_t one = 1;

	return write(d->looks, &one, sizeof(one)) == sizeof(one);
}

void drain__look(struct drain *d)
{
	if (d->runs)
		(void)wake(d);
}

void drain__stop(struct drain *d)
{
	if (!d->runs)
		return;
	pthread_mutex_lock(&d->lock);
	d->ends = true;
	pthread_cond_signal(&d->room);
	pthread_mutex_unlock(&d->lock);
	if (wake(d))
		pthread_join(d->thread, NULL);
	d->runs = false;
}

/* ---- the renderer's side ---- */

static void await_records(struct drain *d, int timeout_ms, int fd)
{
	struct pollfd fds[] = {{.fd = d->records_wait, .events = POLLIN}, {fd, POLLIN, 0}};
	uint64_t count;

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms) > 0 && fds[0].revents)
		(void)!read(d->records_wait, &count, sizeof(count));
}

int drain__take(struct drain *d, int timeout_ms, int fd, struct batch **out, uint64_t *until)
{
	int err;

	while (!d->runs && take_batch(d))
		;
	if (d->runs)
		await_records(d, timeout_ms, fd);
	pthread_mutex_lock(&d->lock);
	*out = d->ready;
	d->ready = d->last = NULL;
	d->waiting = 0;
	*until = d->until;
	err = *out ? 0 : d->err;
	pthread_cond_signal(&d->room);
	pthread_mutex_unlock(&d->lock);
	return err ? err__set(-err, "cannot read the ring buffer: %s", strerror(-err)) : 0;
}

void drain__give_back(struct drain *d, struct batch *list)
{
	struct batch *b;

	pthread_mutex_lock(&d->lock);
	while ((b = list) && d->nspare < SPARE_MAX) {
		list = b->next;
		b->next = d->spare;
		d->spare = b;
		d->nspare++;
	}
	pthread_mutex_unlock(&d->lock);
	free_batches(list);
}

void drain__close(struct drain *d)
{
	if (!d)
		return;
	drain__stop(d);
	ring_buffer__free(d->ring);
	close(d->epoll);
	close(d->records_wait);
	close(d->looks);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->room);
	free_batches(d->batch);
	free_batches(d->ready);
	free_batches(d->spare);
	free(d);
}
