/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor for random programs: runs one, and records its path and its steps. Code outside of
 * the plan calls, throws and switches stacks at random.
 */
#ifndef RANDOM_WALK_H
#define RANDOM_WALK_H

#include "random_program.h"
#include "trace/trace.h"

/* ---- what a run records ---- */

enum moment_type {
	AT_START,  /* of a block: the instructions before its branch run */
	AT_BRANCH, /* a block's branch runs */
	AT_SIGNAL, /* a handler begins */
	AT_LEAVE,  /* code outside of the plan returns for a function that jumped there */
};

struct moment {
	enum moment_type type;
	unsigned f, b;
	uint64_t time, sp;
	uint64_t caller; /* the return address of the moment's call */
	bool taken;
	uint64_t target; /* AT_BRANCH, of an indirect branch: where it leads */
	unsigned context;
	unsigned frame; /* its activation, from 1 */
	bool returns;	/* AT_BRANCH */
};

/* A step that the replay has to emit. */
struct did {
	enum step_type type;
	unsigned f; /* ENTRY and RETURN: of this function */
	uint64_t time, at, to;
	bool taken;
	unsigned call; /* from 1 */
	unsigned depth;
	bool by_helper; /* RETURN */
	bool outside;	/* RETURN: by a ret outside of the plan */
	/* RETURN: the last function that ran in its call or in what that tail-called, and since
	 * when */
	unsigned tail_f;
	uint64_t tail_time;
	size_t moment;
};

struct run {
	VEC(struct moment) moments;
	VEC(struct did) did;
	VEC(size_t) over; /* by context: the moment when the context was over, SIZE_MAX: never */
	unsigned calls;
	bool nested; /* each call was left by its own return: depths and calls are known exactly */
	bool tailed_out; /* or by that of code outside of the plan */
	unsigned frames;
	unsigned leaves; /* moments of this type: they take no time */
	bool helped;	 /* the ret of a helper was a call's return */
};

/* ---- the processor's state ---- */

#define FRAMES 12
#define CHAIN  8
#define LENGTH 150 /* moments, at most */

/* A call, with the functions that it jumped to: all of these return at once. */
struct activation {
	bool outside; /* of the plan */
	bool never;   /* the call doesn't return */
	bool handler; /* the kernel's way back from a signal's handler */
	uint64_t sp, caller;
	unsigned f, b, depth;
	bool started; /* the block's start is behind it */
	bool left;    /* the path went through a helper function */
	struct {
		unsigned f, call;
		unsigned tail_f; /* as in struct did */
		uint64_t tail_time;
	} chain[CHAIN];
	unsigned n;
	unsigned context;
	unsigned number; /* from 1 */
};

struct stack {
	struct activation frame[FRAMES];
	unsigned n;
	uint64_t base;
};

struct machine {
	const struct program *p;
	struct choices *c;
	struct run *run;
	struct stack stack[2];
	unsigned at; /* the stack in use */
	bool over;
};

/* A context has a path of its own: the thread, and each handler of a signal. */
static inline unsigned new_context(struct machine *m)
{
	vec__push(&m->run->over, SIZE_MAX);
	return m->run->over.len - 1;
}

static inline struct activation *top_of(struct machine *m)
{
	return &m->stack[m->at].frame[m->stack[m->at].n - 1];
}

static inline unsigned open_calls(const struct machine *m)
{
	const struct stack *s = &m->stack[m->at];
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->frame[i].n;
	return n;
}

static inline struct did *step_in(struct machine *m, enum step_type type,
				  const struct activation *r)
{
	struct did *d = vec__add(&m->run->did);

	d->type = type;
	d->moment = m->run->moments.len - 1;
	d->time = vec__last(&m->run->moments)->time;
	d->depth = open_calls(m) - 1;
	d->call = r->n ? r->chain[r->n - 1].call : 0;
	return d;
}

