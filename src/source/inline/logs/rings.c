// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "rings_private.h"

/*
 * The pause between two looks, ns: such that a thread which continues at the same speed fills a
 * quarter of its ring, but at most REST. Below SHORTEST there is no pause, since waking takes as
 * long.
 */
#define REST_NS	    1000000
#define IDLE_NS	    5000000
#define SHORTEST_NS 20000
#define SLACK_NS    1000
#define IDLE_AFTER  50 /* rounds without a byte */
#define TRIM_AFTER  500
#define MUCH	    (LOG_RING / 2) /* bytes of a thread at one look */
#define HURRY_NS    10000000
/* Threads that log wait while this one does, so it has priority over other work, also over
 * decoding. */
#define NICE -10

/* ---- one stream ---- */

static void append(struct rings *r, struct stream *s, struct chunk *p)
{
	pthread_mutex_lock(&r->lock);
	for (; p; p = p->next) {
		p->after = s->complete;
		*(s->last ? &s->last->next : &s->first) = p;
		s->last = p;
		s->waiting += chunk__records(p);
		r->waiting += chunk__records(p);
		s->held += rings__weight(r, p);
		r->held += rings__weight(r, p);
		r->totals.bytes += chunk__records(p);
	}
	r->totals.most = max_of(r->totals.most, r->waiting);
	pthread_mutex_unlock(&r->lock);
}

/*
 * A thread may fill its ring at least once, whatever others have written: records are passed on in
 * order of time, so others may wait for this thread's. Half of the memory is shared equally; the
 * other half is for threads that need more.
 */
static bool has_room(struct rings *r, const struct stream *s)
{
	size_t n, share;
	bool room;

	pthread_mutex_lock(&r->lock);
	n = max_of(r->streams.len, (size_t)1);
	share = r->options.max / 2 / n;
	room = s->held < max_of(share, (size_t)2 * LOG_RING) ||
	       r->held < r->options.max - share * (n - 1);
	pthread_mutex_unlock(&r->lock);
	return room;
}

static void set_complete(struct rings *r, struct stream *s, uint64_t time)
{
	pthread_mutex_lock(&r->lock);
	s->complete = max_of(s->complete, time);
	pthread_mutex_unlock(&r->lock);
}

void rings__break_off(struct rings *r, struct stream *s)
{
	pthread_mutex_lock(&r->lock);
	s->broken = true;
	s->complete = UINT64_MAX;
	pthread_mutex_unlock(&r->lock);
}

/* A process may have many threads, and be one of many. */
#define NOTES_MOST 20

void rings__see_forged(struct rings *r, struct stream *s)
{
	if (!s->forged && s->ring.pid != r->forged_by && r->forged++ < NOTES_MOST)
		note("process %u: a thread's log has numbers that can't be, which something in the "
		     "process has written there: what is shown of it is incomplete",
		     s->ring.pid);
	r->forged_by = s->ring.pid;
	s->forged = true;
}

void rings__give_up_ring(struct rings *r, struct stream *s)
{
	if (!s->broken)
		rings__see_forged(r, s);
	rings__break_off(r, s);
}

/* More than any thread writes in a nanosecond, bytes. */
#define FASTEST 64

/* Returns true if a thread that was at s->at then can be there. A thread that waits for the reader
 * is at most a ring ahead of it. */
bool rings__can_be_at(const struct rings *r, const struct stream *s, uint64_t position,
		      uint64_t now)
{
	uint64_t ns = r->options.tail && now > s->looked ? now - s->looked : 0;

	return position >= s->at &&
	       position - s->at <= LOG_RING + min_of(ns, RING_POSITIONS / FASTEST) * FASTEST;
}

/* Copies what the thread has written since, up to position, before that time. */
size_t rings__copy_up_to(struct rings *r, struct stream *s, struct log_ring *ring,
			 uint64_t position, uint64_t time)
{
	uint64_t from = s->at;

	while (s->at < position) {
		uint64_t end = min_of(position, (s->at / LOG_SEGMENT + 1) * LOG_SEGMENT);

		append(r, s, ring__take(r->chunks, r->compressor, ring, s->at, end, time));
		s->at = end;
		ring__release(ring, end); /* its thread may be waiting for just one segment */
	}
	return s->at - from;
}

/* The last of what the thread has written since, up to position. */
void rings__copy_tail(struct rings *r, struct stream *s, struct log_ring *ring, uint64_t position,
		      uint64_t time)
{
	uint64_t tail = r->options.tail;
	uint64_t from = max_of(s->at, position < tail ? 0 : position - tail);

	/* records begin where a segment does, or where reading ended */
	from = max_of(s->at, from / LOG_SEGMENT * LOG_SEGMENT);
	append(r, s, ring__copy_rest(ring, from, position, time));
	s->at = max_of(s->at, position);
}

/* Gives up a ring that has made no sense for long: only something else than its log's code leaves
 * it so. */
static void see_torn(struct rings *r, struct stream *s, uint64_t now)
{
	s->torn = s->torn ? s->torn : now;
	if (now - s->torn > r->options.torn)
		rings__give_up_ring(r, s);
}

