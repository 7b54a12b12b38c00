// SPDX-License-Identifier: BSD-2-Clause
/*
 * How often blocks ran. A block that ends with a branch ran as often as the branch. One that falls
 * through ran as often as control entered it. If that is unknown (after a call, which need not
 * return), it ran as often as the next block, minus other entries of that one. A call that hasn't
 * returned may have ended within a block, by a crash: there control entered more often than it
 * left, and nothing follows from the next block's 0.
 */
#include "runs.h"

/* The known count of entries into a block, and the number of edges with unknown counts. */
struct inflow {
	uint64_t known;
	uint32_t unknown;
};

/* Returns what was observed: the 0 of a function that is untraced somewhere was made unknown. */
static uint64_t observed(const struct stats *p, uint32_t function, uint64_t n)
{
	return n == COUNT_UNKNOWN && function < p->nfunctions && p->untraced &&
			       p->untraced[function]
		       ? 0
		       : n;
}

static uint64_t taken_at(const struct stats *p, uint32_t site)
{
	return observed(p, p->plan->sites.data[site].function, p->sites[site].taken);
}

static uint64_t not_taken_at(const struct stats *p, uint32_t site)
{
	return observed(p, p->plan->sites.data[site].function, p->sites[site].not_taken);
}

static uint64_t runs_of_site(const struct stats *p, uint32_t site)
{
	if (taken_at(p, site) == COUNT_UNKNOWN || not_taken_at(p, site) == COUNT_UNKNOWN)
		return RUNS_UNKNOWN;
	return taken_at(p, site) + not_taken_at(p, site);
}

static uint64_t calls_of(const struct stats *p, uint32_t function)
{
	return observed(p, function, p->functions[function].calls);
}

/* Makes a block's 0 unknown, if its function is untraced somewhere. */
static uint64_t unless_untraced(const struct runs *r, uint32_t block)
{
	uint32_t function = r->stats->plan->blocks.data[block].function;

	return r->stats->untraced && function < r->stats->nfunctions && r->stats->untraced[function]
		       ? RUNS_UNKNOWN
		       : 0;
}

static bool is_call(const struct plan_site *s)
{
	return s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL;
}

static uint64_t fell_through(const struct runs *r, uint32_t block)
{
	const struct plan_block *b = &r->stats->plan->blocks.data[block];
	const struct plan_site *s;

	if (b->site == NO_SITE)
		return r->blocks[block];
	s = &r->stats->plan->sites.data[b->site];
	if (!r->known)
		return RUNS_UNKNOWN;
	if (plan_site__is_conditional(s))
		return not_taken_at(r->stats, b->site);
	return is_call(s) && runs_of_site(r->stats, b->site) ? RUNS_UNKNOWN : 0;
}

uint64_t runs__next(const struct runs *r, uint32_t block)
{
	uint64_t n = fell_through(r, block);

	return n ? n : unless_untraced(r, block);
}

static uint32_t object_at(const struct plan *plan, const char *path)
{
	for (uint32_t i = 0; i < plan->objects.len; i++)
		if (plan->objects.data[i].path == path || !strcmp(plan->objects.data[i].path, path))
			return i;
	return UINT32_MAX;
}

uint32_t runs__block_of(const struct plan *plan, const struct location *to)
{
	uint32_t object = to->object ? object_at(plan, to->object) : UINT32_MAX;

	return object == UINT32_MAX ? NO_BLOCK : plan__block_at(plan, object, to->vaddr);
}

static void come(struct inflow *in, uint32_t block, uint64_t count)
{
	if (block == NO_BLOCK)
		return;
	if (count == RUNS_UNKNOWN)
		in[block].unknown++;
	else
		in[block].known += count;
}

static void indirect_jump(const struct runs *r, const struct plan_block *b, struct inflow *in)
{
	const struct stats_site *ps = &r->stats->sites[b->site];
	const struct plan *plan = r->stats->plan;
	const struct stats_target *t;

	vec__each (t, &ps->targets)
		come(in, runs__block_of(plan, &t->to), t->count);
	for (uint32_t i = 0; i < b->ntable && (ps->more || ps->unknown_target); i++)
		come(in, plan->table.data[b->table + i], RUNS_UNKNOWN);
}

/* Adds the counts of a block's outgoing edges to its successors. */
static void leave(const struct runs *r, uint32_t block, struct inflow *in)
{
	const struct plan *plan = r->stats->plan;
	const struct plan_block *b = &plan->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &plan->sites.data[b->site];

	come(in, b->next, fell_through(r, block));
	if (s && s->kind == BRANCH_IJMP)
		indirect_jump(r, b, in);
	else if (s && !is_call(s))
		come(in, b->taken, taken_at(r->stats, b->site));
}

/* Initially known: blocks that end with a branch, and entries. */
static void begin(struct runs *r, struct inflow *in)
{
	const struct plan *plan = r->stats->plan;
	const struct plan_function *fn;

	for (uint32_t i = 0; i < plan->blocks.len; i++) {
		const struct plan_block *b = &plan->blocks.data[i];

		r->blocks[i] = b->site == NO_SITE ? RUNS_UNKNOWN : runs_of_site(r->stats, b->site);
		/* entered by the unwinder, or a part of a function, which may be entered from
		 * anywhere */
		in[i].unknown =
			b->abnormal || (b->function < plan->functions.len &&
					plan->functions.data[b->function].flags & FUNCTION_RANGE);
	}
	vec__each (fn, &plan->functions) {
		uint64_t calls = calls_of(r->stats, fn - plan->functions.data);

		if (fn->entry_block >= plan->blocks.len)
			continue;
		if (calls && r->blocks[fn->entry_block] == RUNS_UNKNOWN)
			r->blocks[fn->entry_block] = calls;
		else
			in[fn->entry_block].unknown++;
	}
}

