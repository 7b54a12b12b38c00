// SPDX-License-Identifier: BSD-2-Clause
/*
 * The path between two events: the unprobed branches that a thread must have taken from one block
 * to the end of another. It is known if it is the only one, since a probed branch on the path would
 * have had an event. Paths are cached: a program takes few different paths, each often.
 */
#include <stdlib.h>
#include "plan/graph/flow.h"
#include "replay.h"

/* The path between two blocks: a range of walk.found. */
struct found_path {
	enum walk_result result;
	uint32_t at, len;
};

struct walk {
	const struct plan *plan;
	struct plan_flow flow;
	struct map64 known; /* from << 32 | to -> index into paths + 1 */
	VEC(struct found_path) paths;
	VEC(uint32_t) found;
	struct path path;
	/* Of the current search, by block: 0 if not visited; OPEN; else its number of
	 * paths + 1. */
	uint8_t *npaths;
	VEC(uint32_t) visited;
	bool cycle;
	/* By object: the end of an unprobed call -> 1 + its block. */
	struct map64 *calls;
	size_t nobjects; /* the number of elements of calls */
	bool *shares;	 /* by function: it continues in the middle of another one */
	uint8_t *ahead;	 /* by block: 0 if not known yet; else most_ahead() + 1 */
	bool too_deep;	 /* the current search ahead has reached its depth limit */
};

#define OPEN	  255
#define TO_RET	  (NO_BLOCK >> 1) /* in place of a block: any block that ends in an unprobed ret */
#define MAX_DEPTH 512
#define MAX_KNOWN (1u << 20)

/* ---- unprobed calls ---- */

/* Nothing in helper functions is shown. */
static bool is_shown(const struct walk *w, uint32_t b)
{
	uint32_t function = w->plan->blocks.data[b].function;

	return plan__traces(w->plan, function) &&
	       !(w->plan->functions.data[function].flags & FUNCTION_HELPER);
}

static void note_calls(struct walk *w)
{
	w->nobjects = w->plan->objects.len;
	w->calls = xcalloc(w->nobjects + 1, sizeof(*w->calls));
	for (uint32_t i = 0; i < w->plan->blocks.len; i++) {
		const struct plan_block *b = &w->plan->blocks.data[i];
		const struct plan_site *s =
			b->site == NO_SITE ? NULL : &w->plan->sites.data[b->site];

		if (s && !plan_site__has_events(s) && is_shown(w, i) &&
		    (s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL))
			*map64__put(&w->calls[b->object], b->end) = i + 1;
	}
}

uint32_t walk__call_ending(const struct walk *w, uint32_t object, uint64_t end)
{
	const uint64_t *b = map64__get(&w->calls[object], end);

	return b ? *b - 1 : NO_BLOCK;
}

/* ---- code that functions share ---- */

static bool is_middle_of_other(const struct plan *p, uint32_t function, uint32_t to)
{
	uint32_t other = to == NO_BLOCK ? NO_FUNCTION : p->blocks.data[to].function;

	return other != NO_FUNCTION && other != function &&
	       p->functions.data[other].entry_block != to;
}

static void note_sharing(struct walk *w)
{
	w->shares = xcalloc(w->plan->functions.len + 1, sizeof(*w->shares));
	for (uint32_t i = 0; i < w->plan->blocks.len; i++) {
		const struct plan_block *b = &w->plan->blocks.data[i];

		if (b->function != NO_FUNCTION)
			w->shares[b->function] |=
				is_middle_of_other(w->plan, b->function, b->taken) ||
				is_middle_of_other(w->plan, b->function, b->next);
	}
}

bool walk__may_leave(const struct walk *w, uint32_t function)
{
	return w->shares[function];
}

/* Follows the flow's edges backward, each once. */
void walk__close_backward(const struct walk *w, bool *functions)
{
	const struct plan_flow *f = &w->flow;
	autofree bool *reached = xcalloc(w->plan->blocks.len + 1, 1);
	autofree VEC(uint32_t) next = {0};

	for (uint32_t b = 0; b < w->plan->blocks.len; b++) {
		uint32_t function = w->plan->blocks.data[b].function;

		reached[b] = function != NO_FUNCTION && functions[function];
		if (reached[b])
			vec__push(&next, b);
	}
	while (next.len) {
		uint32_t b = next.data[--next.len];

		for (uint32_t i = f->in[b]; i < f->in[b + 1]; i++) {
			uint32_t from = f->predecessors[i];
			uint32_t function = w->plan->blocks.data[from].function;

			if (reached[from])
				continue;
			reached[from] = true;
			if (function != NO_FUNCTION)
				functions[function] = true;
			vec__push(&next, from);
		}
	}
}

