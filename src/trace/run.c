// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs: what a thread has logged, replayed many events at once. Most of it are branches and
 * witnesses of the call that runs, and where one of these leads from the place where the call
 * stands is always the same: it is worked out once, as an event would be (replay.c), and then
 * looked up by the place and the record's word. Whatever could end the call, or needs more than the
 * word, isn't taken.
 */
#include <stdlib.h>
#include "calls.h"

enum way_kind {
	WAY_NONE, /* only an event's replay can tell */
	WAY_WITNESS,
	WAY_JUMP,
	WAY_CALL,
};

/* What a record does to a call that stands at a place: at a block, past its mark or not. */
struct way {
	uint32_t id;	/* the low half of its word */
	uint32_t above; /* from the high half to the low half of the call's stack pointer */
	uint32_t to;	/* the place behind it */
	uint32_t other; /* index + 1 of another way from here; 0: none */
	uint32_t site;
	uint32_t first, branches; /* of ways.branches: those that it shows, in order */
	uint8_t kind;		  /* enum way_kind */
	uint64_t count;		  /* how often it was gone, since that was told last */
};

struct way_branch {
	uint32_t site;
	bool taken;
};

struct ways {
	uint32_t *from; /* by place: index + 1 of a way; 0: none */
	VEC(struct way) all;
	VEC(struct way_branch) branches;
};

#define MAX_WAYS (1u << 22)  /* a program can log anything */
#define NEAR	 (4ll << 20) /* bytes: the log tells only the low half of a stack pointer */

static uint32_t place_of(uint32_t block, bool past)
{
	return block << 1 | past;
}

static struct ways *ways__new(const struct plan *p)
{
	struct ways *w = xcalloc(1, sizeof(*w));

	w->from = xcalloc(2 * p->blocks.len + 1, sizeof(*w->from));
	return w;
}

void ways__free(struct ways *w)
{
	if (!w)
		return;
	free(w->from);
	vec__free(&w->all);
	vec__free(&w->branches);
	free(w);
}

/* ---- what a record does ---- */

static bool is_near(int64_t distance)
{
	return distance > -NEAR && distance < NEAR;
}

