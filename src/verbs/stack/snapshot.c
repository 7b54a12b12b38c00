// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads where all threads are, and their stacks, without stopping one. A thread that is on no CPU,
 * and has not been switched since its registers were read, has not changed its stack; one that
 * runs is sampled. Both are tried until all are known, or too much time has passed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include "stack.h"

#define ROUNDS	  100
#define SAMPLE_MS 10
#define PAUSE_NS  2000000
#define SAMPLES	  8 /* threads that are sampled in one round */

/* The part of a stack that is read: enough for all frames that are shown (CORE_FRAMES), unless
 * they have large buffers. */
#define STACK_MOST (256u << 10)

size_t snapshot__memory(uint32_t pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec to = {buf, len}, from = {(void *)addr, len};
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	return n < 0 ? 0 : n;
}

/* ---- one stack ---- */

static bool read_stack(const struct snapshot *s, const struct thread_at *t, struct piece *out)
{
	const struct map *m = maps__at(&s->maps, t->sp);
	size_t len = m ? min_of(m->end - t->sp, (uint64_t)STACK_MOST) : 0;
	char *bytes;

	out->addr = t->sp;
	str__clear(&out->bytes);
	if (!len)
		return true; /* there is no stack to read */
	bytes = xmalloc(len);
	len = snapshot__memory(s->pid, t->sp, bytes, len);
	str__put(&out->bytes, bytes, len);
	free(bytes);
	return len > 0;
}

static void take_sample(struct snapshot *s, struct snap *t)
{
	int err = thread__sample(&t->at, SAMPLE_MS, &t->stack.bytes);

	if (err && err != -ETIME && err != -ESRCH)
		s->unsampled = err;
	if (err)
		return;
	t->stack.addr = t->at.sp;
	t->at.call = -1;
	t->state = 'R';
	t->settled = true;
}

/* ---- rounds ---- */

static int by_tid(const void *a, const void *b)
{
	const struct snap *x = a, *y = b;

	return x->at.tid < y->at.tid ? -1 : x->at.tid > y->at.tid;
}

static int tid_of_snap(const void *key, const void *row)
{
	uint32_t tid = *(const uint32_t *)key, other = ((const struct snap *)row)->at.tid;

	return tid < other ? -1 : tid > other;
}

static int tid_of_thread(const void *key, const void *row)
{
	uint32_t tid = *(const uint32_t *)key, other = ((const struct thread_at *)row)->tid;

	return tid < other ? -1 : tid > other;
}

static const struct thread_at *find_at(const thread_at_vec *all, uint32_t tid)
{
	return all->len ? bsearch(&tid, all->data, all->len, sizeof(*all->data), tid_of_thread)
			: NULL;
}

/* The threads are in order. */
static void add_new(struct snapshot *s, const thread_at_vec *now)
{
	const struct thread_at *t;
	size_t known = s->threads.len;

	vec__each (t, now)
		if (!known || !bsearch(&t->tid, s->threads.data, known, sizeof(*s->threads.data),
				       tid_of_snap))
			vec__push(&s->threads,
				  (struct snap){.at = *t, .own_tid = thread__own_number(t->tid)});
	vec__sort(&s->threads, by_tid);
}

/* Registers first, then the stacks. */
static void begin_round(struct snapshot *s, const thread_at_vec *now)
{
	struct snap *t;

	add_new(s, now);
	vec__each (t, &s->threads) {
		const struct thread_at *at = find_at(now, t->at.tid);

		if (t->settled || !at)
			continue;
		t->at = *at;
		t->state = thread__state(at->tid);
		if (!at->on_cpu && !read_stack(s, at, &t->stack))
			t->at.on_cpu = true; /* it changed its stack: it ran */
	}
}

/* Those that have not run since the round began are settled. Returns how many aren't. */
static size_t end_round(struct snapshot *s, const thread_at_vec *now)
{
	size_t left = 0, sampled = 0;

	for (size_t i = 0; i < s->threads.len; i++) {
		struct snap *t = &s->threads.data[i];
		const struct thread_at *after;

		if (t->settled)
			continue;
		after = find_at(now, t->at.tid);
		if (!after) {
			str__free(&t->stack.bytes);
			memmove(t, t + 1, (--s->threads.len - i--) * sizeof(*t));
			s->ended++;
			continue;
		}
		if (!t->at.on_cpu && !after->on_cpu && after->switches == t->at.switches)
			t->settled = true;
		else if (after->on_cpu && sampled++ < SAMPLES)
			take_sample(s, t);
		left += !t->settled;
	}
	return left;
}

static int take_all(struct snapshot *s)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	autofree thread_at_vec now = {0};
	size_t left = 1;
	int err = 0;

	for (int round = 0; !err && left && round < ROUNDS; round++) {
		if (round)
			nanosleep(&pause, NULL);
		maps__free(&s->maps);
		s->maps = (map_vec){0};
		err = maps__read(s->pid, &s->maps);
		if (err)
			return err__set(-err, "cannot read the mappings of process %u: %s", s->pid,
					strerror(-err));
		err = thread_reader__read(s->reader, &now);
		if (!err)
			begin_round(s, &now);
		if (!err)
			err = thread_reader__read(s->reader, &now);
		if (!err)
			left = end_round(s, &now);
	}
	return err;
}

/* The main thread, then the others in the order of their numbers. */
static void sort(struct snapshot *s)
{
	for (size_t i = 1; i < s->threads.len; i++) {
		struct snap main = s->threads.data[i];

		if (main.at.tid != s->pid)
			continue;
		memmove(&s->threads.data[1], s->threads.data, i * sizeof(main));
		s->threads.data[0] = main;
		break;
	}
}

int snapshot__take(uint32_t pid, struct snapshot *out)
{
	int err;

	*out = (struct snapshot){.pid = pid};
	err = thread_reader__open(pid, &out->reader);
	if (!err)
		err = take_all(out);
	if (!err && !out->threads.len)
		err = err__set(ESRCH, "process %u has ended", pid);
	else if (!err && !out->maps.len)
		err = err__set(ENOTSUP,
			       "process %u runs no program: it is one of the kernel's own, or has "
			       "ended and waits for its parent",
			       pid);
	sort(out);
	return err;
}

bool snapshot__is_still(struct snapshot *s, const struct snap *t)
{
	autofree thread_at_vec now = {0};
	const struct thread_at *after =
		thread_reader__read(s->reader, &now) ? NULL : find_at(&now, t->at.tid);

	return t->settled && after && !after->on_cpu && after->switches == t->at.switches;
}

void snapshot__free(struct snapshot *s)
{
	struct snap *t;

	vec__each (t, &s->threads)
		str__free(&t->stack.bytes);
	vec__free(&s->threads);
	maps__free(&s->maps);
	thread_reader__close(s->reader);
}
