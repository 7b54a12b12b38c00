// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that change their own code. A thread that makes code writable, maps something else
 * there, or writes it as a file stops before it is back in its program (bpf/alone/text.bpf.c).
 * While the program may write to a function's code, its original is restored: the program reads and
 * writes its own bytes. Then a function whose code is as in its file gets its springboards back;
 * any other has lost its copy, which has the old code (states.c).
 */
#include "text.h"

/* ---- where code is, and how it is mapped ---- */

static enum copy_state state_of(const struct tracer *s, const struct loaded *l, const map_vec *maps,
				uint32_t function);

void loaded__find_text(const struct tracer *s, const map_vec *maps, struct loaded *l)
{
	const struct copy_function *f;
	const struct map *m;

	l->text_start = UINT64_MAX;
	l->text_end = 0;
	vec__each (f, &l->image->functions) {
		const struct plan_function *pf = &s->plan->functions.data[f->function];

		for (size_t k = 0; k < pf->nranges; k++) {
			uint64_t at = pf->ranges[k].vaddr + l->bias;

			l->text_start = min_of(l->text_start, at);
			l->text_end = max_of(l->text_end, at + pf->ranges[k].size);
		}
	}
	vec__each (m, maps)
		if (m->start <= l->start && l->start < m->end) {
			l->dev = m->dev;
			l->ino = m->ino;
		}
	for (uint32_t i = 0; i < l->image->functions.len; i++)
		loaded__set_state(s, l, i, state_of(s, l, maps, i));
	l->restored = loaded__count(l, STATE_IN_PLACE) < l->image->functions.len;
}

/* Returns true if the file's code is still mapped at this address. It is one within a segment:
 * pages on which two segments meet are mapped twice. */
static bool is_mapped(const struct loaded *l, const struct map *m, uint64_t addr)
{
	uint64_t offset;

	return m && m->ino == l->ino && m->dev == l->dev &&
	       object__vaddr_to_offset(l->object, addr - l->bias, &offset) &&
	       offset - m->offset == addr - m->start;
}

static enum copy_state state_in(const struct loaded *l, const map_vec *maps, uint64_t start,
				uint64_t end)
{
	enum copy_state state = STATE_IN_PLACE;

	while (start < end) {
		const struct map *m = maps__at(maps, start);

		if (!is_mapped(l, m, start))
			return STATE_LOST;
		if (m->write || !m->exec)
			state = STATE_OPEN;
		start = m->end;
	}
	return state;
}

static enum copy_state state_of(const struct tracer *s, const struct loaded *l, const map_vec *maps,
				uint32_t function)
{
	const struct plan_function *pf = loaded__planned(s, l, function);
	enum copy_state state = STATE_IN_PLACE;

	for (size_t k = 0; k < pf->nranges; k++) {
		uint64_t at = pf->ranges[k].vaddr + l->bias;

		state = max_of(state, state_in(l, maps, at, at + pf->ranges[k].size));
	}
	return state;
}

bool loaded__is_mapped(const struct tracer *s, const struct loaded *l, const map_vec *maps)
{
	if (!l->text_end)
		return false;
	if (state_in(l, maps, l->text_start, l->text_end) != STATE_LOST)
		return true;
	for (uint32_t i = 0; i < l->image->functions.len; i++)
		if (state_of(s, l, maps, i) != STATE_LOST)
			return true;
	return false;
}

/* ---- what is reported a thread's log ---- */

static void notify(struct thread *t, const struct loaded *l, uint32_t function, uint32_t type,
		   bool within)
{
	struct notice notice = {.type = type,
				.pid = (uint32_t)t->process->pid,
				.tid = (uint32_t)t->tid,
				.slot = t->slot,
				.object = l->image->object,
				.function = function == ALL_FUNCTIONS
						    ? NO_FUNCTION
						    : l->image->functions.data[function].function,
				.position = thread__position(t),
				.base = function != ALL_FUNCTIONS && l->entries[function],
				.size = within};

	if (!t->notified)
		return;
	notice.area = t->area->number;
	tracer__notify(t->tracer, &notice, -1);
}

/* Returns true if it is in the copy of a function that has none any more. */
static bool is_in_lost_copy(struct thread *t, const struct loaded *l)
{
	uint64_t pc = thread__get(t, TRACEE_PC), vaddr;
	uint32_t offset = (uint32_t)(pc - l->base);

	if (space__copies_at(t->process->space, pc) != l)
		return false;
	return !copy_image__near(l->image, offset, &vaddr) ||
	       !loaded__may_enter(t->tracer, l, vaddr);
}

