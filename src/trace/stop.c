// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recording stops and starts again (bbtrace ctl). Nothing seen before a stop shows what happened in
 * it: a call that is found in the same stack slot may be another one. So the threads start, after a
 * mark, as they do when a trace is attached to them.
 *
 * If a part of a trace file is lost, each thread has lost events.
 */
#include "calls.h"

static void forget_entered(struct thread *th)
{
	map64__free(&th->entered);
	th->entered = (struct map64){0};
	th->returned_sp = 0;
}

static void stop_thread(struct trace *t, struct thread *th)
{
	struct thread *kernel = th->kernel_side;

	th->stopped |= th->seen || (kernel && kernel->seen);
	forget_entered(th);
	if (kernel)
		forget_entered(kernel);
	account__miss(t, th);
	live_filter__leave_calls(t, th);
}

static void stop_all(struct trace *t, const struct map64 *threads)
{
	uint64_t th;

	for (size_t i = 0; i < threads->cap; i++)
		if (map64__slot(threads, i, &th))
			stop_thread(t, (struct thread *)(uintptr_t)th);
}

int trace__stop(struct trace *t, uint64_t time, const char *by)
{
	if (t->stopped)
		return 0;
	t->stopped = max_of(time, (uint64_t)1);
	t->totals.stops++;
	tasks__leave_all(t);
	stop_all(t, &t->goroutines);
	stop_all(t, &t->threads);
	return step__note(t, NULL, STEP_STOP, time, 0, by);
}

/* A part of a trace may begin in a stop. */
int trace__start(struct trace *t, uint64_t time, uint64_t since, const char *by)
{
	if (t->stopped)
		t->totals.stopped_ms += (time - min_of(time, t->stopped)) / 1000000;
	t->stopped = 0;
	return step__note(t, NULL, STEP_START, time, since, by);
}

static int miss_of_thread(struct trace *t, struct thread *th)
{
	struct event_context n = {.t = t, .th = kernel_side__innermost(th)};

	th->interrupted_at = 0;
	th->last_hit = (struct last_hit){0};
	replay__forget(t, th);
	return th->seen || (th->kernel_side && th->kernel_side->seen)
		       ? step__mark(&n, STEP_UNKNOWN, 0)
		       : 0;
}

static int miss_of_all(struct trace *t, const struct map64 *threads)
{
	uint64_t th;
	int err = 0;

	for (size_t i = 0; !err && i < threads->cap; i++)
		if (map64__slot(threads, i, &th))
			err = miss_of_thread(t, (struct thread *)(uintptr_t)th);
	return err;
}

/* Forgets which goroutines the threads run, since that isn't known any more, and frees those that
 * no thread runs. */
static void leave_goroutines(struct trace *t)
{
	uint64_t th;

	for (size_t i = 0; i < t->threads.cap; i++)
		if (map64__slot(&t->threads, i, &th))
			goroutines__leave(t, (struct thread *)(uintptr_t)th);
}

int trace__hole(struct trace *t, uint64_t count, bool forgets)
{
	int err;

	leave_goroutines(t);
	if (forgets) {
		tasks__forget_all(t);
		t->totals.at_least = 1;
		t->stopped = 0;
	}
	err = count ? trace__lost(t, 0, 0, count) : 0;
	if (!err)
		err = miss_of_all(t, &t->goroutines);
	return err ? err : miss_of_all(t, &t->threads);
}

int trace__mark(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint64_t number,
		const char *text)
{
	struct thread *th = pid ? tasks__thread(t, pid, tid, 0) : NULL;

	return step__note(t, th, STEP_MARK, time, number, text);
}

int stop__mark(struct event_context *n)
{
	struct thread *th = thread__shown(n->th);

	if (!th->stopped)
		return 0;
	th->stopped = false;
	return step__mark(n, STEP_UNKNOWN, 0);
}