/* Finds where the thread is. Returns false if that isn't possible now. */
static bool look_at(struct rings *r, struct stream *s, const struct log_ring *ring, uint64_t base,
		    uint64_t *position)
{
	/* this thread may be preempted beside ring__position(): then the thread runs on */
	uint64_t before = now_ns(CLOCK_MONOTONIC);
	bool known = ring__position(ring, base, position);
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (!known) {
		see_torn(r, s, now);
		return false;
	}
	if (!rings__can_be_at(r, s, *position, now)) {
		rings__give_up_ring(r, s);
		return false;
	}
	s->torn = 0;
	s->looked = before;
	return true;
}

struct log_ring *rings__open_ring(const struct rings *r, const struct stream *s, uint64_t *base)
{
	struct log_area *a = areas__find(&r->areas, s->ring.area);
	struct log_ring *ring = areas__ring(&r->areas, a, s->ring.slot);

	if (!ring || s->broken || s->end.type == NOTICE_END)
		return NULL;
	*base = areas__base(&r->areas, a, s->ring.slot);
	return ring;
}

static size_t pull_tail(struct rings *r, struct stream *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), base, position;
	struct log_ring *ring = rings__open_ring(r, s, &base);

	if (!ring)
		return 0;
	if (!look_at(r, s, ring, base, &position))
		return 0;
	rings__copy_tail(r, s, ring, position, now_ns(CLOCK_MONOTONIC));
	set_complete(r, s, now);
	return 0;
}

/* Nothing is released between two looks: a ring that was full is, and its thread waits. */
static void see_full(struct stream *s, const struct log_ring *ring, uint64_t now)
{
	bool full = ring__is_full(ring);

	if (full && s->full)
		s->waited += now - s->full;
	s->full = full ? now : 0;
}

/* If there is much, only whole segments are read, which take less memory than parts of them; a part
 * is read if there is little. */
static uint64_t end_of_pull(const struct stream *s, uint64_t position)
{
	uint64_t n = position - s->at;

	return n < MUCH ? position : position / LOG_SEGMENT * LOG_SEGMENT;
}

/* The thread was at that position then, or later. */
static void see_position(struct rings *r, struct stream *s, uint64_t position, uint64_t now)
{
	if (s->at >= s->seen)
		set_complete(r, s, s->seen_at);
	s->seen = position;
	s->seen_at = now;
	if (s->at >= position)
		set_complete(r, s, now);
}

/* all: room or not. */
static size_t pull_ring(struct rings *r, struct stream *s, bool all)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), base, position;
	struct log_ring *ring = rings__open_ring(r, s, &base);
	size_t n;

	if (!ring)
		return 0;
	ring__look(ring, r->options.ticks());
	s->dropping = !ring__drops(ring) ? 0 : s->dropping ? s->dropping : now;
	see_full(s, ring, now);
	if (!all && !has_room(r, s))
		return 0;
	if (!look_at(r, s, ring, base, &position))
		return 0;
	n = rings__copy_up_to(r, s, ring, all ? position : end_of_pull(s, position),
			      now_ns(CLOCK_MONOTONIC));
	see_position(r, s, position, now);
	return n;
}

static size_t pull_stream(struct rings *r, struct stream *s)
{
	return pull_ring(r, s, false);
}

static size_t pull_whole(struct rings *r, struct stream *s)
{
	return pull_ring(r, s, true);
}

/* Skips what was written until now, which is not wanted. */
static size_t skip_stream(struct rings *r, struct stream *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), base, position;
	struct log_ring *ring = rings__open_ring(r, s, &base);

	if (!ring)
		return 0;
	ring__look(ring, r->options.ticks());
	if (look_at(r, s, ring, base, &position)) {
		s->at = s->ring.position = position;
		s->ring.time = now;
		if (!r->options.tail)
			ring__release(ring, position);
	}
	set_complete(r, s, now);
	return 0;
}

/* This many threads write as fast as they are read, or faster. */
static void see_hurry(struct rings *r, unsigned threads)
{
	if (threads && threads + 2 > r->cpus)
		r->hurry = now_ns(CLOCK_MONOTONIC) + HURRY_NS;
}

/* Returns the bytes of the thread that has written most. */
static size_t pull_streams(struct rings *r, size_t (*pull)(struct rings *r, struct stream *s))
{
	struct stream *s;
	size_t most = 0, n;
	unsigned fast = 0;

	for (size_t i = 0;; i++) {
		pthread_mutex_lock(&r->lock);
		s = i < r->streams.len ? r->streams.data[i] : NULL;
		pthread_mutex_unlock(&r->lock);
		if (!s)
			break;
		n = pull(r, s);
		most = max_of(most, n);
		fast += n >= MUCH;
	}
	see_hurry(r, fast);
	return most;
}

/* ---- the thread ---- */

/* Handles the messages, and then does this for each stream. Returns as pull_streams() does. */
static size_t look_held(struct rings *r, size_t (*fn)(struct rings *r, struct stream *s))
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	rings__receive_all(r);
	pthread_mutex_lock(&r->lock);
	r->heard = now;
	pthread_mutex_unlock(&r->lock);
	fn = r->waits ? skip_stream : fn;
	return fn ? pull_streams(r, fn) : 0;
}

