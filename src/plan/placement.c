// SPDX-License-Identifier: BSD-2-Clause
/*
 * Placement: which probes are not needed. A call of a traced function is told by that function's
 * entry, a relative jump by what comes next, and a conditional as well where its two sides first
 * say different things and no silent circle is left (Ball and Larus, "Optimally Profiling and
 * Tracing Programs", TOPLAS 16(4), 1994): greedily, the dearest first.
 */
#include <stdlib.h>
#include "plan/frequency.h"
#include "plan/voices.h"

struct placement {
	struct voices v;
	struct plan *p;
	struct frequency frequency;
	/* predecessors by block: preds[first[b] … first[b + 1]) */
	uint32_t *first, *preds;
	uint8_t *reached; /* of the search backward in progress */
	VEC(uint32_t) back;
};

/* Not in a landing pad that had no room for a witness. */
static bool may_choose(const struct placement *pl, const struct plan_site *s)
{
	const struct plan *p = pl->p;

	return s->probe && (!p->blocks.data[s->block].pad || pl->v.speaks[s->block]) && s->kind &&
	       !s->entry && !plan__tells_entry(p, s - p->sites.data) &&
	       !(p->functions.data[s->function].flags & (FUNCTION_SILENT | FUNCTION_RANGE));
}

static void drop(struct plan *p, struct plan_site *s)
{
	s->probe = 0;
	p->probes--;
}

/* ---- jumps and calls ---- */

/*
 * A call of anything but a traced function keeps its probe: what it calls may call traced
 * functions, and then nothing else would tell that the call came before them.
 */
static bool is_implied(struct placement *pl, const struct plan_site *s)
{
	const struct plan_block *b = &pl->p->blocks.data[s->block];

	if (s->kind == BRANCH_CALL)
		return pl->v.calls[s->block] && !b->noreturn;
	/* a jump out of the plan ends the call: only its own probe tells */
	return s->kind == BRANCH_JMP && b->taken != NO_BLOCK &&
	       !(pl->p->functions.data[pl->p->blocks.data[b->taken].function].flags &
		 FUNCTION_SILENT);
}

/* ---- conditionals ---- */

static void count_preds(struct placement *pl, bool fill, uint32_t *at)
{
	for (uint32_t b = 0; b < pl->p->blocks.len; b++) {
		autofree uint32_t *ways = NULL;
		size_t n;

		voices__ways(pl->p, b, &ways, &n);
		for (size_t i = 0; i < n; i++) {
			if (fill)
				pl->preds[at[ways[i]]] = b;
			at[ways[i]]++;
		}
	}
}

static void find_preds(struct placement *pl)
{
	size_t n = pl->p->blocks.len;
	autofree uint32_t *at = xcalloc(n + 1, sizeof(*at));
	uint32_t sum = 0;

	pl->first = xcalloc(n + 1, sizeof(*pl->first));
	count_preds(pl, false, at);
	for (size_t b = 0; b < n; b++) {
		pl->first[b] = sum;
		sum += at[b];
		at[b] = pl->first[b];
	}
	pl->first[n] = sum;
	pl->preds = xcalloc(sum + 1, sizeof(*pl->preds));
	count_preds(pl, true, at);
}

/* Are the ways on from the end of a silent block told apart? */
static bool is_told(struct placement *pl, uint32_t block)
{
	autofree uint32_t *ways = NULL;
	size_t n, one, other;

	if (pl->p->sites.data[pl->p->blocks.data[block].site].kind == BRANCH_RET)
		return true;
	voices__ways(pl->p, block, &ways, &n);
	return n < 2 ? n == 1 : !voices__conflict(&pl->v, ways, n, &one, &other);
}

static bool is_silent_end(const struct placement *pl, uint32_t block)
{
	uint32_t site = pl->p->blocks.data[block].site;

	return site == NO_SITE || (!pl->p->sites.data[site].probe && !pl->v.calls[block]);
}