static void notify_all(struct tracer *s, const struct space *space, const struct loaded *l,
		       uint32_t function, uint32_t type)
{
	struct thread *t;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		notify(t, l, function, type, type == NOTICE_UNLOGGED && is_in_lost_copy(t, l));
}

/* From this many functions on, their whole object is reported to be open. */
#define OPEN_MANY 16

/* Reports the functions whose state has changed since the last report. */
static void notify_to_logs(struct tracer *s, const struct space *space, struct loaded *l)
{
	bool all = l->all_notified ? loaded__count(l, STATE_OPEN)
				   : loaded__count(l, STATE_OPEN) > OPEN_MANY;

	if (all && !l->all_notified)
		notify_all(s, space, l, ALL_FUNCTIONS, NOTICE_UNLOGGED);
	for (uint32_t i = 0; i < l->image->functions.len; i++) {
		bool restored = l->states[i] == STATE_LOST || (!all && l->states[i] == STATE_OPEN);

		if (restored && !l->open_notified[i])
			notify_all(s, space, l, i, NOTICE_UNLOGGED);
		if (!restored && l->open_notified[i])
			notify_all(s, space, l, i, NOTICE_LOGGED);
		l->open_notified[i] = restored;
	}
	if (!all && l->all_notified)
		notify_all(s, space, l, ALL_FUNCTIONS, NOTICE_LOGGED);
	l->all_notified = all;
}

static void note_open(struct tracer *s, const struct process *p, struct loaded *l)
{
	char text[160];

	if (l->open_noted || p->quiet || !loaded__count(l, STATE_OPEN))
		return;
	l->open_noted = true;
	snprintf(
		text, sizeof(text),
		"process %d: the program may write to code of %.40s: what it executes of that is not "
		"logged until it may not any more",
		p->pid, l->object->path);
	tracer__notify_text(s, NOTICE_NOTE, p, 0, text);
}

void loaded__notify_states(struct tracer *s, const struct space *space, const struct process *p,
			   struct loaded *l)
{
	notify_to_logs(s, space, l);
	note_open(s, p, l);
	loaded__notify_lost(s, p, l);
}

void text__notify(struct thread *t)
{
	const struct loaded *l;

	vec__each (l, &t->process->space->loaded) {
		if (l->all_notified)
			notify(t, l, ALL_FUNCTIONS, NOTICE_UNLOGGED, false);
		for (uint32_t i = 0; i < l->image->functions.len; i++)
			if (l->open_notified[i])
				notify(t, l, i, NOTICE_UNLOGGED, false);
	}
}

/* ---- taking springboards away, and putting them back ---- */

/* A thread in a copy that is not in use any more continues in the original, at once if it can; else
 * when it is known to have stopped. */
static void leave_copy(struct thread *t, const struct loaded *l)
{
	uint64_t vaddr, pc = thread__get(t, TRACEE_PC);

	signals__leave_patch(t);
	if (!is_in_lost_copy(t, l))
		return;
	if (!copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr)) {
		t->leaves = true;
		return;
	}
	thread__set(t, TRACEE_PC, vaddr + l->bias);
	thread__store_regs(t);
}

/* Opens functions. Returns true if there are some. */
static bool open_functions(const struct tracer *s, const struct loaded *l, const map_vec *maps)
{
	bool any = false;

	for (uint32_t i = 0; i < l->image->functions.len; i++) {
		enum copy_state state =
			l->states[i] == STATE_LOST ? STATE_LOST : state_of(s, l, maps, i);

		any |= state > l->states[i];
		loaded__set_state(s, l, i, state);
	}
	return any;
}

static void disarm(struct tracer *s, struct space *space, const struct loaded *l)
{
	struct thread *t;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i));)
		leave_copy(t, l);
	loaded__take_back(space, s, l);
}

/* Closes functions that the program can't write to any more, and whose code is that of the file;
 * those that have patches in open functions stay open, too. Returns true if there are some. */
