// SPDX-License-Identifier: BSD-2-Clause
/*
 * Placement count: which instructions are counted, so that all other counts follow. The counts of a
 * set of edges follow from the others if the set has no cycle (Knuth). This starts with all of them
 * counted, and drops the costliest as long as no cycle arises. A conditional's probe counts two
 * edges.
 */
#include <stdlib.h>
#include "cost.h"
#include "plan/counting/circulation_private.h"
#include "frequency_private.h"

/* ---- what may be counted ---- */

/* The place where an inside edge is counted. */
struct spot {
	uint64_t vaddr;
	uint32_t block;
	uint32_t site; /* NO_SITE if a witness would be put there */
	unsigned cost; /* of a hit; 0 if nothing in the edge can be counted */
	uint8_t len, traps;
};

struct candidate {
	double weight;
	uint32_t from, to; /* the edges that it counts */
	uint32_t spot;	   /* index into spots; NO_SPOT for the branch of .block */
	uint32_t block;
	bool counted;
};
#define NO_SPOT UINT32_MAX

struct counting {
	struct plan *p;
	const struct plan_options *options;
	const struct cost_row *rows[2]; /* of programs, of the kernel */
	struct circulation c;
	struct frequency frequency;
	bool *exposed;		/* by function */
	struct map64 refused;	/* place_key() of the instructions that the kernel refused */
	VEC(struct spot) spots; /* by block and break */
	uint32_t *first_spot;	/* by block */
	VEC(struct candidate) candidates;
	uint32_t *set; /* by point: a point of the same connected component, or itself */
	uint32_t *size;
	VEC(uint32_t) joined; /* what join() changed, to be undone */
};

static bool wants_branches(const struct counting *k)
{
	return k->options->events & (PLAN_BRANCH | PLAN_RETURN);
}

/* Only a probe of its own shows the targets of a call or jump to anywhere. */
static bool shows_targets(const struct plan *p, const struct plan_site *s)
{
	const struct plan_block *b = &p->blocks.data[s->block];

	return s->kind == BRANCH_ICALL ||
	       (s->kind == BRANCH_IJMP && (b->unresolved || b->outward || !b->ntable));
}

static bool is_shown(const struct plan *p, const struct plan_site *s)
{
	return s->role != ROLE_WITNESS && p->blocks.data[s->block].function != NO_FUNCTION &&
	       !(p->functions.data[p->blocks.data[s->block].function].flags & FUNCTION_HELPER) &&
	       !(p->functions.data[s->function].flags & FUNCTION_HELPER);
}

static bool must_count(const struct counting *k, const struct plan_site *s)
{
	if (s->kept)
		return true;
	if (!is_shown(k->p, s) || s->refusal != PROBE_OK)
		return false;
	if (!wants_branches(k))
		return k->options->count_all && s->entry && !s->repeats;
	if (s->role == ROLE_ENTRY)
		return k->options->count_all && !s->repeats;
	return k->options->count_all || k->exposed[k->p->blocks.data[s->block].function] ||
	       shows_targets(k->p, s);
}

static unsigned cost_of(const struct counting *k, bool kernel, bool entry, unsigned traps)
{
	const struct cost_row *row = k->rows[kernel];

	return !row	? 1
	       : kernel ? row->cost[entry ? COST_FTRACE : COST_BREAKPOINT]
			: row->cost[traps == 1 ? COST_EMULATED : COST_STEPPED];
}

/* ---- what the kernel refused when it was attached ---- */

/* Returns a key that is unique for each place of an ordinary plan; in others an instruction may be
 * mistaken for a refused one. */
static uint64_t place_key(uint32_t object, uint64_t vaddr)
{
	return vaddr ^ (uint64_t)object << 48;
}

static void note_refused(struct counting *k)
{
	const struct plan_site *s;

	vec__each (s, &k->p->sites)
		if (s->refusal == PROBE_KERNEL)
			*map64__put(&k->refused, place_key(s->object, s->vaddr + s->probe_at)) = 1;
}

/* ---- the cheapest instruction of each inside edge ---- */

static void offer(struct spot *to, const struct spot *from)
{
	if (from->cost && (!to->cost || from->cost < to->cost))
		*to = *from;
}

/* Returns true if a probe there is accepted, and hit exactly once when the instruction is
 * executed. */
