// SPDX-License-Identifier: BSD-2-Clause
/* The life of threads and processes. Their state is created at the first event, copied at a fork
 * and freed at the end. PIDs and TIDs are reused. */
#include <stdlib.h>
#include "calls.h"

/* ---- processes ---- */

#define FIRST_ENDED 1u /* a flag in the values of trace.processes */
#define THREAD	    2u

bool trace__knows(const struct trace *t, uint32_t pid)
{
	return map64__get(&t->processes, pid);
}

/* A process continues when its main thread ends, and ends with its last thread. */
static void forget_if_gone(struct trace *t, uint32_t pid)
{
	const uint64_t *p = map64__get(&t->processes, pid);

	if (p && *p != FIRST_ENDED)
		return;
	map64__del(&t->processes, pid);
	goroutines__end(t, pid);
	map64__del(&t->inner, pid);
	locate__forget_process(t, pid);
}

/* ---- threads ---- */

static uint64_t thread_key(uint32_t tid, uint32_t cpu)
{
	return tid ? tid : 1ull << 32 | cpu; /* all CPUs' idle tasks have tid 0 */
}

static struct thread *find_thread(const struct trace *t, uint32_t tid)
{
	uint64_t *slot = map64__get(&t->threads, tid);

	return slot ? (struct thread *)(uintptr_t)*slot : NULL;
}

struct thread *tasks__thread(struct trace *t, uint32_t pid, uint32_t tid, uint32_t cpu)
{
	uint64_t key = thread_key(tid, cpu), *slot;
	struct thread *th = t->last;

	if (th && th->key == key && th->pid == pid)
		return th;
	slot = map64__put(&t->threads, key);
	th = t->last = (struct thread *)(uintptr_t)*slot;
	if (th && th->pid == pid)
		return th;
	if (!th) {
		th = xcalloc(1, sizeof(*th));
		th->tid = tid;
		th->key = key;
		*slot = (uintptr_t)th;
		t->last = th;
	} else {
		*map64__put(&t->processes, th->pid) -= THREAD;
	}
	th->pid = pid;
	*map64__put(&t->processes, pid) += THREAD;
	return th;
}

static void end_thread(struct trace *t, struct thread *th)
{
	uint32_t pid = th->pid;

	tasks__abandon(t, th);
	live_filter__leave_calls(t, th);
	goroutines__leave(t, th);
	map64__del(&t->threads, th->key);
	if (t->last == th)
		t->last = NULL;
	thread__free(th);
	*map64__put(&t->processes, pid) -= THREAD;
	forget_if_gone(t, pid);
}

/* ---- sideband events ---- */

/* A forked process continues on a copy of the parent's stack, at the same addresses. */
static void copy_process(struct trace *t, struct thread *th, const struct thread *from)
{
	calls__copy(th, from);
	account__copy(t, th, from);
	live_filter__copy(t, th, from);
	for (uint32_t i = 0; i < t->plan->objects.len; i++) {
		const uint64_t *bias = map64__get(&t->biases, (uint64_t)from->pid << 32 | i);

		if (bias)
			locate__learn_bias(t, th->pid, i, *bias);
	}
}

int trace__fork(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid,
		uint32_t ptid)
{
	struct thread *from, *th = find_thread(t, tid);

	/* The previous thread with this TID has ended. */
	if (th)
		end_thread(t, th);
	if (pid != ppid) {
		map64__del(&t->processes, pid);
		forget_if_gone(t, pid);
	}
	from = find_thread(t, ptid);
	if (!from)
		return 0;
	th = tasks__thread(t, pid, tid, 0);
	memcpy(th->comm, from->comm, sizeof(th->comm));
	if (pid != ppid)
		copy_process(t, th, from);
	return 0;
}

int trace__comm(struct trace *t, uint32_t pid, uint32_t tid, const char *comm)
{
	struct thread *th = tasks__thread(t, pid, tid, 0);

	snprintf(th->comm, sizeof(th->comm), "%s", comm);
	return 0;
}

static void forget_task(struct trace *t, struct thread *th)
{
	tasks__abandon(t, th);
	th->comm[0] = 0;
	locate__forget_process(t, th->pid);
}

void tasks__forget_all(struct trace *t)
{
	uint64_t th;

	for (size_t i = 0; i < t->goroutines.cap; i++)
		if (map64__slot(&t->goroutines, i, &th))
			forget_task(t, (struct thread *)(uintptr_t)th);
	for (size_t i = 0; i < t->threads.cap; i++)
		if (map64__slot(&t->threads, i, &th))
			forget_task(t, (struct thread *)(uintptr_t)th);
}

