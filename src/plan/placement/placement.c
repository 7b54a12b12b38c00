// SPDX-License-Identifier: BSD-2-Clause
/*
 * Placement: removes the probes that are not needed. The entry of a traced function implies the
 * call, the next event implies a direct jump, and also a conditional whose outcomes have disjoint
 * frontiers, as long as no unprobed cycle remains (Ball and Larus, "Optimally Profiling and Tracing
 * Programs", TOPLAS 16(4), 1994). Greedy: the costliest probes go first.
 */
#include <stdlib.h>
#include "plan/graph/acyclic.h"
#include "cost.h"
#include "frequency_private.h"
#include "frontier_private.h"

struct placement {
	struct frontier f;
	struct plan *p;
	struct frequency frequency;
	uint8_t *reached; /* of the current backward search */
	const bool
		*ends; /* by site, nends of them: plan__ends_iterations(); NULL if not asked for */
	size_t nends;
	bool *unseen; /* by block: returns__unseen_ends(); NULL without return probes */
	VEC(uint32_t) back;
};

/* Returns true if the branch leads into a function or out of one. Where entries may have no event,
 * nothing else shows that. */
static bool passes_call(const struct placement *pl, const struct plan_site *s)
{
	const struct plan_flow *flow = &pl->f.flow;
	bool enters = s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL || s->kind == BRANCH_RET;

	for (uint32_t i = flow->out[s->block]; !enters && i < flow->out[s->block + 1]; i++)
		enters = plan__is_entry_block(pl->p, flow->successors[i]);
	return enters;
}

/* Returns true if the probe may be removed. In a landing without a witness it may not: the block
 * may have room for none, being a single compare-and-branch. */
static bool may_choose(const struct placement *pl, const struct plan_site *s)
{
	const struct plan *p = pl->p;

	if (pl->ends && (size_t)(s - p->sites.data) < pl->nends && pl->ends[s - p->sites.data])
		return false;
	if (p->mutes && passes_call(pl, s))
		return false;
	return s->probe != PROBE_NONE && !s->kept && s->kind && !s->entry &&
	       !plan__reports_entry(p, s - p->sites.data) &&
	       !(p->functions.data[s->function].flags & (FUNCTION_HELPER | FUNCTION_RANGE)) &&
	       !p->functions.data[s->function].irregular &&
	       (pl->f.flow.marked[s->block] || !p->blocks.data[s->block].abnormal);
}

static void drop(struct plan *p, struct plan_site *s)
{
	s->probe = PROBE_NONE;
	p->probes--;
}

/* ---- jumps and calls ---- */

/* A call of an untraced function keeps its probe: the callee may call traced functions, and only
 * the probe shows that the call preceded them. */
static bool is_implied(struct placement *pl, const struct plan_site *s)
{
	const struct plan_block *b = &pl->p->blocks.data[s->block];

	if (s->kind == BRANCH_CALL)
		return pl->f.flow.enters[s->block] && !b->noreturn;
	/* A jump out of the plan ends the call: only its own probe shows it. */
	return s->kind == BRANCH_JMP && b->taken != NO_BLOCK &&
	       !(pl->p->functions.data[pl->p->blocks.data[b->taken].function].flags &
		 FUNCTION_HELPER);
}

/* ---- conditionals ---- */

/* Returns true if later events distinguish the outcomes of an unprobed branch. */
static bool is_decided(struct placement *pl, uint32_t block)
{
	uint32_t one, other;

	if (plan_flow__is_unprobed_ret(&pl->f.flow, block))
		return true;
	if (plan_flow__count(&pl->f.flow, block) < 2)
		return plan_flow__count(&pl->f.flow, block);
	return !frontier__conflict(&pl->f, block, &one, &other);
}

static bool is_unprobed_end(const struct placement *pl, uint32_t block)
{
	return !plan_flow__is_probed(&pl->f.flow, block);
}

/* ---- backward searches: the blocks from which an unprobed path leads to the end of one ---- */

static void search__begin(struct placement *pl, uint32_t block)
{
	pl->back.len = 0;
	vec__push(&pl->back, block);
	pl->reached[block] = 1;
}

/* Returns false if the block was reached before, or if its end is probed. */
static bool search__add(struct placement *pl, uint32_t block)
{
	if (pl->reached[block] || !is_unprobed_end(pl, block))
		return false;
	pl->reached[block] = 1;
	vec__push(&pl->back, block);
	return true;
}

static void search__end(struct placement *pl)
{
	const uint32_t *b;

	vec__each (b, &pl->back)
		pl->reached[*b] = 0;
}