static bool can_count(const struct counting *k, const struct plan_block *b, const struct insn *insn)
{
	const struct plan_object *po = &k->p->objects.data[b->object];

	return !b->unfit && insn->flow == FLOW_NEXT && !insn->repeats && !insn->enters_kernel &&
	       insn__refusal(k->p->arch, po->object, po->kernel, insn) == PROBE_OK &&
	       !(insn->patchable && k->options->patchable_unsafe) &&
	       !map64__get(&k->refused, place_key(b->object, insn->addr));
}

static bool decode_at(const struct plan *p, const struct plan_block *b, uint64_t addr,
		      struct insn *insn)
{
	const struct plan_object *po = &p->objects.data[b->object];
	size_t avail;
	const uint8_t *bytes = object__bytes(po->object, addr, &avail);

	return bytes && !p->arch->decode(bytes, avail, object__code_address(po->object, addr),
					 po->kernel, insn);
}

static void offer_insn(struct counting *k, uint32_t block, const struct insn *insn)
{
	bool kernel = k->p->objects.data[k->p->blocks.data[block].object].kernel;
	struct spot spot = {.vaddr = insn->addr,
			    .block = block,
			    .site = NO_SITE,
			    .len = insn->len,
			    .traps = insn__traps(insn, kernel)};

	if (!can_count(k, &k->p->blocks.data[block], insn))
		return;
	/* The kernel may rewrite a nop, and then refuses it. */
	spot.cost = cost_of(k, kernel, false, spot.traps) + (kernel && insn->padding);
	if (insn__may_be_read(&k->p->blocks.data[block], insn->addr, insn))
		spot.cost += cost_of(k, kernel, false, 2);
	offer(vec__last(&k->spots), &spot);
}

/* Most blocks have no break: then the first cheap instruction is enough. */
static bool is_enough(const struct counting *k, const struct plan_block *b)
{
	const struct spot *s = vec__last(&k->spots);

	return b->quick && !k->p->objects.data[b->object].kernel &&
	       s->cost == cost_of(k, false, false, 1);
}

static void search_block(struct counting *k, uint32_t block)
{
	const struct plan_block *b = &k->p->blocks.data[block];
	struct insn insn;

	k->first_spot[block] = k->spots.len;
	(void)vec__add(&k->spots);
	for (uint64_t addr = b->start; addr < b->end; addr += insn.len) {
		if (!decode_at(k->p, b, addr, &insn))
			return;
		insn__settle(k->p, b->object, b->function, &insn);
		offer_insn(k, block, &insn);
		if (is_enough(k, b))
			return;
		if (!insn.enters_kernel || insn.flow != FLOW_NEXT)
			continue;
		vec__push(&k->p->breaks, (struct plan_break){addr + insn.len, block});
		(void)vec__add(&k->spots);
	}
}

static void search_blocks(struct counting *k)
{
	k->first_spot = xcalloc(k->p->blocks.len + 1, sizeof(*k->first_spot));
	k->p->breaks.len = 0;
	for (uint32_t b = 0; b < k->p->blocks.len; b++)
		search_block(k, b);
}

/* The kernel refuses probes on static calls and keys, which it rewrites. */
static bool may_be_rewritten(const struct plan_site *s)
{
	return s->kind == BRANCH_CALL || s->kind == BRANCH_JMP;
}

/* Prefers sites that exist anyway to witnesses of the same cost, except for those that the kernel
 * may refuse. */
static void offer_site(struct counting *k, uint32_t site)
{
	const struct plan_site *s = &k->p->sites.data[site];
	bool kernel = plan__is_kernel_site(k->p, site);
	struct spot spot = {.vaddr = s->vaddr + s->probe_at,
			    .block = s->block,
			    .site = site,
			    .len = s->len,
			    .traps = s->traps},
		    *to;
	uint32_t from, end;

	circulation__counted(&k->c, site, &from, &end);
	if (!is_shown(k->p, s) || s->refusal != PROBE_OK || s->repeats || from == end ||
	    k->c.edges.data[from].kind != EDGE_INSIDE)
		return;
	spot.cost = cost_of(k, kernel, s->entry, s->traps);
	to = &k->spots.data[k->first_spot[s->block] + from - k->c.first[s->block]];
	if (kernel && may_be_rewritten(s))
		spot.cost++;
	else if (to->cost == spot.cost && to->site == NO_SITE)
		to->cost++;
	offer(to, &spot);
}