static bool close_functions(struct space *space, struct tracer *s, const struct loaded *l,
			    const map_vec *maps)
{
	size_t open = loaded__count(l, STATE_OPEN), n = l->image->functions.len;
	bool closes = false;

	for (uint32_t i = 0; i < n; i++)
		closes |= l->states[i] == STATE_OPEN && state_of(s, l, maps, i) == STATE_IN_PLACE;
	if (!closes)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (l->states[i] == STATE_OPEN && state_of(s, l, maps, i) == STATE_IN_PLACE)
			l->states[i] = STATE_IN_PLACE;
	for (uint32_t i = 0; i < n; i++) {
		enum copy_state state = (enum copy_state)l->states[i];

		l->states[i] = STATE_IN_PLACE;
		loaded__set_state(s, l, i, state);
	}
	loaded__compare(space, s, l, true);
	return loaded__count(l, STATE_OPEN) != open;
}

/* As when all springboards come back (disarm.c). */
static void put_back(struct tracer *s, struct space *space, const struct loaded *l)
{
	struct thread *t;

	if (!l->patched || s->disarmed)
		return;
	for (size_t i = 0; (t = tracer__each_in(s, space, &i));) {
		if (!thread__load_regs(t) && !thread__is_in_call(t))
			signals__to_copy(t);
		thread__store_regs(t);
	}
	restore__for_frames(space, s);
	loaded__write(space, s, l, ALL_FUNCTIONS, true);
	restore__again(space, s);
}

static void see_object(struct thread *t, struct loaded *l, const map_vec *maps)
{
	struct space *space = t->process->space;
	bool opens = open_functions(t->tracer, l, maps), closes;

	if (opens) {
		l->restored = true;
		disarm(t->tracer, space, l);
	}
	closes = close_functions(space, t->tracer, l, maps);
	if (closes)
		put_back(t->tracer, space, l);
	if (opens || closes) {
		loaded__log_entries(t->tracer, space, l);
		loaded__notify_states(t->tracer, space, t->process, l);
	}
}

/* Returns true if anything has changed. */
static bool has_changed(const struct tracer *s, const struct loaded *l, const map_vec *maps)
{
	if (state_in(l, maps, l->text_start, l->text_end) == STATE_IN_PLACE)
		return loaded__count(l, STATE_OPEN);
	for (uint32_t i = 0; i < l->image->functions.len; i++)
		if (l->states[i] != STATE_LOST && state_of(s, l, maps, i) != l->states[i])
			return true;
	return false;
}

static void see_maps(struct thread *t)
{
	struct space *space = t->process->space;
	map_vec maps = {0};
	struct loaded *l;
	bool stopped = false;

	if (maps__read(t->process->pid, &maps))
		return;
	vec__each (l, &space->loaded) {
		l->gone = !loaded__is_mapped(t->tracer, l, &maps);
		if (l->refused || l->gone || !has_changed(t->tracer, l, &maps))
			continue;
		/* else nothing is written: what the program writes is seen later */
		stopped = stopped || thread__stop_others(t, 0);
		if (!stopped)
			break;
		see_object(t, l, &maps);
	}
	maps__free(&maps);
}

/* ---- what was written without that ---- */

/* Functions whose code is neither the file's nor ours are restored, except for that code. than has
 * stopped; NULL: none has. */
static void see_bytes(struct tracer *s, const struct process *p, const struct thread *than)
{
	struct space *space = p->space;
	struct loaded *l;

	vec__each (l, &space->loaded) {
		if (l->refused || l->gone || !loaded__compare(space, s, l, false))
			continue;
		if (!space__stop_others(s, space, than, 0))
			continue;
		if (!loaded__compare(space, s, l, true))
			continue;
		l->restored = true;
		disarm(s, space, l);
		loaded__log_entries(s, space, l);
		loaded__notify_states(s, space, p, l);
	}
}

static bool is_traced(const struct process *p)
{
	return p->space && !p->space->other && !p->space->detaches;
}

void text__look(struct tracer *s)
{
	const struct process *p;

	if (!text__foreigners_wrote(s))
		return;
	for (size_t i = 0; (p = tracer__each_process(s, &i));)
		if (is_traced(p))
			see_bytes(s, p, NULL);
}

/* ---- when ---- */

static void see(struct thread *t)
{
	if (!is_traced(t->process))
		return;
	see_maps(t);
	see_bytes(t->tracer, t->process, t);
}

void text__see_put_off(struct thread *t)
{
	if (t->looks)
		see(t);
	t->looks = false;
}

bool text__stopped(struct thread *t, int status)
{
	bool is_ours = thread__stopped_for_text(t, status);

	/* or one of the program's waited: then the kernel merged ours with it */
	if (is_ours || (!(status >> 16) && text__took_call(t->tracer, t->tid, WSTOPSIG(status))))
		see(t);
	return is_ours;
}
