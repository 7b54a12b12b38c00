// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that run already. All their threads are stopped, and the copies are put in place; a
 * thread at an instruction that has a copy continues in that. Return addresses on the stacks need
 * no change: calls stay in the original. But a signal's handler may return to any instruction, so
 * stacks are searched for the frames of handlers.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tracer.h"

#define SCANS 100

/* ---- stopping ---- */

/* Threads that are made meanwhile by those that are not traced yet are found by the next scan; two
 * of them that find nothing new are needed, since threads that end may hide others. */
static int seize_all(struct tracer *s, struct process *p, struct start_answer *a)
{
	unsigned quiet = 0;

	process__interrupt(s, p);
	for (unsigned scan = 0; quiet < 2 && scan < SCANS; scan++) {
		pid_vec tids = {0};
		uint32_t *tid;
		int found = 0, got = 0;

		process__threads((uint32_t)p->pid, &tids);
		vec__each (tid, &tids) {
			if (got >= 0)
				got = process__seize(s, p, *tid, a);
			found += got > 0;
		}
		vec__free(&tids);
		if (got < 0)
			return got;
		quiet = found ? 0 : quiet + 1;
	}
	if (!p->nthreads)
		return start_answer__refuse(a, ESRCH, "no process %d", p->pid);
	return quiet < 2 ? start_answer__refuse(a, EAGAIN,
						"process %d makes threads too fast; try again",
						p->pid)
			 : 0;
}

/* ---- refused ---- */

/* Takes the signal that was sent because it has set gs, which is why it is refused. */
static void leave(struct thread *t)
{
	int sig;

	t->own_gs = thread__has_own_gs(t);
	sig = thread__take_own_signals(t, 0);
	if (sig >= 0)
		thread__resume(t, PTRACE_DETACH, sig);
}

/* Nothing was changed; the kernel detaches from the others when this process ends. waits: for a
 * thread that waits in the kernel the others have been held for long enough. */
static void leave_all(struct tracer *s, bool waits)
{
	struct start_answer ignored;
	struct thread *t;
	size_t i = 0;

	gs__unwatch(s);
	while ((t = tracer__each(s, &i)))
		if (t->state == THREAD_RUNNING)
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	if (!waits)
		tracer__await_stops(s, NULL, &ignored);
	for (i = 0; (t = tracer__each(s, &i));)
		if (t->state == THREAD_STOPPED && t->interrupted)
			leave(t);
}

/* ---- all of them ---- */

static bool is_named(const uint32_t *pids, size_t n, uint32_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Opens the memory of processes while that is still permitted. */
static void open_memory(const struct tracer *s)
{
	struct process *p;
	size_t i = 0;

	while ((p = tracer__each_process(s, &i)))
		p->mem = process__open_memory(p->pid, O_RDWR);
}

int tracer__stop_running(struct tracer *s, const uint32_t *pids, size_t n, struct start_answer *a)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		if ((pid_t)pids[i] == getppid())
			err = start_answer__refuse(a, EINVAL, "bbtrace can't trace itself");
		else if (!is_named(pids, i, pids[i]))
			err = process__prepare(s, tracer__add_process(s, (pid_t)pids[i]), a);
	}
	s->stopped = now_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; !err && i < n; i++)
		if (!is_named(pids, i, pids[i]))
			err = seize_all(s, tracer__process(s, (pid_t)pids[i]), a);
	if (!err)
		err = tracer__await_stops(s, NULL, a);
	if (!err)
		err = tracer__check(s, a);
	if (!err) {
		open_memory(s);
		return 0;
	}
	tracer__unprepare(s);
	leave_all(s, err == -EBUSY);
	return err;
}

/* ---- frames of handlers ---- */

#define STACK_MOST (16u << 20)
#define CHUNK	   65536

/* Returns true if the stack has a frame there: where a handler interrupted the thread. */
static bool is_frame(const struct thread *t, const map_vec *maps, uint64_t at, uint64_t returns,
		     uint64_t *pc, uint64_t *sp)
{
	const struct arch_tracee *a = t->tracer->tracee;
	const struct space *s = t->process->space;
	const struct map *m = maps__at(maps, returns);
	uint8_t code[16], frame[1024];

	if (!m || !m->exec || !space__read(s, returns, code, a->sigreturn_len) ||
	    memcmp(code, a->sigreturn, a->sigreturn_len) != 0 || a->frame_size > sizeof(frame) ||
	    !space__read(s, at, frame, a->frame_size) || !a->frame(frame, pc, sp))
		return false;
	m = maps__at(maps, *pc);
	return m && m->exec && maps__at(maps, *sp);
}