static inline struct moment *moment_of(struct machine *m, enum moment_type type,
				       const struct activation *r)
{
	struct moment *a = vec__add(&m->run->moments);

	*a = (struct moment){.type = type,
			     .f = r->f,
			     .b = r->b,
			     .time = 10 * (m->run->moments.len - m->run->leaves),
			     .sp = r->sp - r->depth,
			     .caller = r->caller,
			     .context = r->context,
			     .frame = r->number};
	m->over |= m->run->moments.len - m->run->leaves >= LENGTH;
	return a;
}

/* ---- calls and returns ---- */

/* The new frame; NULL: there is no room, and the thread ends. */
static inline struct activation *push_frame(struct machine *m, uint64_t sp, uint64_t caller)
{
	struct stack *s = &m->stack[m->at];

	if (s->n == FRAMES) {
		m->over = true;
		return NULL;
	}
	s->frame[s->n] = (struct activation){.sp = sp,
					     .caller = caller,
					     .context = s->n ? s->frame[s->n - 1].context : 0,
					     .number = ++m->run->frames};
	return &s->frame[s->n++];
}

static inline void go(struct activation *r, unsigned f, unsigned b)
{
	r->f = f;
	r->b = b;
	r->started = false;
}

/* To an entry or out of the plan, by a call or a jump. */
static inline void enter(struct machine *m, struct activation *r, unsigned callee)
{
	r->outside = callee >= m->p->functions;
	r->depth = 0;
	if (!r->outside)
		go(r, callee, 0);
	m->run->tailed_out |= r->outside && r->n;
	m->run->helped |= r->n && !r->outside && m->p->f[callee].helper;
}

static inline void call(struct machine *m, unsigned callee)
{
	struct activation *r = top_of(m), *new;
	uint64_t back = end_of(r->f, r->b) + BIAS;

	go(r, r->f, r->b + 1);
	r->depth = m->p->f[r->f].frame;
	new = push_frame(m, vec__last(&m->run->moments)->sp - 8, back);
	if (new)
		enter(m, new, callee);
}

static inline void pop_frame(struct machine *m)
{
	struct stack *s = &m->stack[m->at];

	s->n--;
	if (s->frame[s->n].handler)
		m->run->over.data[s->frame[s->n].context] = m->run->moments.len;
}

static inline void give_back(struct machine *m)
{
	struct stack *s = &m->stack[m->at];

	pop_frame(m);
	if (!s->n && m->at)
		m->at = 0;
	m->over |= !m->stack[m->at].n;
}

static inline void return_from(struct machine *m)
{
	struct activation *r = top_of(m);

	for (; r->n; r->n--) {
		struct did *d = step_in(m, STEP_RETURN, r);

		d->f = r->chain[r->n - 1].f;
		d->by_helper = !r->outside && m->p->f[r->f].helper;
		d->outside = r->outside;
		d->tail_f = r->chain[r->n - 1].tail_f;
		d->tail_time = r->chain[r->n - 1].tail_time;
	}
	give_back(m);
}

/* ---- code of the plan ---- */

/* Control is at a function's entry: it begins, unless it came back there. False: there is no room,
 * and the thread ended before. */
static inline bool tell_entry(struct machine *m, struct activation *r)
{
	struct did *d;

	if (r->left || !r->n || r->chain[r->n - 1].f != r->f) {
		if (r->n == CHAIN) {
			m->over = true;
			m->run->moments.len--;
			return false;
		}
		r->chain[r->n].f = r->f;
		r->chain[r->n].tail_f = 0;
		r->chain[r->n++].call = ++m->run->calls;
	}
	r->left = false;
	d = step_in(m, STEP_ENTRY, r);
	d->f = r->f;
	return true;
}

static inline bool has_own_entry(const struct program *p, const struct activation *r)
{
	return !r->b && !p->f[r->f].helper && p->f[r->f].entry == ENTRY_PLAIN;
}

