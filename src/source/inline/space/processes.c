// SPDX-License-Identifier: BSD-2-Clause
/* Threads and processes: added with what they share with their parents, and removed. */
#include "space.h"

static struct process *new_process(struct tracer *s, const struct process *parent, pid_t pid)
{
	struct process *p = tracer__add_process(s, pid);

	if (parent->space) {
		p->space = processes__share_memory(parent->pid, pid)
				   ? parent->space
				   : space__fork(parent->space, p);
		p->space->refs++;
	}
	p->quiet = parent->quiet || !s->follow;
	p->filters = parent->filters;
	p->opens = parent->opens;
	return p;
}

/* t is the thread that made it; NULL if not known. */
void process__add_child(struct tracer *s, struct process *parent, struct thread *t, pid_t child)
{
	bool thread = process__of_thread((uint32_t)child) == (uint32_t)parent->pid;
	struct process *p = thread ? parent : new_process(s, parent, child);
	struct thread *c = tracer__add_thread(s, child, p);

	if (thread || !t)
		return;
	c->parent = t->tid;
	c->stack = t->stack;
	c->forked = thread__position(t);
	vec__append(&c->frames, &t->frames);
}

bool tracer__take_early(struct tracer *s, pid_t child, struct stop *out)
{
	for (size_t i = 0; i < s->early.len; i++) {
		if (s->early.data[i].tid != child)
			continue;
		*out = s->early.data[i];
		s->early.data[i] = s->early.data[--s->early.len];
		return true;
	}
	return false;
}

static bool is_child(const struct stop *stop, const struct process *parent)
{
	return stop->parent == (uint32_t)parent->pid &&
	       process__of_thread((uint32_t)stop->tid) != (uint32_t)parent->pid;
}

/* The process was killed before it reported these children: they are added while their parent is
 * still known, and their stops are handled with the next ones. */
static void adopt_children(struct tracer *s, struct process *parent)
{
	struct stop stop;

	for (size_t i = 0; i < s->early.len;) {
		if (!is_child(&s->early.data[i], parent)) {
			i++;
			continue;
		}
		tracer__take_early(s, s->early.data[i].tid, &stop);
		process__add_child(s, parent, NULL, stop.tid);
		vec__push(&s->deferred, stop);
	}
}

/* The last thread takes its process along. */
void thread__remove(struct thread *t)
{
	struct tracer *s = t->tracer;
	struct process *p = t->process;

	thread__drop_slot(t);
	map64__del(&s->threads, (uint64_t)t->tid);
	vec__free(&t->frames);
	vec__free(&t->awaited);
	vec__free(&t->held);
	free(t);
	if (--p->nthreads)
		return;
	adopt_children(s, p);
	map64__del(&s->processes, (uint64_t)p->pid);
	text__forget_process(s, p->pid);
	space__drop(s, p->space);
	util__close(&p->mem);
	free(p);
}