/* ---- candidates ---- */

static bool *start(struct counting *k)
{
	struct plan_site *s;

	k->exposed = circulation__exposed(k->p);
	note_refused(k);
	k->p->probes = 0;
	vec__each (s, &k->p->sites) {
		s->probe = must_count(k, s) ? PROBE_COUNT : PROBE_NONE;
		k->p->probes += s->probe == PROBE_COUNT;
	}
	search_blocks(k);
	circulation__init(&k->c, k->p);
	for (uint32_t i = 0; i < k->p->sites.len; i++)
		offer_site(k, i);
	return circulation__known(&k->c);
}

/* Adds a conditional, or a jump by a table. */
static void add_branch(struct counting *k, uint32_t block)
{
	uint32_t site = k->p->blocks.data[block].site;
	const struct plan_site *s = site == NO_SITE ? NULL : &k->p->sites.data[site];
	struct candidate c = {.spot = NO_SPOT, .block = block};

	if (!s || s->probe == PROBE_COUNT || s->refusal != PROBE_OK || !is_shown(k->p, s))
		return;
	circulation__counted(&k->c, site, &c.from, &c.to);
	if (c.from == c.to || k->c.edges.data[c.from].kind == EDGE_INSIDE)
		return;
	c.weight = k->frequency.of[block] *
		   cost_of(k, plan__is_kernel_site(k->p, site), s->entry, s->traps);
	vec__push(&k->candidates, c);
}

static void add_spots(struct counting *k, uint32_t block, const bool *known)
{
	uint32_t n = k->c.breaks[block + 1] - k->c.breaks[block] + 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t edge = k->c.first[block] + i, spot = k->first_spot[block] + i;
		double weight = k->frequency.of[block] * k->spots.data[spot].cost;

		if (k->spots.data[spot].cost && !known[edge])
			vec__push(&k->candidates,
				  (struct candidate){weight, edge, edge + 1, spot, block, false});
	}
}

static void add_candidates(struct counting *k, const bool *known)
{
	for (uint32_t b = 0; b < k->p->blocks.len; b++)
		if (k->c.start[b] != OUTSIDE) {
			add_branch(k, b);
			add_spots(k, b, known);
		}
}

/* Of the same weight, what counts one edge is before what counts several. */
static int costliest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	uint32_t one = x->to - x->from, other = y->to - y->from;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (one != other)
		return one < other ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* ---- which edges are connected by unknown ones ---- */

static uint32_t set_of(const struct counting *k, uint32_t point)
{
	while (k->set[point] != point)
		point = k->set[point];
	return point;
}

/* Returns false if the edge's points were already connected. */
static bool join(struct counting *k, uint32_t edge)
{
	uint32_t a = set_of(k, k->c.edges.data[edge].from), b = set_of(k, k->c.edges.data[edge].to);

	if (a == b)
		return false;
	if (k->size[a] > k->size[b]) {
		uint32_t larger = a;

		a = b;
		b = larger;
	}
	k->set[a] = b;
	k->size[b] += k->size[a];
	vec__push(&k->joined, a);
	return true;
}

static void undo(struct counting *k)
{
	while (k->joined.len) {
		uint32_t a = k->joined.data[--k->joined.len];

		k->size[k->set[a]] -= k->size[a];
		k->set[a] = a;
	}
}

/* Returns true if the counts of all the candidate's edges follow without its probe. */
static bool try_uncounted(struct counting *k, const struct candidate *c)
{
	k->joined.len = 0;
	for (uint32_t edge = c->from; edge < c->to; edge++)
		if (!join(k, edge)) {
			undo(k);
			return false;
		}
	return true;
}

/* Edges that no candidate counts are unknown from the start; their cycles can't be avoided. */
static void join_uncountable(struct counting *k, bool *known)
{
	const struct candidate *c;

	k->set = xcalloc(k->c.points, sizeof(*k->set));
	k->size = xcalloc(k->c.points, sizeof(*k->size));
	for (uint32_t i = 0; i < k->c.points; i++) {
		k->set[i] = i;
		k->size[i] = 1;
	}
	vec__each (c, &k->candidates)
		for (uint32_t edge = c->from; edge < c->to; edge++)
			known[edge] = true;
	for (uint32_t edge = 0; edge < k->c.edges.len; edge++)
		if (!known[edge])
			join(k, edge);
}