/* Its calls have come to this function. */
static inline void note_tails(struct activation *r, uint64_t time)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->f > r->chain[i].tail_f) {
			r->chain[i].tail_f = r->f;
			r->chain[i].tail_time = time;
		}
}

static inline void start_block(struct machine *m, struct activation *r)
{
	const struct routine *f = &m->p->f[r->f];

	r->depth = r->b ? f->frame : 0;
	if (r->depth && f->wild)
		r->depth += 16 * pick(m->c, 3);
	r->left |= f->helper;
	note_tails(r, moment_of(m, AT_START, r)->time);
	if (has_own_entry(m->p, r) && !tell_entry(m, r))
		return;
	r->started = true;
}

/* Where the branch of a block leads, and whether it is taken. */
struct way {
	bool taken, leaves;
	unsigned f, b; /* leaves: to the entry of f */
};

static inline struct way way_on(struct machine *m, const struct activation *r)
{
	const struct code *e = &m->p->f[r->f].code[r->b];
	bool last = r->b + 1 == m->p->f[r->f].blocks;
	struct way w = {.taken = true, .f = r->f, .b = e->to[0]};

	if ((e->how == BRANCHES || e->how == TAIL_IF) && !pick(m->c, 2))
		return (struct way){.f = r->f, .b = r->b + 1};
	if (e->how == FALLS)
		return (struct way){.f = r->f + last, .b = last ? 0 : r->b + 1};
	if (e->how == SWITCHES)
		w.b = e->to[pick(m->c, e->nto)];
	if (e->how == SHARES)
		w.f = e->callee;
	w.leaves = e->how == TAIL || e->how == TAIL_IF || e->how == TAIL_POINTER;
	if (w.leaves)
		w.f = e->callee;
	return w;
}

static inline void tell_branch(struct machine *m, struct activation *r, const struct way *w)
{
	const struct code *e = &m->p->f[r->f].code[r->b];
	struct moment *a = vec__last(&m->run->moments);
	uint64_t to = w->leaves ? address_of(m->p, w->f) : start_of(w->f, w->b);
	struct did *d;

	if (e->how == CALLS || e->how == CALLS_POINTER)
		to = address_of(m->p, e->callee);
	else if (e->how == THROWS)
		to = OUTSIDE + 0x20;
	else if (e->how == RETURNS)
		to = r->caller - BIAS;
	a->taken = w->taken;
	a->target = to;
	a->returns = e->how == RETURNS;
	if (m->p->f[r->f].helper)
		return;
	d = step_in(m, STEP_BRANCH, r);
	d->at = site_of(m->p, r->f, r->b);
	d->taken = w->taken;
	d->to = to;
}

static inline void end_block(struct machine *m, struct activation *r)
{
	const struct code *e = &m->p->f[r->f].code[r->b];
	struct way w = way_on(m, r);

	if (!depth_of(m->p, r->f, r->b))
		r->depth = 0;
	else if (!r->b)
		r->depth = m->p->f[r->f].frame;
	moment_of(m, AT_BRANCH, r);
	if (!r->b && !m->p->f[r->f].helper && !has_own_entry(m->p, r) && !tell_entry(m, r))
		return;
	if (e->how != FALLS)
		tell_branch(m, r, &w);
	if (e->how == RETURNS)
		return_from(m);
	else if (e->how == CALLS || e->how == CALLS_POINTER)
		call(m, e->callee);
	else if (e->how == THROWS) {
		call(m, m->p->functions);
		top_of(m)->never = true;
	} else if (w.leaves)
		enter(m, r, w.f);
	else
		go(r, w.f, w.b);
}

/* ---- code that is in no plan ---- */

static inline void call_back(struct machine *m)
{
	struct activation *r = top_of(m);
	uint64_t sp = r->sp - 16 - 16 * pick(m->c, 2);
	unsigned callee = pick(m->c, m->p->functions);

	r = push_frame(m, sp, OUTSIDE + BIAS + 0x100 + 16 * pick(m->c, 2));
	if (r)
		enter(m, r, callee);
}