/* Blocks without branch in address order: fall-through predecessors come first. */
static void by_inflow(struct runs *r, struct inflow *in)
{
	const struct plan *plan = r->stats->plan;

	for (uint32_t i = 0; i < plan->blocks.len; i++)
		if (plan->blocks.data[i].site != NO_SITE)
			leave(r, i, in);
	for (uint32_t i = 0; i < plan->blocks.len; i++) {
		if (plan->blocks.data[i].site != NO_SITE)
			continue;
		if (r->blocks[i] == RUNS_UNKNOWN && !in[i].unknown)
			r->blocks[i] = in[i].known;
		leave(r, i, in);
	}
}

/* Returns true if the block's function has calls that have not returned. */
static bool is_open(const struct runs *r, uint32_t block)
{
	uint32_t function = r->stats->plan->blocks.data[block].function;

	return function < r->stats->plan->functions.len && r->stats->functions[function].open;
}

/* The next block's count minus its other entries, if that is known. */
static uint64_t of_next(uint64_t count, const struct inflow *in)
{
	if (!count)
		return 0;
	return in->unknown == 1 && count >= in->known ? count - in->known : RUNS_UNKNOWN;
}

/* Computes, in reverse order, from the next block's count. */
static void by_outflow(struct runs *r, const struct inflow *in)
{
	const struct plan *plan = r->stats->plan;

	for (uint32_t i = plan->blocks.len; i-- > 0;) {
		uint32_t next = plan->blocks.data[i].next;
		uint64_t count = next == NO_BLOCK ? RUNS_UNKNOWN : r->blocks[next];

		if (plan->blocks.data[i].site != NO_SITE || count == RUNS_UNKNOWN)
			continue;
		if (r->blocks[i] != RUNS_UNKNOWN && !in[next].unknown && in[next].known != count &&
		    !is_open(r, i))
			r->blocks[i] = RUNS_UNKNOWN; /* untraced code jumps in, too */
		if (r->blocks[i] != RUNS_UNKNOWN)
			continue;
		count = of_next(count, &in[next]);
		if (count || !is_open(r, i))
			r->blocks[i] = count;
	}
}

/* Blocks with a branch that control has entered more often than it has executed the branch. */
static void by_entries(struct runs *r, const struct inflow *in)
{
	const struct plan *plan = r->stats->plan;
	const struct plan_function *fn;

	for (uint32_t i = 0; i < plan->blocks.len; i++) {
		if (plan->blocks.data[i].site == NO_SITE || !is_open(r, i))
			continue;
		r->blocks[i] = max_of(r->blocks[i], in[i].known);
		if (!r->blocks[i] && in[i].unknown)
			r->blocks[i] = RUNS_UNKNOWN;
	}
	vec__each (fn, &plan->functions) {
		uint64_t calls = calls_of(r->stats, fn - plan->functions.data);
		uint64_t *entry =
			fn->entry_block < plan->blocks.len ? &r->blocks[fn->entry_block] : NULL;

		if (calls && entry && (*entry == RUNS_UNKNOWN || *entry < calls))
			*entry = calls;
	}
}

/* A 0 that was not observed. */
static void forget_zeros(struct runs *r)
{
	for (uint32_t i = 0; i < r->stats->plan->blocks.len; i++)
		if (!r->blocks[i])
			r->blocks[i] = unless_untraced(r, i);
}

static void find_most(struct runs *r)
{
	const struct plan *plan = r->stats->plan;

	for (uint32_t i = 0; i < plan->blocks.len; i++) {
		uint32_t function = plan->blocks.data[i].function;

		if (function < plan->functions.len && r->blocks[i] != RUNS_UNKNOWN)
			r->most[function] = max_of(r->most[function], r->blocks[i]);
	}
}

/* Leaves out functions that are not shown. */
static void leave_out(struct runs *r, const bool *functions)
{
	const struct plan *plan = r->stats->plan;

	for (uint32_t i = 0; i < plan->blocks.len; i++) {
		uint32_t function = plan->blocks.data[i].function;

		if (function < plan->functions.len && !functions[function])
			r->blocks[i] = 0;
	}
}

void runs__init(struct runs *r, const struct stats *p, const struct output_options *options)
{
	unsigned events = options->events;
	size_t n = p->plan->blocks.len;
	autofree struct inflow *in = xcalloc(n + 1, sizeof(*in));

	*r = (struct runs){.stats = p,
			   .blocks = xcalloc(n + 1, sizeof(*r->blocks)),
			   .most = xcalloc(p->plan->functions.len + 1, sizeof(*r->most)),
			   .known = !options->unobserved && (!events || events & PLAN_BRANCH),
			   .all = options->unobserved};
	if (!r->known) {
		memset(r->blocks, 0xff, n * sizeof(*r->blocks));
		return;
	}
	if (p->blocks) {
		memcpy(r->blocks, p->blocks, n * sizeof(*r->blocks));
		if (options->functions)
			leave_out(r, options->functions);
	} else {
		begin(r, in);
		by_inflow(r, in);
		by_outflow(r, in);
		by_entries(r, in);
	}
	forget_zeros(r);
	find_most(r);
}

void runs__free(struct runs *r)
{
	free(r->blocks);
	free(r->most);
}

bool runs__ran(const struct runs *r, uint32_t function)
{
	const struct stats_function *pf = &r->stats->functions[function];

	return r->all || pf->calls || pf->branches || pf->unseen;
}
