// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "arch/arch.h"
#include "ways.h"

#define MAX_WAYS (1u << 22) /* a program can log anything */

static void clear(uint32_t *places, size_t n)
{
	memset(places, 0xff, n * sizeof(*places));
}

struct ways *ways__new(const struct plan *p)
{
	struct ways *w = xcalloc(1, sizeof(*w));

	w->from = xcalloc(2 * p->blocks.len + 1, sizeof(*w->from));
	clear(w->from, 2 * p->blocks.len + 1);
	w->sites = xcalloc(p->sites.len + 1, sizeof(*w->sites));
	w->biases = xcalloc(p->objects.len + 1, sizeof(*w->biases));
	return w;
}

void ways__free(struct ways *w)
{
	if (!w)
		return;
	free(w->from);
	free(w->sites);
	free(w->biases);
	map64__free(&w->goal_of);
	vec__free(&w->all);
	vec__free(&w->more);
	vec__free(&w->branches);
	vec__free(&w->goals);
	vec__free(&w->targets);
	free(w);
}

void ways__forget_addresses(struct ways *w)
{
	if (!w)
		return;
	w->epoch++;
	w->bias_pid = 0;
}

void ways__drop_goals(struct ways *w)
{
	struct way_more *more;

	vec__each (more, &w->more)
		more->goal = NO_WAY;
	w->goals.len = 0;
	map64__free(&w->goal_of);
}

/* ---- what a record does ---- */

static const struct plan_function *function_of(const struct plan *p, uint32_t function)
{
	return &p->functions.data[function];
}