/* Ends all threads for which fn holds. */
static void end_threads(struct trace *t, bool (*fn)(void *ctx, struct thread *th), void *ctx)
{
	VEC(struct thread *) ended = {0};
	struct thread **th;
	uint64_t value;

	for (size_t i = 0; i < t->threads.cap; i++)
		if (map64__slot(&t->threads, i, &value) &&
		    fn(ctx, (struct thread *)(uintptr_t)value))
			vec__push(&ended, (struct thread *)(uintptr_t)value);
	vec__each (th, &ended)
		end_thread(t, *th);
	vec__free(&ended);
}

/*
 * After an exec, all other threads have ended, and the calling thread has the TID of the main
 * thread: it is the one thread with another TID that is left. Kernel functions return from an exec.
 */
struct exec {
	struct thread *first;
	bool goes_on;
};

static bool is_left(void *ctx, struct thread *th)
{
	const struct exec *e = ctx;

	if (th == e->first || th->pid != e->first->pid)
		return false;
	if (e->goes_on && !th->ended && th->kernel_side)
		kernel_side__move(e->first, th);
	return true;
}

int trace__exec(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm)
{
	struct thread *th = tasks__thread(t, pid, tid, 0);
	struct exec e = {.first = th};
	uint64_t *p = map64__put(&t->processes, pid);

	if (th->ended)
		tasks__abandon(t, th);
	thread__abandon_side(t, th);
	th->ended = false;
	e.goes_on = !th->kernel_side || !th->kernel_side->calls.len;
	*p &= ~(uint64_t)FIRST_ENDED;
	if (*p > THREAD)
		end_threads(t, is_left, &e);
	goroutines__end(t, pid);
	locate__forget_process(t, pid);
	snprintf(th->comm, sizeof(th->comm), "%s", comm);
	return 0;
}

/* Kernel functions still run in a thread after its exit event. */
static void end_later(struct trace *t, struct thread *th)
{
	struct thread *oldest = find_thread(t, t->ended[t->nended % ENDED]);

	if (oldest && oldest != th && oldest->ended)
		end_thread(t, oldest);
	thread__abandon_side(t, th);
	th->ended = true;
	t->ended[t->nended++ % ENDED] = th->tid;
}

int trace__exit(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct thread *th = find_thread(t, tid);

	if (pid == tid)
		*map64__put(&t->processes, pid) |= FIRST_ENDED;
	if (th && t->has_kernel)
		end_later(t, th);
	else if (th)
		end_thread(t, th);
	else if (pid == tid)
		forget_if_gone(t, pid);
	return 0;
}

void trace__each_thread(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint32_t tid),
			void *ctx)
{
	const struct thread *th;
	uint64_t value;

	for (size_t i = 0; i < t->threads.cap; i++) {
		if (!map64__slot(&t->threads, i, &value))
			continue;
		th = (const struct thread *)(uintptr_t)value;
		if (th->tid)
			fn(ctx, th->pid, th->tid);
	}
}

/* ---- the end ---- */

static void leave_side(struct trace *t, struct thread *th)
{
	if (th->seen)
		calls__leave_open(t, th);
	th->calls.len = th->ndormant = 0;
}

/* A thread that is exiting never returns from its calls. */
static void leave_all(struct trace *t, const struct map64 *threads)
{
	struct thread *th;
	uint64_t value;

	for (size_t i = 0; i < threads->cap; i++) {
		if (!map64__slot(threads, i, &value))
			continue;
		th = (struct thread *)(uintptr_t)value;
		live_filter__leave_calls(t, th);
		if (th->ended) {
			tasks__abandon(t, th);
			continue;
		}
		if (th->kernel_side)
			leave_side(t, th->kernel_side);
		leave_side(t, th);
	}
}

void tasks__leave_all(struct trace *t)
{
	leave_all(t, &t->goroutines);
	leave_all(t, &t->threads);
}

int trace__finish(struct trace *t)
{
	tasks__leave_all(t);
	return 0;
}

void tasks__free(struct trace *t)
{
	uint64_t value;

	for (size_t i = 0; i < t->threads.cap; i++)
		if (map64__slot(&t->threads, i, &value))
			thread__free((struct thread *)(uintptr_t)value);
	for (size_t i = 0; i < t->goroutines.cap; i++)
		if (map64__slot(&t->goroutines, i, &value))
			thread__free((struct thread *)(uintptr_t)value);
	map64__free(&t->threads);
	map64__free(&t->goroutines);
	map64__free(&t->processes);
	map64__free(&t->inner);
}