static size_t look(struct rings *r, size_t (*fn)(struct rings *r, struct stream *s))
{
	size_t most;

	pthread_mutex_lock(&r->pulling);
	most = look_held(r, fn);
	pthread_mutex_unlock(&r->pulling);
	return most;
}

static size_t pull(struct rings *r)
{
	return look(r, r->options.tail ? NULL : pull_stream);
}

static bool is_over(struct rings *r, bool *gone)
{
	bool over;

	pthread_mutex_lock(&r->lock);
	over = r->ends;
	*gone = r->gone;
	pthread_mutex_unlock(&r->lock);
	return over;
}

/* Returns the ns until the next look, if a thread has written this many bytes in the ns since the
 * last one. */
static uint64_t pause_after(size_t bytes, uint64_t since)
{
	uint64_t pause = bytes ? since * (LOG_RING / 4) / bytes : REST_NS;

	/* It may have waited for room, so this doesn't show how fast it is. */
	if (bytes >= MUCH)
		return 0;
	return pause < SHORTEST_NS ? 0 : min_of(pause, (uint64_t)REST_NS);
}

static void rest(struct rings *r, bool gone, uint64_t ns)
{
	struct pollfd fds[] = {{r->wake, POLLIN, 0}, {gone ? -1 : r->options.socket, POLLIN, 0}};
	const struct timespec pause = {.tv_nsec = ns};

	if (ns)
		ppoll(fds, ARRAY_SIZE(fds), &pause, NULL);
}

/* Raises the priority of this thread only; not without CAP_SYS_NICE. */
static void go_first(void)
{
	(void)prctl(PR_SET_NAME, "bbtrace-log");
	(void)prctl(PR_SET_TIMERSLACK, SLACK_NS);
	if (getpriority(PRIO_PROCESS, 0) > NICE)
		(void)setpriority(PRIO_PROCESS, 0, NICE);
}

static void *run(void *ctx)
{
	struct rings *r = ctx;
	uint64_t last = now_ns(CLOCK_MONOTONIC);
	unsigned idle = 0;
	bool gone;

	go_first();
	while (!is_over(r, &gone)) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		size_t bytes = pull(r);

		idle = bytes ? 0 : idle + 1;
		if (idle == TRIM_AFTER)
			chunks__trim(r->chunks);
		rest(r, gone, idle > IDLE_AFTER ? IDLE_NS : pause_after(bytes, now - last));
		last = now;
	}
	return NULL;
}

static int start(struct rings *r)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	r->runs = !err;
	return err ? err__set(err, "cannot start a thread: %s", strerror(err)) : 0;
}

/* Which the reader may use; of more than such a set holds, all. */
static unsigned usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
						       : CPU_COUNT(&set);
}

int rings__open(const struct rings_options *options, struct rings **out)
{
	struct rings *r = xcalloc(1, sizeof(*r));
	int err;

	r->options = *options;
	r->began = now_ns(CLOCK_MONOTONIC);
	r->waits = options->waits;
	r->cpus = usable_cpus();
	r->areas.slot_size = log__slot_size(options->counters);
	r->chunks = chunks__new();
	r->compressor = compressor__new(&options->log);
	r->expander = compressor__new(&options->log);
	r->sums = xcalloc(options->counters + 1, sizeof(*r->sums));
	pthread_mutex_init(&r->pulling, NULL);
	pthread_mutex_init(&r->lock, NULL);
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->wake < 0 ? err__set(errno, "cannot wait for the log: %s", strerror(errno))
			  : start(r);
	if (err)
		rings__close(r);
	*out = err ? NULL : r;
	return err;
}

/* ---- the decoder's side ---- */

void rings__pull(struct rings *r)
{
	pull(r);
}

void rings__pull_whole(struct rings *r)
{
	if (!r->options.tail)
		look(r, pull_whole);
}

/* Another thread that looks meanwhile has skipped what it skips before, or skips nothing. */
void rings__start(struct rings *r)
{
	pthread_mutex_lock(&r->pulling);
	look_held(r, NULL);
	r->waits = false;
	pthread_mutex_unlock(&r->pulling);
}

void rings__tail(struct rings *r)
{
	look(r, pull_tail);
}

static void end_thread(struct rings *r)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&r->lock);
	r->ends = true;
	pthread_mutex_unlock(&r->lock);
	(void)!write(r->wake, &one, sizeof(one));
	pthread_join(r->thread, NULL);
	r->runs = false;
}

void rings__close(struct rings *r)
{
	struct stream **s;

	if (!r)
		return;
	if (r->runs)
		end_thread(r);
	vec__each (s, &r->streams)
		stream__free(r, *s);
	vec__free(&r->streams);
	areas__free(&r->areas);
	chunks__close(r->chunks);
	compressor__free(r->compressor);
	compressor__free(r->expander);
	vec__free(&r->received);
	pthread_mutex_destroy(&r->pulling);
	pthread_mutex_destroy(&r->lock);
	util__close(&r->wake);
	free(r->sums);
	free(r);
}