/* Returns true if the outcomes of every unprobed branch from which an unprobed path leads to the
 * end of block are still distinguishable. */
static bool all_decided_after(struct placement *pl, uint32_t block)
{
	bool good = is_decided(pl, block);

	search__begin(pl, block);
	for (size_t i = 0; good && i < pl->back.len; i++) {
		uint32_t at = pl->back.data[i];

		if (pl->f.flow.marked[at])
			continue;
		for (uint32_t k = pl->f.flow.in[at]; good && k < pl->f.flow.in[at + 1]; k++) {
			uint32_t pred = pl->f.flow.predecessors[k];

			if (search__add(pl, pred))
				good = pl->p->blocks.data[pred].site == NO_SITE ||
				       is_decided(pl, pred);
		}
	}
	search__end(pl);
	return good;
}

/*
 * In a call of untraced code, an exception or longjmp(3) may leave the frame, which looks like a
 * return from outside. So a ret that an unprobed path reaches from such a call must keep its probe.
 */
static bool ends_for_sure(struct placement *pl, uint32_t block)
{
	bool good = true;

	search__begin(pl, block);
	for (size_t i = 0; good && i < pl->back.len; i++) {
		uint32_t at = pl->back.data[i];

		for (uint32_t k = pl->f.flow.in[at];
		     good && k < pl->f.flow.in[at + 1] && !pl->f.flow.marked[at]; k++) {
			uint32_t pred = pl->f.flow.predecessors[k],
				 site = pl->p->blocks.data[pred].site;
			uint8_t kind = site == NO_SITE ? BRANCH_NONE : pl->p->sites.data[site].kind;

			good = (kind != BRANCH_CALL && kind != BRANCH_ICALL) ||
			       pl->f.flow.enters[pred];
			search__add(pl, pred);
		}
	}
	search__end(pl);
	return good;
}

/* Returns true if an unprobed path leads from the end of block to an unprobed ret. */
static bool reaches_ret(struct placement *pl, uint32_t block)
{
	const uint32_t *successors = plan_flow__successors(&pl->f.flow, block), *m;
	uint32_t n = plan_flow__count(&pl->f.flow, block);
	bool found = false;

	for (uint32_t i = 0; i < n && !found; i++) {
		frontier__of(&pl->f, successors[i]);
		vec__each (m, &pl->f.members)
			found |= *m == FRONTIER_RET;
	}
	return found;
}

/* Returns true if the end of the calls that take this branch has an event of its own: that of a
 * return probe. */
static bool returns_are_reported(const struct placement *pl, uint32_t site)
{
	return pl->p->return_probes && !plan__is_kernel_site(pl->p, site);
}

static bool try_unprobed(struct placement *pl, uint32_t site)
{
	struct plan_site *s = &pl->p->sites.data[site];

	drop(pl->p, s);
	if (all_decided_after(pl, s->block) &&
	    (returns_are_reported(pl, site) || !reaches_ret(pl, s->block) ||
	     ends_for_sure(pl, s->block)))
		return true;
	s->probe = PROBE_TRAP;
	pl->p->probes++;
	return false;
}

/* Replaces the probe of a conditional by a witness in its rarer successor, if that is hit rarely
 * enough. */
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
	if (pl->frequency.of[rare] > 0.4 * here ||
	    !frontier__add_witness(&pl->f, rare, PLACE_EMULATED))
		return false;
	if (try_unprobed(pl, site))
		return true;
	frontier__drop_witness(&pl->f);
	return false;
}

struct candidate {
	uint32_t site;
	double weight;
};

static int costliest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* Returns true for a conditional, or a jump by a completely known table. */
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

static void choose(struct placement *pl, const struct plan_options *options)
{
	/* NULL: all hits cost the same */
	const struct cost_row *rows[] = {cost__row(pl->p->arch, false, options),
					 cost__row(pl->p->arch, true, options)};
	VEC(struct candidate) list = {0};
	struct candidate *c;

	for (uint32_t i = 0; i < pl->p->sites.len; i++) {
		const struct plan_site *s = &pl->p->sites.data[i];
		const struct cost_row *row = rows[plan__is_kernel_site(pl->p, i)];
		unsigned cost = row ? row->cost[cost__class(row, s)] : 1;

		if (is_candidate(pl, s))
			vec__push(&list, (struct candidate){i, pl->frequency.of[s->block] * cost});
	}
	vec__sort(&list, costliest_first);
	vec__each (c, &list)
		if (!try_unprobed(pl, c->site))
			try_witness(pl, c->site);
	vec__free(&list);
}

/* ---- abnormal entries ---- */

/* Puts witnesses where control enters by no edge of the graph, or by one edge twice. Without a
 * witness the replay would assume the ordinary path. */