/* ---- fewer probes for the same cost ---- */

/* Counts a conditional instead of both blocks that follow it. If no other edge leads to such a
 * block, its start is a child of the conditional; else its end is a child of what follows it. */
static void count_instead(struct counting *k)
{
	autofree uint32_t *at = xcalloc(k->c.edges.len + 1, sizeof(*at)),
			  *in = xcalloc(k->c.points + 1, sizeof(*in));
	struct candidate *c;

	for (size_t i = 0; i < k->c.edges.len; i++)
		in[k->c.edges.data[i].to]++;
	for (uint32_t i = 0; i < k->candidates.len; i++)
		if (k->candidates.data[i].counted && k->candidates.data[i].spot != NO_SPOT)
			at[k->candidates.data[i].from] = i + 1;
	vec__each (c, &k->candidates) {
		const struct plan_block *b = &k->p->blocks.data[c->block];
		struct candidate *one, *other;

		if (c->counted || c->spot != NO_SPOT || c->to - c->from != 2 ||
		    k->c.edges.data[c->from].kind != EDGE_TAKEN || b->taken == NO_BLOCK ||
		    b->next == NO_BLOCK || b->taken == b->next || in[k->c.start[b->taken]] != 1 ||
		    in[k->c.start[b->next]] != 1 || !at[k->c.first[b->taken]] ||
		    !at[k->c.first[b->next]])
			continue;
		one = &k->candidates.data[at[k->c.first[b->taken]] - 1];
		other = &k->candidates.data[at[k->c.first[b->next]] - 1];
		if (c->weight > 1.001 * (one->weight + other->weight))
			continue;
		c->counted = true;
		one->counted = other->counted = false;
	}
}

/* ---- the result ---- */

/* Returns a witness that was chosen before; NO_SITE if there is none. */
static uint32_t find_witness(const struct plan *p, const struct spot *at)
{
	uint32_t object = p->blocks.data[at->block].object;
	size_t i = plan__sites_from(p, object, at->vaddr);

	for (; i < p->sites_by_address.len; i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];

		if (s->object != object || s->vaddr != at->vaddr)
			break;
		if (s->role == ROLE_WITNESS && s->block == at->block)
			return p->sites_by_address.data[i];
	}
	return NO_SITE;
}

static uint32_t put_witness(struct plan *p, const struct spot *at)
{
	struct plan_site *s = vec__add(&p->sites);
	const struct plan_block *b = &p->blocks.data[at->block];

	s->role = ROLE_WITNESS;
	s->vaddr = at->vaddr;
	s->len = at->len;
	s->object = b->object;
	s->function = b->function;
	s->block = at->block;
	s->traps = at->traps;
	s->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	s->probe = PROBE_COUNT;
	s->sp_delta = SP_UNKNOWN;
	p->probes++;
	return p->sites.len - 1;
}

/* Several functions may begin at one place. */
static void count_at(struct plan *p, struct spot *at)
{
	if (at->site == NO_SITE && (at->site = find_witness(p, at)) == NO_SITE) {
		at->site = put_witness(p, at);
	} else if (p->sites.data[at->site].probe != PROBE_COUNT) {
		p->sites.data[at->site].probe = PROBE_COUNT;
		p->probes++;
	}
}