/* Returns true if the stack pointer at this site identifies its call. */
static bool is_plain(const struct plan *p, uint32_t site)
{
	const struct plan_site *s = &p->sites.data[site];

	return !(function_of(p, s->function)->flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       !s->switched && s->sp_delta != SP_UNKNOWN && is_near(s->sp_delta) &&
	       !plan__reports_entry(p, site);
}

static void add_branch(struct ways *ways, uint32_t site, bool taken)
{
	vec__push(&ways->branches, (struct way_branch){site, taken, NO_WAY});
}

/* Adds an indirect jump that the path implies. */
static void add_jump(struct trace *t, uint32_t site, uint32_t block)
{
	const struct plan_block *b = &t->plan->blocks.data[block];
	struct location to;

	locate__vaddr(t, b->object, b->start, &to);
	vec__push(&t->ways->branches, (struct way_branch){site, true, t->ways->targets.len});
	vec__push(&t->ways->targets, to);
}

static bool is_conditional(uint8_t kind)
{
	return kind == BRANCH_JCC || kind == BRANCH_LOOP;
}

/* Adds the branches that a path implies, as replay__path() does. Returns false if not all of their
 * targets are fixed. */
static bool add_path(struct trace *t, const struct path *path)
{
	const struct plan *p = t->plan;

	for (size_t i = 0; i + 1 < path->len; i++) {
		const struct plan_block *b = &p->blocks.data[path->blocks[i]];
		uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;

		if (b->site == NO_SITE)
			continue;
		if (kind == BRANCH_IJMP)
			add_jump(t, b->site, path->blocks[i + 1]);
		else if (is_conditional(kind) || kind == BRANCH_JMP || kind == BRANCH_CALL)
			add_branch(t->ways, b->site,
				   !is_conditional(kind) || b->taken == path->blocks[i + 1]);
		else
			return false;
	}
	return true;
}

/* Returns true if another function than this one starts at the block, and shows its entries and
 * returns. */
static bool is_other_start(const struct plan *p, uint32_t block, uint32_t function)
{
	uint32_t other = p->blocks.data[block].function;

	return other != function && other != NO_FUNCTION &&
	       !(function_of(p, other)->flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       function_of(p, other)->entry_block == block;
}

/* Sets what a jump or a fall-through to a block of the plan does, as continue_at() does. */
static enum way_kind lead(const struct plan *p, uint32_t block, uint32_t function, uint32_t *to)
{
	if (block == NO_BLOCK)
		return WAY_NONE;
	if (p->blocks.data[block].function == function) {
		*to = place_of(block, false);
		return WAY_JUMP;
	}
	*to = block;
	return is_other_start(p, block, function) ? WAY_TAIL : WAY_NONE;
}

/* The same after a branch, as move_past_branch() does. Where a branch with a target leads is left
 * to its goal. */
static enum way_kind lead_on(const struct plan *p, const struct plan_site *s, bool taken,
			     uint32_t *to)
{
	const struct plan_block *b = &p->blocks.data[s->block];

	switch (s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
	case BRANCH_JMP:
		return lead(p, taken ? b->taken : b->next, s->function, to);
	case BRANCH_CALL:
	case BRANCH_ICALL:
		if (b->noreturn || lead(p, b->next, s->function, to) != WAY_JUMP)
			return WAY_NONE;
		return s->kind == BRANCH_CALL ? WAY_CALL : WAY_TO_CALL;
	case BRANCH_IJMP:
		return WAY_TO_JUMP;
	case BRANCH_RET:
		return s->sp_delta ? WAY_NONE : WAY_RETURN;
	default:
		return WAY_NONE;
	}
}

/* Finds the path from a place to the end of a block or, if marked, to its witness: once as its call
 * is found, then as the call is moved (replay__call_of_event(), replay__walk_to()). */
static bool walk(struct trace *t, uint32_t place, uint32_t block, bool marked)
{
	const struct path *path;
	bool past = place & 1;

	return walk__find(t->walk, place >> 1, block, false, &path) == WALK_FOUND &&
	       walk__find(t->walk, place >> 1, block, marked && past, &path) == WALK_FOUND &&
	       add_path(t, path);
}

/* The branch that an entry is as well, which is in the call at this place. */
static uint8_t kind_of_entry(struct trace *t, struct way *w, uint32_t place, const struct logged *r)
{
	const struct plan_site *s = &t->plan->sites.data[r->site];
	bool taken = r->taken || !is_conditional(s->kind);
	uint8_t kind = WAY_NONE;

	if (place == place_of(s->block, true) && !s->switched &&
	    (s->kind != BRANCH_RET || !t->plan->return_probes))
		kind = lead_on(t->plan, s, taken, &w->to);
	if (kind != WAY_NONE)
		add_branch(t->ways, r->site, taken);
	return kind;
}

static uint8_t kind_of_way(struct trace *t, struct way *w, uint32_t place, const struct logged *r)
{
	const struct plan *p = t->plan;
	const struct plan_site *s = &p->sites.data[r->site];
	bool witness = s->role == ROLE_WITNESS;
	bool taken = r->taken || !is_conditional(s->kind);
	uint8_t kind;

	if (r->kind == LOG_ENTRY)
		return kind_of_entry(t, w, place, r);
	if (!is_plain(p, r->site) || s->function != p->blocks.data[place >> 1].function ||
	    (s->kind == BRANCH_RET && p->return_probes) || !walk(t, place, s->block, witness))
		return WAY_NONE;
	if (witness) {
		w->to = place_of(s->block, true);
		return WAY_WITNESS;
	}
	kind = lead_on(p, s, taken, &w->to);
	if (kind != WAY_NONE)
		add_branch(t->ways, r->site, taken);
	return kind;
}

static uint32_t push(struct trace *t, uint32_t place, struct way *w, const struct way_more *more)
{
	struct ways *ways = t->ways;

	if (ways->branches.len - more->first > UINT16_MAX)
		w->kind = WAY_NONE;
	if (w->kind == WAY_NONE)
		ways->branches.len = more->first;
	w->branches = ways->branches.len - more->first;
	w->other = ways->from[place];
	vec__push(&ways->all, *w);
	vec__push(&ways->more, *more);
	return ways->from[place] = ways->all.len - 1;
}

uint32_t ways__add(struct trace *t, const struct log_decoder *d, uint32_t place, uint32_t id)
{
	const struct way_more more = {.first = t->ways->branches.len, .goal = NO_WAY};
	struct way w = {.id = id};
	struct logged r;

	if (!log_decoder__id(d, id, &r) || t->ways->all.len >= MAX_WAYS)
		return NO_WAY;
	w.site = r.site;
	w.words = r.words;
	w.above = r.lowered + t->plan->sites.data[r.site].sp_delta;
	w.kind = kind_of_way(t, &w, place, &r);
	return push(t, place, &w, &more);
}

/* ---- targets ---- */

static uint64_t key_of(uint32_t way, uint32_t pid, uint64_t target)
{
	const uint64_t data[] = {(uint64_t)way << 32 | pid, target};

	return map64__hash(data, sizeof(data));
}

static bool is_goal(const struct ways *ways, const struct goal *g, uint32_t way, uint32_t pid,
		    uint64_t target)
{
	return g->target == target && g->pid == pid && g->way == way && g->epoch == ways->epoch;
}

static void reach(struct trace *t, struct goal *g)
{
	const struct way *w = &t->ways->all.data[g->way];
	uint32_t function = t->plan->sites.data[w->site].function;

	locate__running(t, g->pid, 0, g->target, &g->at);
	g->kind = w->kind == WAY_TO_CALL ? WAY_CALL : w->kind;
	g->to = w->to;
	if (locate__undecoded(t, g->pid, 0, g->target) != NO_FUNCTION)
		g->kind = WAY_NONE;
	else if (w->kind == WAY_TO_JUMP)
		g->kind = lead(t->plan, locate__block(t, g->pid, 0, g->target), function, &g->to);
}

static uint32_t add_goal(struct trace *t, uint32_t way, uint32_t pid, uint64_t target)
{
	struct ways *ways = t->ways;
	struct goal g = {.way = way, .pid = pid, .epoch = ways->epoch, .target = target};

	if (ways->goals.len >= 2 * MANY_GOALS)
		return NO_WAY;
	reach(t, &g);
	vec__push(&ways->goals, g);
	return ways->goals.len - 1;
}

uint32_t ways__goal(struct trace *t, uint32_t way, uint32_t pid, uint64_t target)
{
	struct ways *ways = t->ways;
	struct way_more *w = &ways->more.data[way];
	const struct goal *goals = ways->goals.data;
	uint64_t *known;
	uint32_t i = w->goal;

	if (i == NO_WAY || !is_goal(ways, &goals[i], way, pid, target)) {
		known = map64__put(&ways->goal_of, key_of(way, pid, target));
		i = *known ? *known - 1 : NO_WAY;
		if (i == NO_WAY || !is_goal(ways, &goals[i], way, pid, target)) {
			i = add_goal(t, way, pid, target);
			*known = i + 1;
		}
		if (i == NO_WAY)
			return NO_WAY;
		w->goal = i;
	}
	return ways->goals.data[i].kind == WAY_NONE ? NO_WAY : i;
}

/* ---- entries ---- */

static bool is_simple_entry(const struct plan *p, const struct plan_site *s)
{
	return !s->repeats && !p->return_probes &&
	       !(function_of(p, s->function)->flags & (FUNCTION_HELPER | FUNCTION_RANGE));
}

static bool is_helper_ret(const struct plan *p, const struct plan_site *s)
{
	return function_of(p, s->function)->flags & FUNCTION_HELPER && s->role == ROLE_BRANCH;
}

static const struct logged *find_site(struct trace *t, const struct log_decoder *d, uint32_t id,
				      uint8_t kind,
				      bool (*is)(const struct plan *p, const struct plan_site *s))
{
	const uint32_t site = id & (LOG_TAKEN - 1), any = id & ~LOG_TAKEN;
	const struct plan *p = t->plan;
	struct way_site *w;
	struct logged r;

	if (id >> LOG_KIND_SHIFT != kind || site >= p->sites.len)
		return NULL;
	w = &t->ways->sites[site];
	if (!w->known && log_decoder__id(d, id, &r)) {
		w->known = true;
		w->logged = r;
		w->id = is(p, &p->sites.data[site]) ? any : 0;
	}
	return w->id == any ? &w->logged : NULL;
}

const struct logged *ways__entry(struct trace *t, const struct log_decoder *d, uint32_t id)
{
	return find_site(t, d, id, LOG_ENTRY, is_simple_entry);
}

const struct logged *ways__helper_ret(struct trace *t, const struct log_decoder *d, uint32_t id)
{
	return find_site(t, d, id, LOG_RETURN, is_helper_ret);
}

/* As calls_another() of replay_entry.c: a direct call of another function whose entry is probed. */
static bool calls_another(const struct plan *p, const struct plan_site *call, uint32_t entry)
{
	const struct plan_site *s = &p->sites.data[entry];

	return call->kind == BRANCH_CALL && call->target != p->blocks.data[s->block].start &&
	       plan__entry_is_probed(p, call->object, call->target);
}

/* Moves the caller to its call instruction, as walk_caller() does. */
static uint8_t kind_of_enter(struct trace *t, struct way *w, uint32_t place, const struct logged *r,
			     uint64_t return_vaddr)
{
	const struct plan *p = t->plan;
	uint32_t object = p->sites.data[r->site].object;
	uint32_t call = walk__call_ending(t->walk, object, return_vaddr), next;
	const struct path *path;
	const struct plan_site *s;

	if (call == NO_BLOCK)
		return WAY_NONE;
	s = &p->sites.data[p->blocks.data[call].site];
	next = p->blocks.data[call].next;
	if (calls_another(p, s, r->site) || s->sp_delta == SP_UNKNOWN || next == NO_BLOCK ||
	    s->function != p->blocks.data[place >> 1].function ||
	    p->blocks.data[next].function != s->function ||
	    p->blocks.data[next].start != return_vaddr ||
	    (place >> 1 != call && walk__is_marked(t->walk, call)) ||
	    walk__find(t->walk, place >> 1, call, false, &path) != WALK_FOUND ||
	    !add_path(t, path) || (s->kind != BRANCH_CALL && s->kind != BRANCH_ICALL))
		return WAY_NONE;
	add_branch(t->ways, p->blocks.data[call].site, true);
	w->above = p->arch->call_pushes + s->sp_delta;
	w->to = place_of(next, false);
	return WAY_ENTER;
}

static uint32_t add_enter(struct trace *t, uint32_t place, const struct logged *entry, uint32_t id,
			  uint64_t return_vaddr)
{
	const struct way_more more = {
		.first = t->ways->branches.len, .goal = NO_WAY, .return_vaddr = return_vaddr};
	struct way w = {.id = id, .site = entry->site};

	if (t->ways->all.len >= MAX_WAYS)
		return NO_WAY;
	w.kind = kind_of_enter(t, &w, place, entry, return_vaddr);
	return push(t, place, &w, &more);
}

uint32_t ways__enter(struct trace *t, uint32_t place, const struct logged *entry,
		     uint64_t return_vaddr)
{
	const struct ways *ways = t->ways;
	uint32_t id = LOG_ID(LOG_ENTRY, 0, false, entry->site), i;

	for (i = ways->from[place]; i != NO_WAY; i = ways->all.data[i].other)
		if (ways->all.data[i].id == id && ways->more.data[i].return_vaddr == return_vaddr)
			break;
	i = i == NO_WAY ? add_enter(t, place, entry, id, return_vaddr) : i;
	return i == NO_WAY || ways->all.data[i].kind == WAY_NONE ? NO_WAY : i;
}