static void guard_landings(struct placement *pl, enum witness_place least)
{
	for (uint32_t i = 0; i < pl->p->blocks.len; i++) {
		const struct plan_block *b = &pl->p->blocks.data[i];

		if (b->function == NO_FUNCTION ||
		    (pl->p->functions.data[b->function].flags & (FUNCTION_HELPER | FUNCTION_RANGE)))
			continue;
		if (b->abnormal)
			frontier__add_witness(&pl->f, i, least);
	}
}

/* Without branches: puts witnesses where a call continues that others were left for, and where it
 * becomes another function's. */
static void guard_calls(struct plan *p)
{
	struct placement pl = {.p = p};

	frontier__init(&pl.f, p);
	guard_landings(&pl, PLACE_READ);
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		if (b->site == NO_SITE && b->next != NO_BLOCK && plan__is_entry_block(p, b->next))
			frontier__add_witness(&pl.f, i, PLACE_READ);
	}
	frontier__free(&pl.f);
}

static void imply(struct plan *p, const bool *ends, size_t nends)
{
	struct placement pl = {.p = p, .ends = ends, .nends = nends};

	frontier__init(&pl.f, p);
	/* Functions that are entered at addresses keep all their probes, which show where control
	 * continues without a witness, too. */
	guard_landings(&pl, PLACE_STEPPED);
	for (size_t i = 0; i < p->sites.len; i++)
		if (may_choose(&pl, &p->sites.data[i]) && is_implied(&pl, &p->sites.data[i]))
			drop(p, &p->sites.data[i]);
	frontier__free(&pl.f);
}

static void begin(struct placement *pl, struct plan *p, const struct plan_options *options)
{
	*pl = (struct placement){.p = p};
	frontier__init(&pl->f, p);
	frequency__estimate(&pl->frequency, &pl->f.flow, options);
	pl->reached = xcalloc(p->blocks.len + 1, 1);
}

static void end(struct placement *pl)
{
	frontier__free(&pl->f);
	frequency__free(&pl->frequency);
	free(pl->reached);
	vec__free(&pl->back);
}

/* Returns the functions that jump to an entry, their own or another's: the event of such an entry
 * may as well follow a ret and another call. */
static bool *jumping_functions(const struct plan_flow *flow)
{
	const struct plan *p = flow->plan;
	bool *jumps = xcalloc(p->functions.len + 1, sizeof(*jumps));

	for (uint32_t b = 0; b < p->blocks.len; b++)
		for (uint32_t i = flow->out[b]; i < flow->out[b + 1]; i++)
			if (p->blocks.data[b].function != NO_FUNCTION &&
			    plan__is_entry_block(p, flow->successors[i]))
				jumps[p->blocks.data[b].function] = true;
	return jumps;
}

/* Returns true for a ret that can't carry a probe: arm64's retaa. False if it may not be an
 * instruction. */
static bool is_refused_ret(const struct plan *p, uint32_t site)
{
	const struct plan_site *s = &p->sites.data[site];

	return s->kind == BRANCH_RET && s->refusal != PROBE_OK && s->refusal != PROBE_UNPROVED &&
	       s->probe == PROBE_NONE && !plan__is_kernel_site(p, site) &&
	       plan__traces(p, s->function);
}

/* Returns true if the stack and the next event show, for each refused ret, that it ended a call. */
static bool refused_rets_show_ends(const struct plan *p, const bool *jumps)
{
	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		if (is_refused_ret(p, i) &&
		    (s->sp_delta != 0 || s->operand.disp || jumps[s->function]))
			return false;
	}
	return true;
}

static bool has_refused_rets(const struct plan *p)
{
	bool any = false;

	for (uint32_t i = 0; !any && i < p->sites.len; i++)
		any = is_refused_ret(p, i);
	return any;
}

/* The path implies these rets, as it does those that need no probe: replay__end_unprobed(). */
static void accept_refused_rets(struct plan *p)
{
	autofree bool *jumps = NULL;
	struct frontier f;

	frontier__init(&f, p);
	jumps = jumping_functions(&f.flow);
	frontier__free(&f);
	p->unprobed_rets |= refused_rets_show_ends(p, jumps);
}

static void unprobe_rets(struct plan *p, const struct plan_options *options)
{
	autofree bool *jumps = NULL;
	struct placement pl;
	bool unsure;

	begin(&pl, p, options);
	jumps = jumping_functions(&pl.f.flow);
	unsure = !refused_rets_show_ends(p, jumps);
	/* While every conditional is still probed; later removals are checked against these. */
	for (uint32_t i = 0; !unsure && i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		/* A ret that is deeper on the stack than the return address is a jump. */
		if (s->kind == BRANCH_RET && !plan__is_kernel_site(p, i) && may_choose(&pl, s) &&
		    s->sp_delta == 0 && !jumps[s->function])
			p->unprobed_rets |= ends_for_sure(&pl, s->block) && try_unprobed(&pl, i);
	}
	end(&pl);
}