/* Finds the next one from *at on. Returns false if there is none on this stack. */
static bool next_frame(const struct thread *t, const map_vec *maps, uint64_t *at, uint64_t *pc,
		       uint64_t *sp)
{
	const struct map *m = maps__at(maps, *at);
	uint64_t end = m ? min_of(m->end, *at + STACK_MOST) : 0;
	autofree uint64_t *words = xmalloc(CHUNK);

	for (*at &= ~7ull; *at < end; *at += CHUNK) {
		size_t n = min_of(end - *at, (uint64_t)CHUNK) / 8;

		if (!space__read(t->process->space, *at, words, n * 8))
			return false;
		for (size_t i = 0; i < n; i++)
			if (words[i] && is_frame(t, maps, *at + i * 8, words[i], pc, sp)) {
				*at += i * 8;
				return true;
			}
	}
	return false;
}

/* The handlers that return to code that was changed are noted, the outermost first. */
static void find_frames(struct thread *t, const map_vec *maps)
{
	uint64_t at = thread__get(t, TRACEE_SP), pc, sp;
	struct {
		uint64_t at, pc;
	} found[64];
	size_t n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(found) && next_frame(t, maps, &at, &pc, &sp); i++) {
		if (space__is_changed(t->process->space, pc)) {
			found[n].at = at;
			found[n++].pc = pc;
		}
		at = sp > at || maps__at(maps, sp) != maps__at(maps, at) ? sp : at + 8;
	}
	while (n--)
		signals__found(t, found[n].at, found[n].pc);
}

/* ---- beginning ---- */

/* After a system call is a place where the original may be executed. */
static void enter_copies(struct thread *t, const map_vec *maps)
{
	if (thread__load_regs(t))
		return;
	find_frames(t, maps);
	if (!thread__is_in_call(t))
		signals__to_copy(t);
	thread__store_regs(t);
}

/* Next after that which is NULL, of the process, and stopped. */
static struct thread *next_of(const struct process *p, const struct tracer *s, size_t *i)
{
	struct thread *t;

	while ((t = tracer__each(s, i)))
		if (t->process == p && t->state == THREAD_STOPPED && t->interrupted)
			return t;
	return NULL;
}

/* Returns the thread that is made to map memory; NULL if the process has ended, or executes another
 * program. */
static struct thread *choose(const struct process *p, const struct tracer *s)
{
	struct thread *t, *found = NULL;
	size_t i = 0;

	while ((t = next_of(p, s, &i)))
		if (!found || !thread__is_in_call(t))
			found = t;
	return found;
}

static bool get_slots(const struct process *p, const struct tracer *s, struct thread *first)
{
	struct thread *t;
	size_t i = 0;

	if (!thread__get_slot(first, 0, 0))
		return false;
	while ((t = next_of(p, s, &i)))
		if (!thread__get_slot(t, 0, 0) && !kill(t->tid, 0))
			return false;
	return true;
}

static void enter_all(const struct process *p, const struct tracer *s)
{
	map_vec maps = {0};
	struct thread *t;
	size_t i = 0;

	maps__read(p->pid, &maps);
	while ((t = next_of(p, s, &i)))
		enter_copies(t, &maps);
	maps__free(&maps);
}

/* It is detached when its threads' stops are handled. */
static void refuse_process(struct tracer *s, struct process *p, const char *why)
{
	if (!p->quiet)
		tracer__notify_text(s, NOTICE_DETACHED, p, 0, why);
	p->quiet = true;
	p->space->other = true;
	p->space->detaches = true;
}

static void begin(struct tracer *s, struct process *p)
{
	struct thread *first = choose(p, s);

	if (!first)
		return;
	p->space = space__new(s, p);
	p->space->refs = 1;
	if (p->quiet) { /* a child that was made meanwhile, and isn't followed */
		p->space->detaches = true;
		return;
	}
	if (p->space->mem < 0) {
		refuse_process(s, p, "its memory can't be opened");
		return;
	}
	thread__open_memory(first);
	if (!get_slots(p, s, first)) {
		refuse_process(s, p, s->no_log);
		return;
	}
	loader__find(first);
	/* no thread is where the original is changed, not for a moment */
	if (!thread__map_copies(first))
		thread__refuse_gs(first);
	thread__unmap_prepared(first);
	enter_all(p, s);
	thread__patch(first);
}

static void notify_attached(struct tracer *s, const struct process *p)
{
	struct notice notice = {.type = NOTICE_ATTACHED,
				.pid = (uint32_t)p->pid,
				.tid = (uint32_t)p->pid,
				.time = now_ns(CLOCK_MONOTONIC) - s->stopped + p->stopped};

	if (p->space && !p->quiet)
		tracer__notify(s, &notice, -1);
}

void tracer__begin_running(struct tracer *s)
{
	struct process *p;

	for (size_t i = 0; (p = tracer__each_process(s, &i));)
		begin(s, p);
	for (size_t i = 0; (p = tracer__each_process(s, &i));)
		notify_attached(s, p);
}