static int by_edge(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void put_probes(struct counting *k)
{
	const struct candidate *c;
	struct spot at;

	vec__sort(&k->candidates, by_edge);
	vec__each (c, &k->candidates) {
		if (!c->counted)
			continue;
		at = c->spot == NO_SPOT ? (struct spot){.site = k->p->blocks.data[c->block].site}
					: k->spots.data[c->spot];
		count_at(k->p, &at);
	}
}

static void count_edges(struct counting *k, bool *known)
{
	autofree bool *unseen = k->options->retire ? plan__unseen_blocks(k->p) : NULL;
	struct candidate *c;

	add_candidates(k, known);
	vec__sort(&k->candidates, costliest_first);
	join_uncountable(k, known);
	vec__each (c, &k->candidates)
		c->counted =
			(unseen && c->spot != NO_SPOT && unseen[k->spots.data[c->spot].block]) ||
			!try_uncounted(k, c);
	count_instead(k);
	put_probes(k);
}

static void count_entry(struct counting *k, uint32_t block)
{
	struct spot *at = &k->spots.data[k->first_spot[block]];
	uint32_t branch = k->p->blocks.data[block].site;

	if (at->cost)
		count_at(k->p, at);
	else if (branch != NO_SITE && k->p->sites.data[branch].refusal == PROBE_OK &&
		 k->c.breaks[block] == k->c.breaks[block + 1])
		count_at(k->p, &(struct spot){.site = branch});
}

/* Counts only how often functions are entered. */
static void count_entries(struct counting *k, const bool *known)
{
	for (size_t i = 0; i < k->p->functions.len; i++) {
		const struct plan_function *f = &k->p->functions.data[i];

		if (f->entry_block == NO_BLOCK || f->flags & (FUNCTION_HELPER | FUNCTION_RANGE) ||
		    k->c.start[f->entry_block] == OUTSIDE || known[k->c.first[f->entry_block]])
			continue;
		count_entry(k, f->entry_block);
	}
}

/* ---- sides of conditionals, for probes that will be removed ---- */

/* Returns true if control enters the block by one edge only. */
static bool is_own_side(const struct plan *p, const struct plan_flow *flow, uint32_t block)
{
	const struct plan_block *b = block == NO_BLOCK ? NULL : &p->blocks.data[block];

	return b && b->function != NO_FUNCTION && !b->abnormal &&
	       !(p->functions.data[b->function].flags & (FUNCTION_RANGE | FUNCTION_HELPER)) &&
	       p->functions.data[b->function].entry_block != block &&
	       flow->in[block + 1] - flow->in[block] == 1;
}

static void add_side(struct counting *k, const struct plan_flow *flow, uint32_t site, bool taken)
{
	struct plan *p = k->p;
	const struct plan_block *b = &p->blocks.data[p->sites.data[site].block];
	uint32_t block = taken ? b->taken : b->next;
	const struct spot *at;
	uint32_t witness;

	if (b->taken == b->next || !is_own_side(p, flow, block))
		return;
	at = &k->spots.data[k->first_spot[block]];
	witness = p->blocks.data[block].site;
	if (at->cost && (witness == NO_SITE || p->sites.data[witness].probe != PROBE_COUNT))
		witness = at->site;
	if (at->cost && witness == NO_SITE) {
		witness = p->sites.len;
		put_witness(p, at);
		p->sites.data[witness].probe = PROBE_NONE;
		p->probes--;
	}
	if (witness != NO_SITE && p->sites.data[witness].refusal == PROBE_OK)
		vec__push(&p->sides, (struct plan_side){site, witness, taken});
}

static void find_sides(struct counting *k, const struct plan_flow *flow)
{
	uint32_t n = k->p->sites.len;

	for (uint32_t i = 0; i < n; i++) {
		const struct plan_site *s = &k->p->sites.data[i];

		if (s->probe != PROBE_COUNT || (s->kind != BRANCH_JCC && s->kind != BRANCH_LOOP))
			continue;
		add_side(k, flow, i, true);
		add_side(k, flow, i, false);
	}
}

void counting__place(struct plan *p, const struct plan_options *options)
{
	struct counting k = {
		.p = p,
		.options = options,
		.rows = {cost__row(p->arch, false, options), cost__row(p->arch, true, options)}};
	struct plan_flow flow;
	autofree bool *known = start(&k);

	p->entries_only = !wants_branches(&k);
	plan_flow__init(&flow, p);
	frequency__estimate(&k.frequency, &flow, options);
	if (wants_branches(&k))
		count_edges(&k, known);
	else
		count_entries(&k, known);
	if (options->retire)
		find_sides(&k, &flow);
	plan_flow__free(&flow);
	counting__find_unsolved(p);
	circulation__free(&k.c);
	frequency__free(&k.frequency);
	vec__free(&k.spots);
	vec__free(&k.candidates);
	vec__free(&k.joined);
	map64__free(&k.refused);
	free(k.exposed);
	free(k.first_spot);
	free(k.set);
	free(k.size);
}
