// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs: replays what a thread has logged, many events at once. Branches and witnesses of the
 * running call are added up with what is known of them (ways.c). Entries and returns whose callers
 * and calls are certain emit their steps at once. Everything else is left to the replay of its
 * event.
 */
#include <stdlib.h>
#include "arch/arch.h"
#include "ways.h"

/* The position of a thread in its run. */
struct runner {
	struct trace *t;
	struct thread *th; /* or the goroutine */
	uint64_t stack;	   /* the base that its stack pointers are relative to; 0 for a thread */
	const struct event_run *run;
	const struct run_sink *sink;
	struct call *c; /* the innermost call; NULL if there is none */
	bool stands;	/* The call is at place; else its position isn't known. */
	uint32_t place;
	/* Since c was last updated: */
	uint32_t last, shown; /* ways.all: the last way, the last that showed a branch; or NO_WAY */
	unsigned kinds;	      /* the kinds of the ways that were taken, one bit each */
	uint64_t branches;    /* the number of branches that they showed */
	uint64_t records;
	uint64_t helpers;	       /* further records: rets of helper functions */
	VEC(struct logged_time) times; /* for the sink that keeps the words */
	uint64_t sp;		       /* the stack pointer of the last one */
	int err;
};

/* ---- the call ---- */

/* Returns the side that the records belong to: the thread, or the goroutine that it runs. Returns
 * NULL if the replay knows another goroutine. */
static struct thread *side_of(struct thread *th, const struct log_thread *l)
{
	struct thread *side = th->other ? th->other : th;

	return side->goroutine == l->goroutine ? side : NULL;
}

/* Returns true if only the positions of its calls matter for the thread's next event. */
static bool is_ordinary(const struct trace *t, const struct thread *th, const struct thread *side)
{
	return t->options.events & PLAN_BRANCH && !t->options.max_depth &&
	       !t->options.min_duration && !t->plan->conditions.len && !t->changing && side &&
	       side->seen && !side->stopped && !th->stopped &&
	       !(th->kernel_side && calls__depth(th->kernel_side)) && !th->last_hit.call;
}

/* Returns true if the position of the call is known. */
static bool is_placed(const struct trace *t, const struct call *c)
{
	if (!c || c->state != CALL_AT || c->block == NO_BLOCK || c->early || c->at_end ||
	    c->function != t->plan->blocks.data[c->block].function)
		return false;
	/* else see suspend_if_returned() */
	return !t->plan->return_probes || c->seen_entry || c->implied;
}

static void look(struct runner *r)
{
	r->c = calls__top(r->th);
	r->stands = is_placed(r->t, r->c) && is_near((int64_t)(r->sp - r->c->sp));
	r->place = r->stands ? place_of(r->c->block, r->c->past) : 0;
	r->last = r->shown = NO_WAY;
	r->kinds = 0;
	r->branches = 0;
}

static const struct way *way_at(const struct runner *r, uint32_t i)
{
	return &r->t->ways->all.data[i];
}

/* Returns the target of the last branch that was shown; NULL if not known. */
static const struct location *shown_to(struct runner *r, const struct way_branch *b)
{
	const struct way *w = way_at(r, r->shown);
	const struct plan_site *s = &r->t->plan->sites.data[b->site];
	const struct site_places *places;

	if (way__has_goals(w))
		return &r->t->ways->goals.data[r->t->ways->more.data[r->shown].goal].at;
	if (b->to != NO_WAY)
		return &r->t->ways->targets.data[b->to];
	if (b->taken && !s->target)
		return NULL;
	places = locate__site(r->t, b->site);
	return b->taken ? &places->taken : &places->next;
}

static void report_branches(struct runner *r)
{
	const struct ways *ways = r->t->ways;
	const struct way_branch *b = &ways->branches.data[ways->more.data[r->shown].first +
							  ways->all.data[r->shown].branches - 1];
	const struct passed_run p = {.pid = r->th->pid,
				     .tid = r->th->tid,
				     .goroutine = r->th->goroutine,
				     .comm = r->th->comm,
				     .ns_pid = trace__inner_of(r->t, r->th->pid),
				     .call = r->c->id,
				     .depth = calls__depth(r->th) - 1,
				     .function = r->c->function,
				     .branches = r->branches,
				     .site = b->site,
				     .to = shown_to(r, b)};

	r->t->totals.events += r->branches;
	if (r->sink->branches)
		r->sink->branches(r->sink->ctx, &p);
}

