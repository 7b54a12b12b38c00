// SPDX-License-Identifier: BSD-2-Clause
/*
 * Before processes that run are stopped: what takes long is done while they run. Their code is
 * searched and compared; one thread is stopped and made to map memory; the copies are written
 * there. Nothing leads to them yet, and a child that is forked meanwhile doesn't get that memory.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tracer.h"

#define CHUNK (1u << 20) /* bytes that are written between two looks at stops */

/* ---- mapping ---- */

/* Returns a thread that isn't in a system call, if there is one; 0 if there is none. */
static uint32_t choose(const struct process *p)
{
	uint32_t pid = (uint32_t)p->pid, *tid, found = 0;
	pid_vec tids = {0};
	bool runs = false;

	process__threads(pid, &tids);
	vec__each (tid, &tids) {
		if (runs)
			break;
		runs = thread__is_running(pid, *tid);
		if (!found || runs)
			found = *tid;
	}
	vec__free(&tids);
	return found;
}

/* Returns true if it was stopped by the request to stop, and not by a signal such as SIGSTOP. */
static bool is_asked(const struct tracer *s, const struct thread *t)
{
	const struct stop *stop;

	vec__each (stop, &s->deferred)
		if (stop->tid == t->tid)
			return t->state == THREAD_STOPPED &&
			       stop->status >> 16 == PTRACE_EVENT_STOP &&
			       WSTOPSIG(stop->status) == SIGTRAP;
	return false;
}

static bool refuse(struct start_answer *a, pid_t pid, const char *why)
{
	start_answer__refuse(a, ENOTSUP, "process %d can't be traced by copies: %s", pid, why);
	return false;
}

/* Returns false if it may not map what it would need. */
static bool map(struct thread *t, struct start_answer *a)
{
	const struct copy_image *i = t->tracer->copies->images.data;
	struct space *s = t->process->space;
	map_vec maps = {0};
	struct loaded l;

	while (!maps__read(t->process->pid, &maps) && thread__find_object(t, &maps, &i, &l)) {
		l.base = thread__map_near(t, &maps, l.start, l.object->pie, l.size);
		if (!l.base) {
			loaded__free_states(&l);
			maps__free(&maps);
			return refuse(a, t->process->pid,
				      "it may not map memory for copies, or has none within reach "
				      "of its code");
		}
		vec__push(&s->loaded, l);
		maps__free(&maps);
		maps = (map_vec){0};
		if (thread__call(t, SYS_madvise, l.base, l.size, MADV_DONTFORK, 0, 0, 0))
			break;
	}
	maps__free(&maps);
	return thread__may_map_area(t) || refuse(a, t->process->pid, t->tracer->no_log);
}

/* ---- writing ---- */

static bool write_copies(struct tracer *s, struct space *space, const struct loaded *l)
{
	autofree uint8_t *code = loaded__code(l, s->arch, space->untimed);
	size_t n = l->image->code.len;

	for (size_t done = 0; code && done < n; done += CHUNK) {
		tracer__collect(s);
		if (!space__write(space, l->base + done, code + done,
				  min_of(n - done, (size_t)CHUNK)))
			return false;
	}
	return code;
}

/* What could not be written is unmapped later: it is refused. */
static void fill(struct tracer *s, const struct process *p, struct space *space)
{
	struct loaded *l;

	vec__each (l, &space->loaded) {
		if (write_copies(s, space, l))
			loaded__prepare_text(space, s, l);
		else
			l->refused = true;
		vec__push(&s->prepared, ((struct prepared){p->pid, *l}));
		l->states = NULL; /* the space has them now */
		l->states_notified = l->open_notified = l->entries = NULL;
	}
}

/* ---- the whole ---- */

/* Stopped, since began; it runs again then. */
static int prepare(struct thread *t, uint64_t began, struct start_answer *a)
{
	struct tracer *s = t->tracer;
	struct process *p = t->process;
	struct space *space;
	int err = thread__check(t, a);

	if (err)
		return err;
	space = space__new(s, p);
	space->refs = 1;
	p->space = space;
	thread__open_memory(t);
	/* it is written to while the process runs */
	if (space->writes && !map(t, a))
		err = -ENOTSUP;
	p->space = NULL;
	tracer__forget_stops(s, t->tid);
	t->interrupted = false;
	thread__go_on(t, 0);
	p->stopped = now_ns(CLOCK_MONOTONIC) - began;
	fill(s, p, space);
	space__drop(s, space);
	return err;
}

int process__prepare(struct tracer *s, struct process *p, struct start_answer *a)
{
	int err = process__check_code(s, p->pid, a);
	uint32_t tid, other;
	struct thread *t;
	uint64_t began;

	if (err)
		return err;
	other = process__sharer(NULL, p->pid);
	tid = choose(p);
	if (other || !tid) /* it is refused later */
		return 0;
	began = now_ns(CLOCK_MONOTONIC);
	err = process__seize(s, p, tid, a);
	if (err <= 0)
		return err;
	err = tracer__await_stops(s, p, a);
	if (err)
		return err;
	t = tracer__thread(s, (pid_t)tid);
	return t && is_asked(s, t) ? prepare(t, began, a) : 0;
}

/* ---- what was prepared ---- */

static bool is_prepared(const struct tracer *s, const struct process *p)
{
	const struct prepared *c;

	vec__each (c, &s->prepared)
		if (c->pid == p->pid)
			return true;
	return false;
}

/* Unprepares it, by a thread that has stopped on request. Returns false if none has. */
static bool unprepare(const struct tracer *s, struct process *p)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->process == p && is_asked(s, t))
			break;
	if (!t)
		return false;
	p->space = space__new(s, p);
	p->space->refs = 1;
	thread__unmap_prepared(t);
	return true;
}

void tracer__unprepare(struct tracer *s)
{
	struct start_answer ignored;
	struct process *p;

	for (size_t i = 0; (p = tracer__each_process(s, &i));) {
		if (!is_prepared(s, p) || unprepare(s, p))
			continue;
		process__interrupt(s, p);
		tracer__await_stops(s, p, &ignored);
		unprepare(s, p);
	}
}
