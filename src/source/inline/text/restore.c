// SPDX-License-Identifier: BSD-2-Clause
/*
 * A handler of a fault may read the instruction that has faulted, and continue anywhere. If a
 * springboard is in the way of that, the function's original is restored until the handler has
 * returned or was left. What any thread executes of it meanwhile is not logged; where that is in
 * their logs is reported.
 */
#include "text.h"

/* ---- which functions ---- */

static bool is_in(const struct plan_function *pf, uint64_t vaddr)
{
	for (size_t k = 0; k < pf->nranges; k++)
		if (vaddr - pf->ranges[k].vaddr < pf->ranges[k].size)
			return true;
	return false;
}

/* Returns NO_FUNCTION if it is in none that has a copy. */
static uint32_t function_at(const struct tracer *s, const struct loaded *l, uint64_t vaddr)
{
	uint32_t function = plan__function_at(s->plan, l->image->object, vaddr);

	for (uint32_t i = 0; function != NO_FUNCTION && i < l->image->functions.len; i++)
		if (l->image->functions.data[i].function == function)
			return i;
	return NO_FUNCTION;
}

static const struct loaded *loaded_at(const struct space *s, uint64_t base)
{
	const struct loaded *l;

	vec__each (l, &s->loaded)
		if (l->base == base && !l->refused)
			return l;
	return NULL;
}

static struct restored_function *find(struct space *s, uint64_t base, uint32_t function)
{
	struct restored_function *u;

	vec__each (u, &s->restored_functions)
		if (u->base == base && (u->function == function || u->function == ALL_FUNCTIONS))
			return u;
	return NULL;
}

/* Returns true if an island of another function is among its bytes. */
static bool has_foreign_patch(const struct tracer *s, const struct loaded *l, uint32_t function)
{
	const struct copy_function *f = &l->image->functions.data[function];
	const struct plan_function *pf = loaded__planned(s, l, function);
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		size_t i = p - l->image->patches.data;

		if ((i < f->patches || i >= f->patches_end) && is_in(pf, p->vaddr))
			return true;
	}
	return false;
}

/* ---- what is reported ---- */

static void notify(struct thread *t, const struct loaded *l, const struct restored_function *u,
		   uint32_t type, bool within)
{
	uint32_t function = u->function == ALL_FUNCTIONS
				    ? NO_FUNCTION
				    : l->image->functions.data[u->function].function;
	struct notice notice = {.type = type,
				.pid = (uint32_t)t->process->pid,
				.tid = (uint32_t)t->tid,
				.slot = t->slot,
				.object = l->image->object,
				.function = function,
				.position = thread__position(t),
				.size = within};

	if (!t->notified)
		return;
	notice.area = t->area->number;
	tracer__notify(t->tracer, &notice, -1);
}

void restore__notify(struct thread *t)
{
	const struct restored_function *u;

	vec__each (u, &t->process->space->restored_functions)
		notify(t, loaded_at(t->process->space, u->base), u, NOTICE_UNLOGGED, false);
}

static void note_restored(struct thread *t, const struct loaded *l,
			  const struct restored_function *u)
{
	char text[160];

	if (t->process->quiet || t->process->space->restored_noted)
		return;
	t->process->space->restored_noted = true;
	snprintf(text, sizeof(text),
		 "process %d: handlers of faults run while %.50s is as in its file: of that what "
		 "happens meanwhile is not logged",
		 t->process->pid,
		 u->function == ALL_FUNCTIONS ? l->object->path
					      : loaded__planned(t->tracer, l, u->function)->name);
	tracer__notify_text(t->tracer, NOTICE_NOTE, t->process, 0, text);
}

/* ---- uncovering ---- */

/* how many bytes of the instruction a handler may read */
#define READ_MOST 16

/* Returns true if a patch is in the way of a handler that reads this instruction, or returns to it,
 * or after it. */