/* Notes, for the sink that keeps the words, that the one at this index is a time. */
static void keep_time(struct runner *r, size_t at, uint64_t ns)
{
	if (r->sink->words)
		vec__push(&r->times, (struct logged_time){at, ns});
}

static void keep_address(struct runner *r, uint64_t addr)
{
	if (r->sink->words && addr)
		r->sink->address(r->sink->ctx, r->run->pid, addr);
}

/* Returns true if the way leaves the call in a callee. */
static bool is_call(const struct way *w)
{
	return w->kind == WAY_CALL || w->kind == WAY_TO_CALL || w->kind == WAY_ENTER;
}

/* Moves the call to where the ways that were taken lead. */
static void settle(struct runner *r)
{
	struct call *c = r->c;
	const struct way *w;

	if (r->last == NO_WAY)
		return;
	if (r->shown != NO_WAY)
		report_branches(r);
	w = way_at(r, r->last);
	r->sp = c->sp - r->t->plan->sites.data[w->site].sp_delta;
	c->in_call = is_call(w);
	c->signals = r->th->signals;
	c->fresh &= !(r->kinds & ~(1u << WAY_WITNESS | 1u << WAY_ENTER));
	c->block = r->place >> 1;
	c->past = r->place & 1;
	r->last = r->shown = NO_WAY;
	r->kinds = 0;
	r->branches = 0;
}

/* ---- branches ---- */

static inline void take(struct runner *r, uint32_t i, struct way *w)
{
	w->count++;
	r->last = i;
	r->branches += w->branches;
	r->shown = w->branches ? i : r->shown;
	r->kinds |= 1u << w->kind;
}

/* The call jumped to another function's start. */
static void leave(struct runner *r, const struct way *w, uint32_t to)
{
	bool direct = w->kind == WAY_TAIL;
	struct call *c = r->c;

	settle(r);
	c->state = CALL_TAIL;
	c->block = to;
	c->past = false;
	c->direct = direct;
	c->left_by = direct ? w->site : c->left_by;
	r->stands = false;
}

/* Ends c, which has returned, and with it the calls that ended in a tail call of it, as
 * replay__end_calls() does. */
static void end_calls(struct runner *r, uint32_t site, uint64_t time, uint64_t value)
{
	struct call *c = r->c;
	uint64_t sp = c->sp;
	bool called_directly;

	do {
		called_directly = c->called_directly;
		r->err = r->err ? r->err : step__logged_return(r->t, r->th, c, site, time, value);
		calls__remove(r->th, c);
		calls__resume_top(r->th);
		c = calls__top(r->th);
		if (c && called_directly)
			c->in_call = false;
	} while (c && c->sp == sp && c->state == CALL_TAIL);
}

/* What a record has besides its first word. */
struct record_rest {
	uint32_t goal; /* NO_WAY if it has none */
	uint64_t time, value;
};

/* Takes a way, to its goal if it has one. */
static void take_way(struct runner *r, uint32_t i, const struct record_rest *rest)
{
	struct way *w = &r->t->ways->all.data[i];
	struct goal *g = rest->goal == NO_WAY ? NULL : &r->t->ways->goals.data[rest->goal];
	uint8_t kind = g ? g->kind : w->kind;
	uint32_t to = g ? g->to : w->to;

	if (g)
		g->count++;
	take(r, i, w);
	if (kind == WAY_RETURN) {
		settle(r);
		r->run->thread->time = rest->time;
		end_calls(r, w->site, rest->time, rest->value);
		look(r);
	} else if (kind == WAY_TAIL) {
		leave(r, w, to);
	} else {
		r->place = to;
	}
}

/* Finds the goal of a way that has one. Returns false if only an event's replay can. */
static bool find_goal(struct runner *r, uint32_t i, uint64_t target, struct record_rest *rest)
{
	rest->goal = target ? ways__goal(r->t, i, r->run->pid, target) : NO_WAY;
	return rest->goal != NO_WAY;
}

/* Passes records of one word that stay in the call. Returns the place of the first other word. */
static inline size_t pass_plain(struct runner *r, size_t at)
{
	const uint64_t *words = r->run->words;
	const uint32_t sp = r->c->sp + r->stack;
	size_t first = at, n = r->run->n;
	struct way *w;
	uint32_t i;

	for (; at < n; at++) {
		i = ways__find(r->t, r->run->decoder, r->place, (uint32_t)words[at]);
		if (i == NO_WAY)
			break;
		w = &r->t->ways->all.data[i];
		if (w->kind > WAY_CALL || w->kind == WAY_NONE ||
		    (uint32_t)(words[at] >> 32) + w->above != sp)
			break;
		take(r, i, w);
		r->place = w->to;
	}
	r->records += at - first;
	return at;
}