struct walk *walk__new(const struct plan *plan)
{
	struct walk *w = xcalloc(1, sizeof(*w));

	w->plan = plan;
	w->npaths = xcalloc(plan->blocks.len + 1, 1);
	w->ahead = xcalloc(plan->blocks.len + 1, 1);
	plan_flow__init(&w->flow, plan);
	note_calls(w);
	note_sharing(w);
	return w;
}

bool walk__is_marked(const struct walk *w, uint32_t b)
{
	return w->flow.marked[b];
}

void walk__free(struct walk *w)
{
	if (!w)
		return;
	vec__free(&w->visited);
	vec__free(&w->paths);
	vec__free(&w->found);
	map64__free(&w->known);
	for (size_t i = 0; i < w->nobjects; i++)
		map64__free(&w->calls[i]);
	free(w->calls);
	free(w->shares);
	plan_flow__free(&w->flow);
	free(w->npaths);
	free(w->ahead);
	free(w);
}

/* ---- the search ---- */

/* Returns the number of blocks that can follow block b without an event. */
static uint32_t count_unprobed(const struct walk *w, uint32_t b)
{
	return plan_flow__is_probed(&w->flow, b) ? 0 : plan_flow__count(&w->flow, b);
}

/* Returns the number of paths from b to the end of block to; 2 stands for more. */
static unsigned search(struct walk *w, uint32_t b, uint32_t to, bool around, unsigned depth)
{
	unsigned npaths = 0;
	uint32_t n;

	if (b == to && (depth || !around))
		return 1; /* any longer path would pass the probe at the block's end */
	if (depth && (w->flow.marked[b] || !is_shown(w, b)))
		return 0;
	if (to == TO_RET && plan_flow__is_unprobed_ret(&w->flow, b))
		return 1;
	if (w->npaths[b] == OPEN)
		return w->cycle = true, 0;
	if (w->npaths[b])
		return w->npaths[b] - 1;
	if (depth > MAX_DEPTH || plan_flow__is_open(&w->flow, b))
		return 2;
	w->npaths[b] = OPEN;
	vec__push(&w->visited, b);
	n = count_unprobed(w, b);
	for (uint32_t i = 0; npaths < 2 && i < n; i++)
		npaths += search(w, plan_flow__successors(&w->flow, b)[i], to, around, depth + 1);
	w->npaths[b] = min_of(npaths, 2u) + 1;
	return min_of(npaths, 2u);
}

/* Appends the blocks of the only path to found. */
static void take_path(struct walk *w, uint32_t from, uint32_t to, bool around)
{
	uint32_t next = NO_BLOCK, b;

	for (b = from;
	     (b != to && (to != TO_RET || !plan_flow__is_unprobed_ret(&w->flow, b))) || around;
	     b = next) {
		around = false;
		vec__push(&w->found, b);
		for (uint32_t i = 0; i < count_unprobed(w, b); i++) {
			next = plan_flow__successors(&w->flow, b)[i];
			if (next == to || (!w->flow.marked[next] && w->npaths[next] == 2) ||
			    (to == TO_RET && !w->flow.marked[next] &&
			     plan_flow__is_unprobed_ret(&w->flow, next)))
				break;
		}
	}
	vec__push(&w->found, b);
}

static struct found_path find_path(struct walk *w, uint32_t from, uint32_t to, bool around)
{
	struct found_path one = {.at = w->found.len};
	unsigned npaths;
	uint32_t *b;

	w->cycle = false;
	npaths = search(w, from, to, around, 0);
	one.result = npaths == 0 ? WALK_NONE : npaths > 1 || w->cycle ? WALK_AMBIGUOUS : WALK_FOUND;
	if (one.result == WALK_FOUND)
		take_path(w, from, to, around);
	one.len = w->found.len - one.at;
	vec__each (b, &w->visited)
		w->npaths[*b] = 0;
	w->visited.len = 0;
	return one;
}