/* Every silent branch from which control comes in silence to the end of block: still told apart? */
static bool all_told_behind(struct placement *pl, uint32_t block)
{
	bool good = is_told(pl, block);
	uint32_t *b;

	pl->back.len = 0;
	vec__push(&pl->back, block);
	pl->reached[block] = 1;
	for (size_t i = 0; good && i < pl->back.len; i++) {
		uint32_t at = pl->back.data[i];

		if (pl->v.speaks[at])
			continue;
		for (uint32_t k = pl->first[at]; good && k < pl->first[at + 1]; k++) {
			uint32_t pred = pl->preds[k];

			if (pl->reached[pred] || !is_silent_end(pl, pred))
				continue;
			pl->reached[pred] = 1;
			vec__push(&pl->back, pred);
			good = pl->p->blocks.data[pred].site == NO_SITE || is_told(pl, pred);
		}
	}
	vec__each (b, &pl->back)
		pl->reached[*b] = 0;
	return good;
}

/*
 * Behind a call of code that isn't traced the frame may be left by an exception or longjmp(3),
 * which looks the same from outside as a return: a ret that control can reach from there in silence
 * must speak.
 */
static bool ends_for_sure(struct placement *pl, uint32_t block)
{
	bool good = true;
	uint32_t *b;

	pl->back.len = 0;
	vec__push(&pl->back, block);
	pl->reached[block] = 1;
	for (size_t i = 0; good && i < pl->back.len; i++) {
		uint32_t at = pl->back.data[i];

		for (uint32_t k = pl->first[at]; good && k < pl->first[at + 1] && !pl->v.speaks[at];
		     k++) {
			uint32_t pred = pl->preds[k], site = pl->p->blocks.data[pred].site;
			uint8_t kind = site == NO_SITE ? BRANCH_NONE : pl->p->sites.data[site].kind;

			good = (kind != BRANCH_CALL && kind != BRANCH_ICALL) || pl->v.calls[pred];
			if (pl->reached[pred] || !is_silent_end(pl, pred))
				continue;
			pl->reached[pred] = 1;
			vec__push(&pl->back, pred);
		}
	}
	vec__each (b, &pl->back)
		pl->reached[*b] = 0;
	return good;
}

/* May control go in silence from the end of block to a silent ret? */
static bool runs_to_ret(struct placement *pl, uint32_t block)
{
	autofree uint32_t *ways = NULL;
	const uint32_t *voice;
	bool found = false;
	size_t n;

	voices__ways(pl->p, block, &ways, &n);
	for (size_t i = 0; i < n && !found; i++) {
		voices__from(&pl->v, ways[i]);
		vec__each (voice, &pl->v.heard)
			found |= *voice == VOICE_RET;
	}
	return found;
}

static bool try_silence(struct placement *pl, uint32_t site)
{
	struct plan_site *s = &pl->p->sites.data[site];

	drop(pl->p, s);
	if (all_told_behind(pl, s->block) &&
	    (!runs_to_ret(pl, s->block) || ends_for_sure(pl, s->block)))
		return true;
	s->probe = 1;
	pl->p->probes++;
	return false;
}

/* Silent, with a probe in the rarer of its two sides instead, where that is hit seldom enough. */
static bool try_witness(struct placement *pl, uint32_t site)
{
	const struct plan_block *b = &pl->p->blocks.data[pl->p->sites.data[site].block];
	double here = pl->frequency.of[pl->p->sites.data[site].block], taken, next;
	uint32_t rare;

	if (b->taken == NO_BLOCK || b->next == NO_BLOCK || b->taken == b->next)
		return false;
	taken = pl->frequency.of[b->taken];
	next = pl->frequency.of[b->next];
	rare = taken < next ? b->taken : b->next;
	if (pl->frequency.of[rare] > 0.4 * here || !voices__add_witness(&pl->v, rare, true))
		return false;
	if (try_silence(pl, site))
		return true;
	voices__drop_witness(&pl->v);
	return false;
}

struct candidate {
	uint32_t site;
	double weight;
};

static int dearest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* A conditional, or a jump by a table that is known whole. */
static bool is_candidate(const struct placement *pl, const struct plan_site *s)
{
	const struct plan *p = pl->p;
	const struct plan_block *b = &p->blocks.data[s->block];

	if (!may_choose(pl, s))
		return false;
	if (s->kind == BRANCH_IJMP)
		return b->ntable && !b->unresolved;
	return (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP) && b->taken != NO_BLOCK &&
	       b->next != NO_BLOCK && b->taken != b->next && !b->leaves;
}