static bool is_in_the_way(const struct thread *t, const struct loaded *l, uint32_t function,
			  uint64_t vaddr)
{
	const struct plan_function *pf = loaded__planned(t->tracer, l, function);

	if (!copy_image__is_intact(l->image, vaddr))
		return true;
	for (uint64_t at = vaddr; at < vaddr + READ_MOST && is_in(pf, at); at++)
		if (copy_image__patch_at(l->image, at))
			return true;
	return false;
}

static bool is_within(const struct tracer *s, const struct loaded *l,
		      const struct restored_function *u, uint64_t vaddr)
{
	return u->function == ALL_FUNCTIONS ? function_at(s, l, vaddr) != NO_FUNCTION
					    : is_in(loaded__planned(s, l, u->function), vaddr);
}

/* A thread that is in its copy is moved to the original, if that is possible. Returns true if it is
 * still in its copy, and logs something yet. */
static bool leave_copy(struct thread *t, const struct loaded *l, const struct restored_function *u)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	uint32_t offset = (uint32_t)(pc - l->base);

	if (space__copies_at(t->process->space, pc) != l)
		return false;
	if (copy_image__near(l->image, offset, &vaddr) && !is_within(t->tracer, l, u, vaddr))
		return false;
	if (!copy_image__original(l->image, offset, &vaddr))
		return true;
	thread__set(t, TRACEE_PC, vaddr + l->bias);
	thread__store_regs(t);
	return false;
}

static struct restored_function *add(struct thread *t, const struct loaded *l, uint32_t function)
{
	struct space *s = t->process->space;
	struct restored_function u = {.base = l->base, .function = function};

	if (has_foreign_patch(t->tracer, l, function))
		u.function = ALL_FUNCTIONS;
	vec__push(&s->restored_functions, u);
	return vec__last(&s->restored_functions);
}

static struct restored_function *restore_function(struct thread *t, const struct loaded *l,
						  uint32_t function)
{
	struct space *s = t->process->space;
	struct restored_function *u;
	struct thread *other;

	if (!thread__stop_others(t, 0))
		return NULL;
	u = add(t, l, function);
	for (size_t i = 0; (other = tracer__each_in(t->tracer, s, &i));) {
		bool within = false;

		/* the thread itself is where its instruction has faulted */
		if (other != t) {
			signals__leave_patch(other);
			within = leave_copy(other, l, u);
		}
		notify(other, l, u, NOTICE_UNLOGGED, within);
	}
	loaded__write(s, t->tracer, l, u->function, false);
	note_restored(t, l, u);
	return u;
}

bool restore__begin(struct thread *t, uint64_t pc, struct restoring *out)
{
	struct space *s = t->process->space;
	const struct loaded *l = space__object_at(s, pc);
	uint64_t vaddr = pc - (l ? l->bias : 0);
	uint32_t function = l ? function_at(t->tracer, l, vaddr) : NO_FUNCTION;
	struct restored_function *u;

	*out = (struct restoring){0};
	if (function == NO_FUNCTION)
		return false;
	u = find(s, l->base, function);
	if (!u && !is_in_the_way(t, l, function, vaddr))
		return false;
	if (!u && !(u = restore_function(t, l, function)))
		return false;
	u->uses++;
	*out = (struct restoring){u->base, u->function};
	return true;
}

bool restore__is_at(struct space *s, const struct tracer *tracer, uint64_t pc)
{
	const struct loaded *l = s->restored_functions.len ? space__object_at(s, pc) : NULL;
	uint32_t function = l ? function_at(tracer, l, pc - l->bias) : NO_FUNCTION;

	return function != NO_FUNCTION && find(s, l->base, function);
}

/* ---- what handlers return to ---- */

/* Returns true if the frame needs the original, and nothing else has restored that. */
static bool is_unsafe(const struct space *s, const struct signal_frame *f)
{
	return !f->restoring.base && !f->left && space__is_changed(s, f->original);
}

