// SPDX-License-Identifier: BSD-2-Clause
/*
 * Before a process dumps its memory, all of its threads are taken out of the copies: what the dump
 * shows is the program's own code and registers. They wait until the kernel ends them. If it
 * doesn't, since the signal had another effect by then, they continue.
 */
#include "tracer.h"

#define STOP_NS 1000000000ull /* threads that take longer stay where they are */
#define WAIT_NS 5000000000ull

/* Has stopped, or will be looked at as one that has. */
static void clear(struct thread *t)
{
	if (!thread__has_stopped(t->tid) || thread__load_regs(t))
		return;
	thread__to_original(t);
	t->fault = 0;
}

void thread__clear_others(struct thread *t)
{
	struct process *p = t->process;
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	struct thread *other;

	if (p->nthreads < 2)
		return;
	p->dumper = t->tid;
	p->dumped = now;
	thread__stop_others(t, now + STOP_NS);
	for (size_t i = 0; (other = tracer__each_in(t->tracer, p->space, &i));)
		if (other != t && other->process == p && other->state == THREAD_RUNNING)
			clear(other);
}

/* One that was stepped has no stop to report any more. */
static void release(struct process *p, struct tracer *s)
{
	struct thread *t;

	for (size_t i = 0; (t = tracer__each(s, &i));)
		if (t->process == p && t->tid != p->dumper && t->state == THREAD_STOPPED)
			thread__done(t);
	p->dumper = 0;
	for (size_t i = s->kept.len; i-- > 0;) {
		t = tracer__thread(s, s->kept.data[i].tid);
		if (t && t->process != p)
			continue;
		vec__push(&s->deferred, s->kept.data[i]);
		s->kept.len--;
		memmove(s->kept.data + i, s->kept.data + i + 1,
			(s->kept.len - i) * sizeof(*s->kept.data));
	}
}

bool tracer__keeps(struct tracer *s, struct thread *t, const struct stop *stop)
{
	if (!t->process->dumper)
		return false;
	if (t->tid == t->process->dumper) {
		release(t->process, s);
		return false;
	}
	thread__take_stop(t);
	vec__push(&s->kept, *stop);
	return true;
}

void tracer__release(struct tracer *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	struct thread *t;

	for (size_t i = 0; (t = tracer__each(s, &i));)
		if (t->process->dumper && now - t->process->dumped > WAIT_NS)
			release(t->process, s);
}