/* Reads the rest of a branch's record of several words. Returns false if only an event's replay
 * can. */
static bool read_rest(struct runner *r, uint32_t i, size_t at, struct record_rest *rest)
{
	const struct way *w = &r->t->ways->all.data[i];
	const uint64_t *words = r->run->words + at;

	*rest = (struct record_rest){.goal = NO_WAY};
	if (w->kind == WAY_NONE)
		return false;
	if (w->kind == WAY_RETURN) {
		if (!words[3]) /* untimed */
			return false;
		rest->time = log_decoder__time(r->run->decoder, r->run->thread, words[3]);
		rest->value = words[2];
		if (rest->time >= r->run->before)
			return false;
	}
	return !way__has_goals(w) || find_goal(r, i, words[1], rest);
}

/* Passes a branch's record of several words. Returns the number of its words; 0 if only an event's
 * replay can handle it. */
static size_t pass_branch(struct runner *r, size_t at)
{
	const uint64_t word = r->run->words[at];
	uint32_t i = ways__find(r->t, r->run->decoder, r->place, (uint32_t)word);
	const struct way *w = i == NO_WAY ? NULL : way_at(r, i);
	size_t n = w ? w->words : 0;
	struct record_rest rest;

	if (!w || (uint32_t)(word >> 32) + w->above != (uint32_t)(r->c->sp + r->stack) ||
	    n > r->run->n - at || !read_rest(r, i, at, &rest))
		return 0;
	if (w->kind == WAY_RETURN)
		keep_time(r, at + 3, rest.time);
	if (rest.goal != NO_WAY)
		keep_address(r, r->run->words[at + 1]);
	take_way(r, i, &rest);
	r->records++;
	return n;
}

/* Passes the ret of a helper function for which no call was left. */
static size_t pass_helper(struct runner *r, size_t at)
{
	const uint64_t *words = r->run->words + at;
	const struct logged *l = ways__helper_ret(r->t, r->run->decoder, (uint32_t)words[0]);
	uint64_t time, sp;

	if (!l || l->words > r->run->n - at || !r->c || !words[3])
		return 0;
	sp = (uint32_t)(words[0] >> 32) + l->lowered - (uint32_t)(r->c->sp + r->stack);
	sp = r->c->sp + (int32_t)sp;
	time = log_decoder__time(r->run->decoder, r->run->thread, words[3]);
	if (time >= r->run->before || !is_near((int64_t)(sp - r->c->sp)) || calls__at(r->th, sp))
		return 0;
	keep_time(r, at + 3, time);
	keep_address(r, words[1]);
	r->helpers++;
	r->run->thread->time = time;
	return l->words;
}

/* ---- entries ---- */

static void learn_bias(struct runner *r, uint32_t object, uint64_t bias)
{
	struct ways *ways = r->t->ways;

	if (ways->bias_pid == r->th->pid && ways->biases[object] == bias && bias)
		return;
	if (ways->bias_pid != r->th->pid)
		memset(ways->biases, 0, r->t->plan->objects.len * sizeof(*ways->biases));
	ways->bias_pid = r->th->pid;
	ways->biases[object] = bias;
	locate__learn_bias(r->t, r->th->pid, object, bias);
}

/* A call that was left is in this stack slot; it ends now. */
static bool is_reused(const struct thread *th, uint64_t sp)
{
	for (size_t i = calls__may_reuse(th, sp) ? th->calls.len : 0; i-- > 0;)
		if (th->calls.data[i].dormant && th->calls.data[i].sp == sp)
			return true;
	return false;
}

/* Returns true if the entry is the target of the jump that left the call, as is_tail_of() does. */
static bool is_tail(const struct runner *r, const struct logged_entry *e, uint32_t function)
{
	const struct call *c = r->c;

	return c->state == CALL_TAIL && c->block != NO_BLOCK &&
	       r->t->plan->blocks.data[c->block].function == function &&
	       (!e->caller || !c->caller || c->replaced || c->caller == e->caller);
}

enum entered { ENTERED_NONE, ENTERED_MADE, ENTERED_OTHERWISE };

/* Finds who made the call of an entry that no jump leads to, as replay__entry() does: the innermost
 * call's last instruction (MADE), or untraced code (OTHERWISE), which the innermost call, if there
 * is one, has called. NONE: only an event's replay can find it. *way leads to the instruction. */