/* Adds others that return to this function. Returns their number. */
static uint32_t add_frames(struct space *s, struct tracer *tracer,
			   const struct restored_function *u)
{
	const struct loaded *l = loaded_at(s, u->base);
	struct signal_frame *f;
	struct thread *t;
	uint32_t n = 0;

	for (size_t i = 0; l && (t = tracer__each_in(tracer, s, &i));)
		vec__each (f, &t->frames)
			if (space__object_at(s, f->original) == l && is_unsafe(s, f) &&
			    is_within(tracer, l, u, f->original - l->bias)) {
				f->restoring = (struct restoring){u->base, u->function};
				n++;
			}
	return n;
}

static void restore_for(struct thread *t, struct signal_frame *f)
{
	struct space *s = t->process->space;
	const struct loaded *l = space__object_at(s, f->original);
	uint32_t function = function_at(t->tracer, l, f->original - l->bias);
	struct restored_function *u = function == NO_FUNCTION ? NULL : find(s, l->base, function);
	struct thread *other;

	if (function == NO_FUNCTION)
		return;
	if (!u) {
		u = add(t, l, function);
		for (size_t i = 0; (other = tracer__each_in(t->tracer, s, &i));)
			notify(other, l, u, NOTICE_UNLOGGED, false);
	}
	u->uses++;
	f->restoring = (struct restoring){u->base, u->function};
}

void restore__for_frames(struct space *s, struct tracer *tracer)
{
	struct signal_frame *f;
	struct thread *t;

	for (size_t i = 0; (t = tracer__each_in(tracer, s, &i));)
		vec__each (f, &t->frames)
			if (is_unsafe(s, f))
				restore_for(t, f);
}

/* ---- covering it again ---- */

/* No thread is to be where the original is changed. */
static void enter_copies(struct thread *t, const struct loaded *l,
			 const struct restored_function *u)
{
	uint64_t pc = thread__get(t, TRACEE_PC);

	if (pc && is_within(t->tracer, l, u, pc - l->bias) && !thread__is_in_call(t))
		signals__to_copy(t);
	thread__store_regs(t);
}

static void arm_again(struct thread *t, struct restored_function u)
{
	struct space *s = t->process->space;
	const struct loaded *l = loaded_at(s, u.base);
	struct thread *other;

	if (!l)
		return;
	if (l->patched) {
		if (!thread__stop_others(t, 0)) { /* what it does is not logged any more */
			vec__push(&s->restored_functions, u);
			return;
		}
		for (size_t i = 0; (other = tracer__each_in(t->tracer, s, &i));)
			enter_copies(other, l, &u);
		loaded__write(s, t->tracer, l, u.function, true);
	}
	for (size_t i = 0; (other = tracer__each_in(t->tracer, s, &i));)
		notify(other, l, &u, NOTICE_LOGGED, false);
}

void restore__again(struct space *s, struct tracer *tracer)
{
	const struct restored_function *u;
	const struct loaded *l;

	vec__each (u, &s->restored_functions)
		if ((l = loaded_at(s, u->base)))
			loaded__write(s, tracer, l, u->function, false);
}

void restore__end(struct thread *t, const struct restoring *which)
{
	struct space *s = t->process->space;
	struct restored_function *u = which->base && s ? find(s, which->base, which->function)
						       : NULL,
				 was;

	if (!u || --u->uses || (u->uses = add_frames(s, t->tracer, u)))
		return;
	was = *u;
	*u = *vec__last(&s->restored_functions);
	s->restored_functions.len--;
	if (!s->detaches && !s->other)
		arm_again(t, was);
}

void restore__forked(struct thread *child)
{
	struct space *s = child->process->space;
	const struct signal_frame *f;
	struct restored_function *u;

	if (s->refs == 1)
		vec__each (u, &s->restored_functions)
			u->uses = 1;
	vec__each (f, &child->frames)
		if (f->restoring.base && (u = find(s, f->restoring.base, f->restoring.function)))
			u->uses++;
	if (s->refs > 1)
		return;
	for (size_t i = s->restored_functions.len; i-- > 0;) {
		u = &s->restored_functions.data[i];
		restore__end(child, &(struct restoring){u->base, u->function});
	}
}