/* A pad of the function that was called, if the frame runs that, behind its first block; 0: there
 * is none. */
static inline unsigned some_pad(struct machine *m, const struct activation *r)
{
	unsigned first = pick(m->c, BLOCKS);
	bool own = r->n && r->chain[r->n - 1].f == r->f;

	for (unsigned i = 0; own && !r->outside && r->b && i < BLOCKS; i++) {
		unsigned b = (first + i) % BLOCKS;

		if (b < m->p->f[r->f].blocks && m->p->f[r->f].code[b].pad)
			return b;
	}
	return 0;
}

/* Unwinds to a landing pad of a caller, not out of a signal's handler; without a pad the thread
 * ends. */
static inline void throw(struct machine * m)
{
	struct stack *s = &m->stack[m->at];
	bool further = rarely(m->c, 3);

	m->run->nested = false;
	while (s->n && !top_of(m)->handler) {
		unsigned pad = some_pad(m, &s->frame[s->n - 1]);

		if (pad && !further) {
			go(top_of(m), top_of(m)->f, pad);
			return;
		}
		further &= !pad;
		pop_frame(m);
	}
	m->over = true;
}

static inline void change_stack(struct machine *m)
{
	struct activation *r;

	m->run->nested = false;
	m->at = !m->at;
	if (m->stack[m->at].n)
		return;
	r = push_frame(m, m->stack[m->at].base, 0);
	r->outside = true;
}

/* The ret of code that is in no plan. */
static inline void return_outside(struct machine *m)
{
	struct activation *r = top_of(m);

	if (!r->n)
		return give_back(m);
	m->run->leaves++;
	moment_of(m, AT_LEAVE, r)->time += 5;
	return_from(m);
}

static inline void run_outside(struct machine *m)
{
	struct activation *r = top_of(m);
	bool first = m->stack[m->at].n == 1;

	switch (pick(m->c, 8)) {
	case 1:
	case 2:
	case 3:
		call_back(m);
		return;
	case 4:
		if (m->p->with & WITH_STACKS && !r->context)
			change_stack(m);
		return;
	case 5:
		if (m->p->with & WITH_THROWS && !first)
			throw(m);
		return;
	default:
		if (r->never)
			throw(m);
		else
			return_outside(m);
	}
}

/* ---- the run ---- */

static inline void handle_signal(struct machine *m, struct activation *r)
{
	unsigned callee = pick(m->c, m->p->functions);
	uint64_t sp = r->sp - r->depth - 256;

	moment_of(m, AT_SIGNAL, r);
	m->run->nested = false;
	r = push_frame(m, sp, 0);
	if (!r)
		return;
	r->outside = r->handler = true;
	r->context = new_context(m);
	r = push_frame(m, sp - 8, OUTSIDE + BIAS + 0x200);
	if (r)
		enter(m, r, callee);
}

static inline void run_once(struct machine *m)
{
	struct activation *r = top_of(m);

	if (r->handler)
		give_back(m);
	else if (m->p->with & WITH_SIGNALS && rarely(m->c, 40))
		handle_signal(m, r);
	else if (r->outside)
		run_outside(m);
	else if (r->started)
		end_block(m, r);
	else
		start_block(m, r);
}

static inline void walk(const struct program *p, struct choices *c, struct run *run)
{
	struct machine m = {.p = p, .c = c, .run = run};

	m.stack[0].base = 0x7ffc10000000;
	m.stack[1].base = 0x7ff000000000;
	run->nested = true;
	push_frame(&m, m.stack[0].base, 0)->outside = true;
	new_context(&m);
	call_back(&m);
	while (!m.over && !c->over)
		run_once(&m);
}

static inline void run__free(struct run *r)
{
	vec__free(&r->moments);
	vec__free(&r->did);
	vec__free(&r->over);
}

#endif