static enum entered find_caller(struct runner *r, const struct logged *l,
				const struct logged_entry *e, uint64_t bias, uint32_t *way)
{
	const struct plan *p = r->t->plan;
	uint32_t object = p->sites.data[l->site].object;
	uint64_t return_vaddr = e->caller - bias;
	const struct plan_block *b;
	bool in_call;

	*way = NO_WAY;
	if (!r->c)
		return r->th->calls.len || locate__call(r->t, r->th->pid, e->caller) != NO_BLOCK
			       ? ENTERED_NONE
			       : ENTERED_OTHERWISE;
	in_call = r->last == NO_WAY ? r->c->in_call : is_call(way_at(r, r->last));
	if (!e->caller || r->c->sp <= e->sp || !r->stands)
		return ENTERED_NONE;
	b = &p->blocks.data[r->place >> 1];
	if (in_call)
		return locate__call(r->t, r->th->pid, e->caller) != NO_BLOCK ? ENTERED_NONE
		       : b->object == object && b->start == return_vaddr     ? ENTERED_MADE
									     : ENTERED_OTHERWISE;
	if (b->object != object)
		return ENTERED_NONE;
	*way = ways__enter(r->t, r->place, l, return_vaddr);
	return *way != NO_WAY && e->sp + (int32_t)way_at(r, *way)->above == r->c->sp ? ENTERED_MADE
										     : ENTERED_NONE;
}

static void push(struct runner *r, const struct logged *l, const struct logged_entry *e,
		 bool called_directly)
{
	const struct plan_site *s = &r->t->plan->sites.data[l->site];
	const struct call c = {.sp = e->sp,
			       .time = e->time,
			       .function = s->function,
			       .block = s->block,
			       .state = CALL_AT,
			       .seen_entry = true,
			       .signals = r->th->signals,
			       .called_directly = called_directly,
			       .caller = e->caller,
			       .fresh = true,
			       .past = true};

	if (r->run->comm && strcmp(r->th->comm, r->run->comm))
		thread__set_comm(r->th, r->run->comm);
	calls__push(r->t, r->th, &c);
	r->records++;
	r->sp = e->sp;
	r->run->thread->time = e->time;
	r->err = r->err ? r->err : step__logged_entry(r->t, r->th, l->site, e->time);
	look(r);
}

/* Sets *own to the branch that an entry is as well; NO_WAY if it is none. Returns false if only an
 * event's replay can find it. */
static bool read_own_branch(struct runner *r, const uint64_t *words, const struct logged *l,
			    uint64_t time, uint32_t *own, struct record_rest *rest)
{
	const struct plan_site *s = &r->t->plan->sites.data[l->site];

	*own = NO_WAY;
	*rest = (struct record_rest){.goal = NO_WAY, .time = time};
	if (s->role != ROLE_BRANCH)
		return true;
	*own = ways__find(r->t, r->run->decoder, place_of(s->block, true), (uint32_t)words[0]);
	if (*own == NO_WAY || way_at(r, *own)->kind == WAY_NONE)
		return false;
	if (!way__has_goals(way_at(r, *own)))
		return true;
	rest->value = words[5];
	return find_goal(r, *own, words[4], rest);
}

/* Returns the number of words that the entry takes; 0 if only an event's replay can handle it. */
static size_t pass_entry(struct runner *r, size_t at)
{
	const uint64_t *words = r->run->words + at;
	const struct logged *l = ways__entry(r->t, r->run->decoder, (uint32_t)words[0]);
	const struct plan_site *s;
	struct logged_entry e;
	enum entered entered;
	uint32_t way = NO_WAY, own;
	struct record_rest rest;
	uint64_t bias;

	if (!l || l->words > r->run->n - at || !words[1])
		return 0;
	s = &r->t->plan->sites.data[l->site];
	log_decoder__entry(r->run->decoder, r->run->thread, words, l, &e);
	if (r->stack && !log_thread__is_goroutine(r->run->thread, e.sp))
		return 0;
	e.sp -= r->stack;
	bias = e.ip - s->probe_at - s->vaddr;
	if (e.time >= r->run->before || (r->c && !is_near((int64_t)(e.sp - r->c->sp))) ||
	    is_reused(r->th, e.sp) ||
	    locate__undecoded(r->t, r->th->pid, 0, e.caller) != NO_FUNCTION)
		return 0;
	if (r->c && r->c->sp == e.sp)
		entered = is_tail(r, &e, s->function) ? ENTERED_OTHERWISE : ENTERED_NONE;
	else
		entered = find_caller(r, l, &e, bias, &way);
	if (entered == ENTERED_NONE || !read_own_branch(r, words, l, e.time, &own, &rest))
		return 0;
	keep_time(r, at + 1, e.time);
	keep_address(r, e.caller);
	if (rest.goal != NO_WAY)
		keep_address(r, words[4]);
	if (way != NO_WAY) {
		take(r, way, &r->t->ways->all.data[way]);
		r->place = way_at(r, way)->to;
	}
	settle(r);
	learn_bias(r, s->object, bias);
	push(r, l, &e, entered == ENTERED_MADE);
	if (own != NO_WAY)
		take_way(r, own, &rest);
	return l->words;
}