/* Does the stack pointer at this site identify its call, in which it only branches? */
static bool is_plain(const struct plan *p, uint32_t site)
{
	const struct plan_site *s = &p->sites.data[site];

	return !(p->functions.data[s->function].flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       !s->switched && s->sp_delta != SP_UNKNOWN && is_near(s->sp_delta) &&
	       !plan__reports_entry(p, site);
}

static void add_branch(struct ways *ways, struct way *w, uint32_t site, bool taken)
{
	vec__push(&ways->branches, (struct way_branch){site, taken});
	w->branches++;
}

/* The branches that a path implies (replay__path()). False: their targets aren't all fixed. */
static bool add_path(struct trace *t, struct way *w, const struct path *path)
{
	const struct plan *p = t->plan;

	for (size_t i = 0; i + 1 < path->len; i++) {
		const struct plan_block *b = &p->blocks.data[path->blocks[i]];
		uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;
		bool conditional = kind == BRANCH_JCC || kind == BRANCH_LOOP;

		if (b->site == NO_SITE)
			continue;
		if (!conditional && kind != BRANCH_JMP && kind != BRANCH_CALL)
			return false;
		add_branch(t->ways, w, b->site, !conditional || b->taken == path->blocks[i + 1]);
	}
	return true;
}

/* The block behind this branch, in the same function; NO_BLOCK: it may leave that. */
static uint32_t block_behind(const struct plan *p, const struct plan_site *s, bool taken)
{
	const struct plan_block *b = &p->blocks.data[s->block];
	uint32_t to;

	switch (s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
	case BRANCH_JMP:
		to = taken ? b->taken : b->next;
		break;
	case BRANCH_CALL:
		to = b->noreturn ? NO_BLOCK : b->next;
		break;
	default:
		return NO_BLOCK;
	}
	return to != NO_BLOCK && p->blocks.data[to].function == s->function ? to : NO_BLOCK;
}

static bool is_way(struct trace *t, struct way *w, uint32_t place, const struct logged_branch *b)
{
	const struct plan *p = t->plan;
	const struct plan_site *s = &p->sites.data[b->site];
	bool witness = s->role == ROLE_WITNESS, past = place & 1;
	bool taken = b->taken || (s->kind != BRANCH_JCC && s->kind != BRANCH_LOOP);
	uint32_t block = place >> 1;
	const struct path *path;

	if (!is_plain(p, b->site) || s->function != p->blocks.data[block].function)
		return false;
	/* as for its call to be found, then as that is brought there */
	if (walk__find(t->walk, block, s->block, false, &path) != WALK_FOUND ||
	    walk__find(t->walk, block, s->block, witness && past, &path) != WALK_FOUND ||
	    !add_path(t, w, path))
		return false;
	w->site = b->site;
	w->above = b->lowered + s->sp_delta;
	if (witness) {
		w->kind = WAY_WITNESS;
		w->to = place_of(s->block, true);
		return true;
	}
	block = block_behind(p, s, taken);
	if (block == NO_BLOCK)
		return false;
	w->kind = s->kind == BRANCH_CALL ? WAY_CALL : WAY_JUMP;
	w->to = place_of(block, false);
	add_branch(t->ways, w, b->site, taken);
	return true;
}

#define NO_WAY UINT32_MAX

static uint32_t add_way(struct trace *t, uint32_t place, uint32_t id)
{
	struct ways *ways = t->ways;
	struct way w = {.id = id, .other = ways->from[place], .first = ways->branches.len};
	struct logged_branch b;

	if (!log__branch(t->plan, id, &b) || ways->all.len >= MAX_WAYS)
		return NO_WAY;
	if (!is_way(t, &w, place, &b)) {
		ways->branches.len = w.first;
		w.branches = 0;
		w.kind = WAY_NONE;
	}
	vec__push(&ways->all, w);
	ways->from[place] = ways->all.len;
	return ways->all.len - 1;
}

/* An index into ways.all; NO_WAY: there is none, or it is unknown. */
static uint32_t find_way(struct trace *t, uint32_t place, uint32_t id)
{
	const struct ways *ways = t->ways;
	uint32_t i;

	for (i = ways->from[place]; i && ways->all.data[i - 1].id != id;)
		i = ways->all.data[i - 1].other;
	i = i ? i - 1 : add_way(t, place, id);
	return i == NO_WAY || ways->all.data[i].kind == WAY_NONE ? NO_WAY : i;
}

/* ---- the call ---- */

/* Does nothing but its call's position bear on its next event? */
static bool is_ordinary(const struct trace *t, const struct thread *th)
{
	return t->options.events & PLAN_BRANCH && !t->options.max_depth &&
	       !t->options.min_duration && !t->changing && th->seen && !th->stopped && !th->other &&
	       !(th->kernel_side && calls__depth(th->kernel_side)) && !th->last_hit.call;
}

/* The innermost call, if it is known where it stands; NULL: it isn't. */
static struct call *call_that_runs(const struct trace *t, struct thread *th, uint64_t sp)
{
	struct call *c = calls__top(th);

	if (!c || c->state != CALL_AT || c->block == NO_BLOCK || c->early || c->at_end ||
	    c->function != t->plan->blocks.data[c->block].function ||
	    !is_near((int64_t)(sp - c->sp)))
		return NULL;
	/* (doubt_return()) */
	return t->plan->return_probes && !c->seen_entry && !c->implied ? NULL : c;
}

/* What has passed of a run. Indices into ways.all; NO_WAY: none. */
struct passed {
	uint32_t place;
	uint32_t last, shown, jump; /* the last one; that showed a branch; that was a jump */
	uint64_t branches;
	bool own; /* a branch has had a record */
};

/* The number of words that pass. */
static size_t pass(struct trace *t, const struct event_run *run, uint64_t sp, struct passed *p)
{
	size_t i;

	for (i = 0; i < run->n; i++) {
		uint32_t w = find_way(t, p->place, (uint32_t)run->words[i]);
		struct way *way;

		if (w == NO_WAY)
			break;
		way = &t->ways->all.data[w];
		if ((uint32_t)(run->words[i] >> 32) + way->above != (uint32_t)sp)
			break;
		way->count++;
		p->place = way->to;
		p->last = w;
		p->shown = way->branches ? w : p->shown;
		p->jump = way->kind == WAY_JUMP ? w : p->jump;
		p->own |= way->kind != WAY_WITNESS;
		p->branches += way->branches;
	}
	return i;
}

/* As the last event leaves them. */
static void leave(const struct trace *t, struct thread *th, struct call *c, const struct passed *p)
{
	const struct way *all = t->ways->all.data;

	c->block = p->place >> 1;
	c->past = p->place & 1;
	c->in_call = all[p->last].kind == WAY_CALL;
	c->signals = th->signals;
	c->fresh &= !p->own;
	if (p->jump != NO_WAY) {
		c->direct = true;
		c->left_by = all[p->jump].site;
	}
	th->interrupted_at = 0;
	th->last_hit = (struct last_hit){0};
}

size_t trace__feed_run(struct trace *t, const struct event_run *run, struct passed_run *out)
{
	struct thread *th = tasks__thread(t, run->pid, run->tid, 0);
	struct call *c = is_ordinary(t, th) ? call_that_runs(t, th, run->sp) : NULL;
	struct passed p = {.last = NO_WAY, .shown = NO_WAY, .jump = NO_WAY};
	const struct way_branch *b;
	const struct way *last;
	size_t n;

	if (!c)
		return 0;
	if (!t->ways)
		t->ways = ways__new(t->plan);
	p.place = place_of(c->block, c->past);
	n = pass(t, run, c->sp, &p);
	if (!n)
		return 0;
	leave(t, th, c, &p);
	t->totals.events += p.branches;
	out->sp = c->sp - t->plan->sites.data[t->ways->all.data[p.last].site].sp_delta;
	out->call_sp = c->sp;
	out->branches = p.branches;
	if (p.shown == NO_WAY)
		return n;
	last = &t->ways->all.data[p.shown];
	b = &t->ways->branches.data[last->first + last->branches - 1];
	out->last = step__of_run(t, th, b->site, b->taken);
	return n;
}

void trace__each_branch(struct trace *t,
			void (*fn)(void *ctx, uint32_t site, bool taken, uint64_t n), void *ctx)
{
	struct way *w;

	if (!t->ways)
		return;
	vec__each (w, &t->ways->all) {
		const struct way_branch *b = t->ways->branches.data + w->first;

		for (uint32_t i = 0; w->count && i < w->branches; i++)
			fn(ctx, b[i].site, b[i].taken, w->count);
		w->count = 0;
	}
}
