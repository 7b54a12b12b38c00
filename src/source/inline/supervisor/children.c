// SPDX-License-Identifier: BSD-2-Clause
/* New threads, new processes and new programs. */
#include <sys/ptrace.h>
#include "tracer.h"

bool thread__made_child(struct thread *t, int event, pid_t child, struct stop *early)
{
	struct tracer *s = t->tracer;

	t->in_vfork = event == PTRACE_EVENT_VFORK;
	if (tracer__thread(s, child))
		return false;
	process__add_child(s, t->process, t, child);
	return tracer__take_early(s, child, early);
}

/* ---- without the tracer ---- */

/* Until now it has used the slot of the thread that made it. Returns false if it has none, because
 * its program is another one by now. */
static bool leave_slot(struct thread *t)
{
	uint64_t base = thread__get(t, TRACEE_LOG), copy;
	bool found = false;
	struct area *const *a;

	vec__each (a, &t->process->space->areas)
		found |= base - (*a)->base < (*a)->size;
	vec__each (a, &t->process->space->inherited)
		found |= base - (*a)->base < (*a)->size;
	return found && thread__step_out(t, NULL, &copy) == OUT_DONE;
}

static void note_stray(struct thread *t)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "task %d was made without its tracer (CLONE_UNTRACED): until now what is shown of "
		 "it, and of the thread that made it, is mixed up",
		 t->tid);
	if (!t->process->quiet)
		tracer__notify_text(t->tracer, NOTICE_NOTE, t->process, 0, text);
}

static void find_stray(struct tracer *s, struct process *p, pid_t tid)
{
	struct thread *t;

	/* refused: it is new, and its parent is about to report it */
	if (tracer__thread(s, tid) || tracer__process(s, tid) ||
	    ptrace(PTRACE_SEIZE, tid, 0, TRACER_OPTIONS))
		return;
	process__add_child(s, p, NULL, tid);
	t = tracer__thread(s, tid);
	t->stray = true;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
}

/* Finds the children of a thread: /proc/PID/task/TID/children. */
static void find_children(struct tracer *s, struct process *p, uint32_t tid)
{
	autofree char *text = NULL;
	char path[64], *at, *next;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/children", p->pid, tid);
	if (file__read(path, 1u << 20, &text, NULL))
		return;
	for (at = text;; at = next) {
		long child = strtol(at, &next, 10);

		if (next == at)
			return;
		find_stray(s, p, (pid_t)child);
	}
}

static void find_strays(struct tracer *s, struct process *p)
{
	pid_vec tids = {0};
	uint32_t *tid;

	process__threads((uint32_t)p->pid, &tids);
	vec__each (tid, &tids) {
		find_stray(s, p, (pid_t)*tid);
		find_children(s, p, *tid);
	}
	vec__free(&tids);
}

void tracer__find_strays(struct tracer *s)
{
	VEC(struct process *) all = {0};
	struct process **p, *one;

	for (size_t i = 0; (one = tracer__each_process(s, &i));)
		vec__push(&all, one);
	vec__each (p, &all)
		if ((*p)->space && (*p)->space->loaded.len && !(*p)->space->detaches)
			find_strays(s, *p);
	vec__free(&all);
}

/* ---- the first stop ---- */

void thread__start(struct thread *t)
{
	struct tracer *tracer = t->tracer;
	struct process *p = t->process;
	struct space *s = p->space;
	bool traced = s && !s->other && (s->areas.len || s->inherited.len);
	bool alone = s && s->refs == 1 && p->nthreads == 1;

	if (s && s->restored_functions.len && p->nthreads == 1)
		restore__forked(t);
	if (t->stray && !leave_slot(t)) {
		s->refs++;
		thread__detach(t, 0);
		space__was_left(tracer, s);
		return;
	}
	if (t->stray)
		note_stray(t);
	if (alone && s->loaded.len)
		thread__open_memory(t);
	if (alone && (p->quiet || t->tracer->quitting)) {
		thread__detach_alone(t);
		return;
	}
	if (traced && !thread__get_slot(t, t->parent, t->forked)) {
		/* it may not write to its parent's */
		if (!p->quiet)
			tracer__notify_text(t->tracer, NOTICE_DETACHED, p, 0, tracer->no_log);
		p->quiet = true;
		t->state = THREAD_HELD;
		space__detach(t->tracer, s);
		return;
	}
	if (traced) {
		restore__notify(t);
		text__notify(t);
	}
	if (traced && p->nthreads == 1)
		space__watch_text(tracer, s);
	if (t->stray)
		signals__to_copy(t);
	thread__done(t);
}

/* ---- exec ---- */

static void remove_others(struct thread *t)
{
	struct tracer *s = t->tracer;
	struct thread *other;
	size_t i = 0;

	while ((other = tracer__each(s, &i)))
		if (other != t && other->process == t->process) {
			tracer__forget_stops(s, other->tid);
			thread__remove(other);
			i = 0;
		}
}

static void forget_program(struct thread *t)
{
	struct space *old = t->process->space;

	thread__drop_slot(t);
	signals__leave_frames(t);
	text__forget_process(t->tracer, t->process->pid);
	t->process->space = NULL;
	util__close(&t->process->mem);
	t->process->mem = -1;
	t->held.len = 0;
	t->delivering = t->maps = t->maps_code = t->in_vfork = t->leaves = false;
	t->call = -1;
	t->parent = 0;
	/* The kernel resumes the parent of vfork(2) before it reports this. */
	space__was_left(t->tracer, old);
}

/* Returns why a program that a child executes must run without a tracer; NULL if it need not. */
static const char *unfit(struct tracer *s, const struct process *p)
{
	bool first = s->command == p->pid;

	if (first)
		s->command = 0;
	return s->unfit && !first && !p->quiet ? s->unfit(p->pid) : NULL;
}

void thread__executed(struct thread *t)
{
	struct process *p = t->process;
	const char *why;

	remove_others(t);
	forget_program(t);
	p->caught = 0;
	why = unfit(t->tracer, p);
	if (t->tracer->quitting || p->quiet || why) {
		if (!p->quiet)
			tracer__notify_text(t->tracer, NOTICE_DETACHED, p, 0, why ? why : "");
		p->quiet = true;
		thread__detach(t, 0);
		return;
	}
	p->space = space__new(t->tracer, p);
	p->space->refs = 1;
	t->in_exec = true;
	thread__go_on(t, 0);
}