/* ---- the run ---- */

static size_t pass(struct runner *r)
{
	const struct event_run *run = r->run;
	size_t i = 0, n = 1;

	while (n && i < run->n && !r->err) {
		i = r->stands ? pass_plain(r, i) : i;
		if (i == run->n)
			break;
		if ((uint32_t)run->words[i] >> LOG_KIND_SHIFT == LOG_ENTRY)
			n = pass_entry(r, i);
		else
			n = r->stands ? pass_branch(r, i) : 0;
		n = n ? n : pass_helper(r, i);
		i += n;
	}
	settle(r);
	return i;
}

/* before: the thread before the run. */
static void keep_words(struct runner *r, const struct log_thread *before, size_t n)
{
	struct logged_words w = {.thread = *before,
				 .regs = log_decoder__regs(r->run->decoder),
				 .words = r->run->words,
				 .n = n,
				 .events = r->records + r->helpers,
				 .times = r->times.data,
				 .ntimes = r->times.len};

	snprintf(w.thread.comm, sizeof(w.thread.comm), "%s", r->run->comm ? r->run->comm : "");
	if (n && r->sink->words && !r->err)
		r->err = r->sink->words(r->sink->ctx, &w);
	vec__free(&r->times);
}

int trace__feed_run(struct trace *t, const struct event_run *run, const struct run_sink *sink,
		    struct run_taken *taken)
{
	struct thread *th = tasks__thread(t, run->pid, run->tid, 0);
	uint64_t stack = run->thread->goroutine ? run->thread->stack_high : 0;
	const struct log_thread before = *run->thread;
	struct runner r = {.t = t,
			   .th = side_of(th, run->thread),
			   .stack = stack,
			   .run = run,
			   .sink = sink,
			   .sp = run->thread->stacks[0] - stack};

	*taken = (struct run_taken){0};
	if (!is_ordinary(t, th, r.th))
		return 0;
	if (!t->ways)
		t->ways = ways__new(t->plan);
	look(&r);
	taken->words = pass(&r);
	keep_words(&r, &before, taken->words);
	taken->records = r.records;
	taken->full = t->ways->goals.len > MANY_GOALS;
	if (!taken->words)
		return r.err;
	log_thread__at(run->thread, r.sp + stack);
	th->interrupted_at = 0;
	th->last_hit = (struct last_hit){0};
	return r.err;
}

/* ---- what was added up ---- */

static void report_way(struct ways *ways, uint32_t i, const struct run_counts *to)
{
	struct way *w = &ways->all.data[i];
	uint32_t first = ways->more.data[i].first;
	/* the goals have the last one */
	uint32_t n = w->branches - way__has_goals(w);

	for (uint32_t k = first; w->count && k < first + n; k++) {
		const struct way_branch *b = &ways->branches.data[k];

		/* the target of an implied one, if the site doesn't determine it */
		to->branch(to->ctx, b->site, b->taken,
			   b->to == NO_WAY ? NULL : &ways->targets.data[b->to], w->count);
	}
	w->count = 0;
}

void trace__each_branch(struct trace *t, const struct run_counts *to)
{
	struct goal *g;

	if (!t->ways)
		return;
	for (size_t i = 0; i < t->ways->all.len; i++)
		report_way(t->ways, i, to);
	vec__each (g, &t->ways->goals) {
		if (g->count)
			to->branch(to->ctx, t->ways->all.data[g->way].site, true, &g->at, g->count);
		g->count = 0;
	}
	if (t->ways->goals.len > MANY_GOALS)
		ways__drop_goals(t->ways);
}

void trace__maps_changed(struct trace *t)
{
	ways__forget_addresses(t->ways);
}