static void forget_paths(struct walk *w)
{
	map64__free(&w->known);
	w->paths.len = w->found.len = 0;
}

enum walk_result walk__find(struct walk *w, uint32_t from, uint32_t to, bool around,
			    const struct path **path)
{
	uint64_t *index;
	struct found_path one;

	if (w->paths.len >= MAX_KNOWN)
		forget_paths(w);
	index = map64__put(&w->known, (uint64_t)around << 63 | (uint64_t)from << 32 | to);
	if (!*index) {
		one = find_path(w, from, to, around);
		vec__push(&w->paths, one);
		*index = w->paths.len;
	}
	one = w->paths.data[*index - 1];
	w->path = (struct path){one.len ? w->found.data + one.at : NULL, one.len};
	*path = &w->path;
	return one.result;
}

bool walk__is_unprobed_ahead(const struct walk *w, uint32_t b, bool returns)
{
	/* A block without a branch falls through. More steps than blocks would be a cycle. */
	for (size_t i = 0; b != NO_BLOCK && i < w->plan->blocks.len; i++) {
		uint32_t site = w->plan->blocks.data[b].site;

		if (i && w->flow.marked[b])
			return false;
		if (site != NO_SITE)
			return !plan_site__has_events(&w->plan->sites.data[site]) &&
			       !(returns && w->plan->sites.data[site].kind == BRANCH_RET);
		b = w->plan->blocks.data[b].next;
	}
	return false;
}

enum walk_result walk__find_ret(struct walk *w, uint32_t from, const struct path **path)
{
	return walk__find(w, from, TO_RET, false, path);
}

bool walk__may_return(struct walk *w, uint32_t b)
{
	const struct path *path;

	return b != NO_BLOCK && walk__find_ret(w, b, &path) != WALK_NONE;
}

/* ---- quick code ---- */

/* Returns true if this block ends in a hit. A ret without a probe does if a return probe has
 * replaced the return address. */
static bool ends_in_hit(const struct walk *w, uint32_t b)
{
	return plan_flow__is_probed(&w->flow, b) ||
	       (w->plan->return_probes && plan_flow__is_unprobed_ret(&w->flow, b));
}

/* Returns true if the block calls something that isn't known, or if nothing is known to
 * follow it. */
static bool ends_anywhere(const struct walk *w, uint32_t b)
{
	const struct plan_block *block = &w->plan->blocks.data[b];
	uint8_t kind = block->site == NO_SITE ? BRANCH_NONE : w->plan->sites.data[block->site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL || kind == BRANCH_RET ||
	       plan_flow__is_open(&w->flow, b) || !plan_flow__count(&w->flow, b);
}

static unsigned most_ahead(struct walk *w, uint32_t b, unsigned depth);

static unsigned most_after(struct walk *w, uint32_t b, unsigned depth)
{
	const uint32_t *next = plan_flow__successors(&w->flow, b);
	unsigned most = 0;

	for (uint32_t i = 0; i < plan_flow__count(&w->flow, b); i++) {
		unsigned n = w->flow.marked[next[i]] ? w->plan->blocks.data[next[i]].quick
						     : most_ahead(w, next[i], depth + 1);

		if (!n)
			return 0;
		most = max_of(most, n);
	}
	return most;
}

/*
 * Returns the most instructions from the start of block b to the next hit, by any path; 0 if not
 * all of them are quick, or if they may be more than QUICK_MAX. A block that is met again is on a
 * cycle. If the search reaches its depth limit, only the block at which it began is known to be too
 * far away.
 */
static unsigned most_ahead(struct walk *w, uint32_t b, unsigned depth)
{
	unsigned n = w->plan->blocks.data[b].quick, after;

	if (w->ahead[b])
		return w->ahead[b] - 1;
	if (depth > QUICK_MAX)
		return w->too_deep = true, 0;
	w->ahead[b] = 1;
	if (n && !ends_in_hit(w, b)) {
		after = ends_anywhere(w, b) ? 0 : most_after(w, b, depth);
		n = after && n + after <= QUICK_MAX ? n + after : 0;
	}
	w->ahead[b] = w->too_deep && depth ? 0 : n + 1;
	return n;
}

bool walk__is_quick_ahead(struct walk *w, uint32_t b)
{
	w->too_deep = false;
	return most_ahead(w, b, 0);
}