static void choose(struct placement *pl, const struct cost_row *costs)
{
	VEC(struct candidate) list = {0};
	struct candidate *c;

	for (uint32_t i = 0; i < pl->p->sites.len; i++) {
		const struct plan_site *s = &pl->p->sites.data[i];
		unsigned cost = costs->cost[cost__class(costs, s->kind)];

		if (is_candidate(pl, s))
			vec__push(&list, (struct candidate){i, pl->frequency.of[s->block] * cost});
	}
	vec__sort(&list, dearest_first);
	vec__each (c, &list)
		if (!try_silence(pl, c->site))
			try_witness(pl, c->site);
	vec__free(&list);
}

/* ---- control that comes from elsewhere ---- */

/* Where a call returns twice (setjmp(3)) or the unwinder lands, silence would be taken for the
 * ordinary way. */
static void guard_landings(struct placement *pl)
{
	for (uint32_t i = 0; i < pl->p->blocks.len; i++) {
		const struct plan_block *b = &pl->p->blocks.data[i];
		const struct plan_site *s = b->site == NO_SITE ? NULL : &pl->p->sites.data[b->site];

		if (b->function == NO_FUNCTION ||
		    (pl->p->functions.data[b->function].flags & (FUNCTION_SILENT | FUNCTION_RANGE)))
			continue;
		if (b->pad)
			voices__add_witness(&pl->v, i, false);
		if (s && s->kind == BRANCH_CALL && b->next != NO_BLOCK &&
		    names__returns_twice(pl->p->objects.data[s->object].object, s->target))
			voices__add_witness(&pl->v, b->next, false);
	}
}

void placement__imply(struct plan *p)
{
	struct placement pl = {.p = p};

	voices__init(&pl.v, p);
	guard_landings(&pl);
	for (size_t i = 0; i < p->sites.len; i++)
		if (may_choose(&pl, &p->sites.data[i]) && is_implied(&pl, &p->sites.data[i]))
			drop(p, &p->sites.data[i]);
	voices__renumber(p);
	voices__free(&pl.v);
}

static void begin(struct placement *pl, struct plan *p, const struct plan_options *options)
{
	*pl = (struct placement){.p = p};
	voices__init(&pl->v, p);
	frequency__estimate(&pl->frequency, p, options);
	pl->reached = xcalloc(p->blocks.len + 1, 1);
	find_preds(pl);
}

static void end(struct placement *pl)
{
	voices__renumber(pl->p);
	voices__free(&pl->v);
	frequency__free(&pl->frequency);
	free(pl->first);
	free(pl->preds);
	free(pl->reached);
	vec__free(&pl->back);
}

/*
 * Functions that control leaves or begins anew by a jump to an entry: an entry that is heard then
 * may come from a ret and another call as well.
 */
static bool *jumping_functions(const struct plan *p)
{
	bool *jumps = xcalloc(p->functions.len + 1, sizeof(*jumps));
	const struct plan_block *b;

	vec__each (b, &p->blocks)
		if (b->function != NO_FUNCTION && b->taken != NO_BLOCK &&
		    plan__entry_speaks(p, b->object, p->blocks.data[b->taken].start))
			jumps[b->function] = true;
	return jumps;
}

void placement__silence_rets(struct plan *p, const struct plan_options *options)
{
	autofree bool *jumps = jumping_functions(p);
	struct placement pl;

	begin(&pl, p, options);
	/* with every conditional still speaking; what is silenced later is checked against these */
	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		/* a ret deeper on the stack than the return address is a jump */
		if (s->kind == BRANCH_RET && may_choose(&pl, s) && s->sp_delta == 0 &&
		    !jumps[s->function])
			p->silent_rets |= ends_for_sure(&pl, s->block) && try_silence(&pl, i);
	}
	end(&pl);
}

void placement__choose(struct plan *p, const struct plan_options *options)
{
	struct placement pl;

	begin(&pl, p, options);
	choose(&pl, cost__row(p->arch->machine, p->kernel, options->mechanism));
	end(&pl);
}