/* ---- rets that a return probe's event implies ---- */

/* Returns true if control may enter, by no edge of the graph, a block on an unprobed path to the
 * end of this one. Then a call's last event wouldn't show where the call is. */
static bool is_entered_unseen(struct placement *pl, uint32_t block)
{
	const struct plan *p = pl->p;
	bool unseen = false;

	search__begin(pl, block);
	for (size_t i = 0; !unseen && i < pl->back.len; i++) {
		uint32_t at = pl->back.data[i];

		if (pl->f.flow.marked[at])
			continue;
		unseen = p->blocks.data[at].abnormal;
		for (uint32_t k = pl->f.flow.in[at]; !unseen && k < pl->f.flow.in[at + 1]; k++)
			search__add(pl, pl->f.flow.predecessors[k]);
	}
	search__end(pl);
	return unseen;
}

static bool may_imply_ret(struct placement *pl, uint32_t site)
{
	const struct plan_site *s = &pl->p->sites.data[site];

	/* After a ret that pops arguments, the stack pointer doesn't identify the call. */
	return s->kind == BRANCH_RET && !plan__is_kernel_site(pl->p, site) && s->sp_delta == 0 &&
	       !s->operand.disp && may_choose(pl, s) && !pl->unseen[s->block];
}

/* Where the same events lead to two rets, a witness in front of one costs less than its probe. */
static void imply_ret(struct placement *pl, uint32_t site)
{
	uint32_t block = pl->p->sites.data[site].block;

	if (is_entered_unseen(pl, block) || try_unprobed(pl, site))
		return;
	if (!frontier__add_witness(&pl->f, block, PLACE_EMULATED) || try_unprobed(pl, site))
		return;
	frontier__drop_witness(&pl->f);
}

static void imply_rets(struct plan *p, const struct plan_options *options)
{
	uint32_t nsites = p->sites.len; /* without the witnesses that are added */
	struct placement pl;

	begin(&pl, p, options);
	pl.unseen = returns__unseen_ends(&pl.f.flow);
	for (uint32_t i = 0; i < nsites; i++)
		if (may_imply_ret(&pl, i))
			imply_ret(&pl, i);
	free(pl.unseen);
	end(&pl);
}

static void choose_all(struct plan *p, const struct plan_options *options, const bool *ends,
		       size_t nends)
{
	struct placement pl;

	begin(&pl, p, options);
	pl.ends = ends;
	pl.nends = nends;
	choose(&pl, options);
	end(&pl);
}

void placement__count_unprobed(struct plan *p)
{
	struct plan_function *f;
	const struct plan_site *s;

	vec__each (f, &p->functions)
		f->unprobed = 0;
	vec__each (s, &p->sites)
		p->functions.data[s->function].unprobed +=
			s->kind != BRANCH_NONE && !plan_site__has_events(s);
}

void placement__place(struct plan *p, const struct plan_options *options)
{
	autofree bool *ends = options->path_ends ? plan__ends_iterations(p) : NULL;
	const size_t nends = p->sites.len;

	irregular__find(p);
	if (options->before)
		keep__probes(p, options->before);
	if (options->placement == PLACEMENT_COUNT) {
		p->placement = PLACEMENT_COUNT;
		p->retires = options->retire;
		p->counts_all = options->count_all && !options->retire;
		counting__place(p, options);
		placement__count_unprobed(p);
		return;
	}
	p->placement = options->events & PLAN_BRANCH ? options->placement : PLACEMENT_FULL;
	if (p->return_probes)
		returns__check(p);
	if (p->placement != PLACEMENT_FULL)
		imply(p, ends, nends);
	else if (!(options->events & PLAN_BRANCH))
		guard_calls(p);
	if (options->events & PLAN_BRANCH)
		witness__place(p);
	if (p->return_probes && options->events & PLAN_BRANCH)
		imply_rets(p, options);
	else if (p->placement == PLACEMENT_WITNESS && !(options->events & PLAN_RETURN))
		unprobe_rets(p, options);
	if (!p->return_probes && options->events & PLAN_BRANCH && has_refused_rets(p))
		accept_refused_rets(p);
	if (p->placement == PLACEMENT_WITNESS)
		choose_all(p, options, ends, nends);
	placement__count_unprobed(p);
}
