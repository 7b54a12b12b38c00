/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs, and their plans under a placement. A program is run by random_walk.h, without
 * plan_flow.c. The choice 0 is always the simplest one, so shrinking the choices shrinks the
 * program.
 */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include <elf.h>
#include "plan/plan_private.h"

/* ---- choices: random the first time, the same each later time ---- */

struct choices {
	VEC(uint16_t) list;
	size_t at;
	uint64_t random; /* 0: behind the list all choices are 0 */
	bool over;	 /* a choice was made behind the list */
};

static inline unsigned pick(struct choices *c, unsigned n)
{
	if (n < 2)
		return 0;
	if (c->at == c->list.len && c->random) {
		c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
		vec__push(&c->list, c->random >> 48);
	}
	c->over = c->at == c->list.len;
	return c->over ? 0 : c->list.data[c->at++] % n;
}

/* True once in n times. */
static inline bool rarely(struct choices *c, unsigned n)
{
	return pick(c, n) == n - 1;
}

/* ---- programs ---- */

#define FUNCTIONS  4
#define BLOCKS	   8
#define TARGETS	   3
#define BLOCK_SIZE 32
#define CODE	   0x1000u
#define OUTSIDE	   0x900000u /* code that is in no plan */
#define BIAS	   0x555500000000u

/* How a block ends. */
enum how {
	RETURNS,
	FALLS,	  /* into the next block, the last block into the next function */
	BRANCHES, /* a conditional: to to[0] or the next block */
	JUMPS,
	CALLS,
	SWITCHES, /* a jump by a table */
	CALLS_POINTER,
	TAIL,
	TAIL_IF,
	TAIL_POINTER,
	SHARES, /* a jump into another function, not to its entry */
	THROWS, /* a call that doesn't return */
	HOWS
};

struct code {
	uint8_t how, to[TARGETS], nto;
	uint8_t callee;	 /* a function; program.functions: code that is in no plan */
	uint8_t room;	 /* for a witness: 0 emulated, 1 stepped, 2 none */
	bool refused;	 /* its branch can carry no probe */
	bool pad;	 /* a landing pad: nothing but the unwinder leads here */
	bool incomplete; /* SWITCHES: the table's last target isn't known */
};

enum entry_kind { ENTRY_PLAIN, ENTRY_BRANCH, ENTRY_REFUSED, ENTRY_KINDS };

struct routine {
	unsigned blocks, frame; /* bytes below the return address, in its blocks */
	uint8_t entry;		/* enum entry_kind */
	bool helper;		/* a helper function */
	bool wild;		/* its stack depth is known at its entry and its rets only */
	struct code code[BLOCKS];
};

/* What may happen in a program, in any combination. */
enum {
	WITH_REFUSED = 1,
	WITH_OUTSIDE = 2,
	WITH_TAILS = 4,
	WITH_THROWS = 8,
	WITH_SIGNALS = 16,
	WITH_STACKS = 32,
	WITH_SHARED = 64,
	WITH_HELPER = 128,
	WITH_WILD = 256,
	WITH_ALL = 511,
};

struct program {
	unsigned functions, with;
	struct routine f[FUNCTIONS];
};

static inline uint64_t start_of(unsigned f, unsigned b)
{
	return CODE + (f * BLOCKS + b) * BLOCK_SIZE;
}

/* Blocks are of one size: a block's start tells its end. */
static inline uint64_t end_of(unsigned f, unsigned b)
{
	return start_of(f, b) + BLOCK_SIZE;
}

static inline bool is_entry_branch(const struct program *p, unsigned f, unsigned b)
{
	return !b && p->f[f].entry == ENTRY_BRANCH;
}

static inline uint64_t site_of(const struct program *p, unsigned f, unsigned b)
{
	return is_entry_branch(p, f, b) ? start_of(f, b) : end_of(f, b) - 4;
}

/* How deep the stack is where the block ends. */
static inline unsigned depth_of(const struct program *p, unsigned f, unsigned b)
{
	uint8_t how = p->f[f].code[b].how;

	return is_entry_branch(p, f, b) || how == RETURNS || how == TAIL || how == TAIL_IF ||
			       how == TAIL_POINTER
		       ? 0
		       : p->f[f].frame;
}

/* How deep the plan says that it is where the block starts. */
static inline int32_t start_depth(const struct program *p, unsigned f, unsigned b)
{
	if (!b)
		return 0;
	return p->f[f].wild ? SP_UNKNOWN : (int32_t)p->f[f].frame;
}

static inline uint64_t address_of(const struct program *p, unsigned callee)
{
	return callee < p->functions ? start_of(callee, 0) : OUTSIDE + 0x10;
}

/* A block that r's own blocks may go to: the entry only without a frame. */
static inline unsigned some_block(struct choices *c, const struct routine *r)
{
	unsigned b = pick(c, r->blocks);

	return b || !r->frame ? b : r->blocks - 1;
}

static inline bool can_end_so(const struct program *p, unsigned f, unsigned b, unsigned how)
{
	const struct routine *r = &p->f[f];
	bool last = b + 1 == r->blocks;

	switch (how) {
	case FALLS:
		return !last || (f + 1 < p->functions && !p->f[f + 1].helper && !r->frame);
	case BRANCHES:
	case CALLS:
	case CALLS_POINTER:
		return !last;
	case TAIL_IF:
		return !last && p->with & WITH_TAILS;
	case TAIL:
	case TAIL_POINTER:
		return p->with & WITH_TAILS;
	case SHARES:
		return p->with & WITH_SHARED && !r->helper;
	case THROWS:
		return p->with & WITH_THROWS;
	default:
		return r->blocks > 1 || how == RETURNS;
	}
}

static inline uint8_t some_callee(struct choices *c, const struct program *p)
{
	return pick(c, p->functions + !!(p->with & WITH_OUTSIDE));
}

/* SHARES: into a function with the same frame. */
static inline void share(struct choices *c, const struct program *p, unsigned f, struct code *e)
{
	const struct routine *r = &p->f[f], *other;

	e->callee = pick(c, p->functions);
	other = &p->f[e->callee];
	e->to[0] = pick(c, other->blocks);
	if (e->callee == f || !e->to[0] || other->helper || other->frame != r->frame ||
	    other->wild || r->wild)
		e->how = RETURNS;
}

/* A call without probe of what is heard of otherwise: of its entry. An end without probe (a ret, a
 * tail call by a pointer) looks like any other call of the same place. */
static inline bool may_refuse(const struct program *p, unsigned f, const struct code *e)
{
	const struct routine *callee = e->callee < p->functions ? &p->f[e->callee] : NULL;

	if (!(p->with & WITH_REFUSED) || e->how == RETURNS || e->how == THROWS ||
	    e->how == TAIL_POINTER || p->f[f].helper)
		return false;
	return (e->how != CALLS && e->how != CALLS_POINTER) ||
	       (callee && !callee->helper && callee->entry != ENTRY_REFUSED);
}

static inline void make_code(struct choices *c, const struct program *p, unsigned f, unsigned b)
{
	struct code *e = (struct code *)&p->f[f].code[b];

	e->how = pick(c, HOWS);
	e->nto = 1 + pick(c, TARGETS);
	for (unsigned i = 0; i < TARGETS; i++)
		e->to[i] = some_block(c, &p->f[f]);
	e->callee = some_callee(c, p);
	e->room = pick(c, 3);
	e->refused = rarely(c, 4);
	e->pad = rarely(c, 4);
	e->incomplete = rarely(c, 3);
	if (!can_end_so(p, f, b, e->how))
		e->how = RETURNS;
	if (e->how == SHARES)
		share(c, p, f, e);
	/* the next entry with the same return address would be taken for the tail call's target */
	if (p->f[f].helper && e->callee == p->functions &&
	    (e->how == TAIL || e->how == TAIL_IF || e->how == TAIL_POINTER))
		e->how = RETURNS;
	e->refused &= may_refuse(p, f, e);
	e->pad &= p->with & WITH_THROWS && b && e->how != FALLS && !p->f[f].helper;
}

static inline bool runs_on(uint8_t how)
{
	return how == FALLS || how == BRANCHES || how == TAIL_IF || how == CALLS ||
	       how == CALLS_POINTER;
}

/* Does the program itself lead to this block? */
static inline bool is_led_to(const struct program *p, unsigned f, unsigned b)
{
	for (unsigned g = 0; g < p->functions; g++)
		for (unsigned i = 0; i < p->f[g].blocks; i++) {
			const struct code *e = &p->f[g].code[i];
			unsigned n = e->how == SWITCHES ? e->nto
							: e->how == BRANCHES || e->how == JUMPS ||
								  e->how == SHARES;

			if (g == f && i + 1 == b && runs_on(e->how))
				return true;
			for (unsigned k = 0; k < n && f == (e->how == SHARES ? e->callee : g); k++)
				if (e->to[k] == b)
					return true;
		}
	return false;
}

/* Nothing but the unwinder leads to a landing pad. If branches can't be probed, nothing shows that
 * control came to a pad: there are none then. */
static inline void settle_pads(struct program *p)
{
	for (unsigned f = 0; f < p->functions; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			p->f[f].code[b].pad &= !(p->with & WITH_REFUSED) && !is_led_to(p, f, b);
}

/* The block of an entry without probe has to end with a branch that has one. */
static inline void settle_entry(const struct program *p, struct routine *r)
{
	struct code *first = &r->code[0];

	if (r->helper || first->how == FALLS)
		r->entry = ENTRY_PLAIN;
	if (r->entry == ENTRY_REFUSED && !(p->with & WITH_REFUSED))
		r->entry = ENTRY_PLAIN;
	if (r->entry != ENTRY_PLAIN)
		first->refused = false;
}

static inline void make_program(struct choices *c, struct program *p, unsigned without)
{
	*p = (struct program){0};
	p->with = pick(c, WITH_ALL + 1) & ~without;
	p->functions = 1 + pick(c, FUNCTIONS);
	for (unsigned f = 0; f < p->functions; f++) {
		p->f[f].blocks = 1 + pick(c, BLOCKS);
		p->f[f].frame = 16 * pick(c, 3);
		p->f[f].entry = pick(c, ENTRY_KINDS);
		p->f[f].wild = rarely(c, 4) && p->with & WITH_WILD;
		if (p->f[f].blocks == 1)
			p->f[f].frame = 0;
	}
	if (p->with & WITH_HELPER && p->functions > 1)
		p->f[p->functions - 1].helper = true;
	for (unsigned f = 0; f < p->functions; f++) {
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			make_code(c, p, f, b);
		settle_entry(p, &p->f[f]);
	}
	settle_pads(p);
}

/* ---- their plans ---- */

/* With enum plan_events: return probes record the returns. */
#define BY_PROBE 8u

struct random_plan {
	struct plan *plan;
	uint32_t block[FUNCTIONS][BLOCKS]; /* NO_BLOCK: not in the plan */
	struct object object;
	struct segment segment;
	uint8_t bytes[FUNCTIONS * BLOCKS * BLOCK_SIZE];
	struct range range[FUNCTIONS];
};

static const char *const routine_names[FUNCTIONS] = {"f0", "f1", "f2", "f3"};

/* What stands before the branch decides where a witness has room. */
static inline void make_bytes(struct random_plan *r, const struct program *p)
{
	static const uint8_t fillers[3] = {0x90 /* nop */, 0x9e /* sahf */, 0x06 /* none */};

	for (unsigned f = 0; f < p->functions; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			memset(&r->bytes[start_of(f, b) - CODE], fillers[p->f[f].code[b].room],
			       BLOCK_SIZE);
	r->segment = (struct segment){
		.vaddr = CODE, .size = sizeof(r->bytes), .bytes = r->bytes, .exec = true};
	r->object = (struct object){.path = (char *)"/lib/x",
				    .machine = EM_X86_64,
				    .segments = {.data = &r->segment, .len = 1}};
}

/* Helper functions are in the plan if returns are requested, behind the other functions. */
static inline void number_blocks(struct random_plan *r, const struct program *p, unsigned events)
{
	uint32_t n = 0;

	memset(r->block, 0xff, sizeof(r->block));
	for (unsigned f = 0; f < p->functions; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			if (!p->f[f].helper || (events & PLAN_RETURN && !(events & BY_PROBE)))
				r->block[f][b] = n++;
}

static inline enum branch_kind kind_of(uint8_t how)
{
	static const uint8_t kinds[HOWS] = {
		[RETURNS] = BRANCH_RET, [FALLS] = BRANCH_NONE,		[BRANCHES] = BRANCH_JCC,
		[JUMPS] = BRANCH_JMP,	[CALLS] = BRANCH_CALL,		[SWITCHES] = BRANCH_IJMP,
		[TAIL] = BRANCH_JMP,	[CALLS_POINTER] = BRANCH_ICALL, [TAIL_IF] = BRANCH_JCC,
		[SHARES] = BRANCH_JMP,	[TAIL_POINTER] = BRANCH_IJMP,	[THROWS] = BRANCH_CALL,
	};

	return kinds[how];
}

/* Where the branch of a block leads directly; 0: nowhere. */
static inline uint64_t target_of(const struct program *p, unsigned f, unsigned b)
{
	const struct code *e = &p->f[f].code[b];

	switch (e->how) {
	case BRANCHES:
	case JUMPS:
		return start_of(f, e->to[0]);
	case CALLS:
	case TAIL:
	case TAIL_IF:
		return address_of(p, e->callee);
	case SHARES:
		return start_of(e->callee, e->to[0]);
	case THROWS:
		return OUTSIDE + 0x20;
	default:
		return 0;
	}
}

static inline bool is_in_table(const struct plan *p, const struct plan_block *b, uint32_t to)
{
	for (uint32_t i = 0; i < b->ntable; i++)
		if (p->table.data[b->table + i] == to)
			return true;
	return false;
}

static inline void add_table(struct random_plan *r, const struct code *e, unsigned f,
			     struct plan_block *b)
{
	b->unresolved = e->incomplete;
	b->table = r->plan->table.len;
	for (unsigned i = 0; i + e->incomplete < e->nto; i++)
		if (!is_in_table(r->plan, b, r->block[f][e->to[i]])) {
			vec__push(&r->plan->table, r->block[f][e->to[i]]);
			b->ntable++;
		}
}

static inline void set_edges(struct random_plan *r, const struct program *p, unsigned f, unsigned b,
			     struct plan_block *to)
{
	const struct code *e = &p->f[f].code[b];
	uint64_t target = target_of(p, f, b) - CODE;
	bool call = e->how == CALLS || e->how == CALLS_POINTER || e->how == THROWS;

	to->next = to->taken = NO_BLOCK;
	if (e->how == FALLS || e->how == BRANCHES || e->how == TAIL_IF ||
	    (call && e->how != THROWS))
		to->next = b + 1 < p->f[f].blocks ? r->block[f][b + 1] : r->block[f + 1][0];
	to->outward = e->how == FALLS && to->next == NO_BLOCK;
	if (!call && target < sizeof(r->bytes))
		to->taken = ((uint32_t *)r->block)[target / BLOCK_SIZE];
	if (e->how == SWITCHES)
		add_table(r, e, f, to);
	to->noreturn = e->how == THROWS;
	to->leaves = e->how == SHARES || e->how == TAIL_POINTER ||
		     ((e->how == TAIL || e->how == TAIL_IF) && e->callee != f);
}

static inline struct plan_site *add_site(struct random_plan *r, uint64_t vaddr, unsigned f,
					 unsigned b)
{
	struct plan_site *s = vec__add(&r->plan->sites);

	s->vaddr = vaddr;
	s->function = f;
	s->block = r->block[f][b];
	s->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	s->len = end_of(f, b) - vaddr;
	return s;
}

static inline void give_probe(struct random_plan *r, struct plan_site *s, bool wanted, bool refused)
{
	s->refusal = refused ? PROBE_PREFIX : PROBE_OK;
	s->probe = wanted && !refused;
	r->plan->probes += s->probe;
	r->plan->skipped += wanted && refused;
}

static inline void add_sites(struct random_plan *r, const struct program *p, unsigned f, unsigned b,
			     struct plan_block *block)
{
	const struct routine *fn = &p->f[f];
	const struct code *e = &fn->code[b];
	struct plan_site *s;

	if (!b && !fn->helper && fn->entry != ENTRY_BRANCH) {
		r->plan->functions.data[f].entry_site = r->plan->sites.len;
		s = add_site(r, start_of(f, b), f, b);
		s->role = ROLE_ENTRY;
		s->entry = 1;
		give_probe(r, s, true, fn->entry == ENTRY_REFUSED);
	}
	block->site = NO_SITE;
	if (e->how == FALLS)
		return;
	block->site = r->plan->sites.len;
	s = add_site(r, site_of(p, f, b), f, b);
	s->kind = kind_of(e->how);
	s->mnemonic = "x";
	s->target = target_of(p, f, b);
	s->sp_delta = fn->wild && b && e->how != RETURNS ? SP_UNKNOWN : (int32_t)depth_of(p, f, b);
	if (is_entry_branch(p, f, b)) {
		s->entry = 1;
		s->sp_delta = 0;
		r->plan->functions.data[f].entry_site = block->site;
	}
	give_probe(r, s, !fn->helper || e->how == RETURNS || (block->leaves && e->how != TAIL_IF),
		   e->refused);
}

static inline void add_functions(struct random_plan *r, const struct program *p, unsigned events)
{
	for (unsigned f = 0; f < p->functions && r->block[f][0] != NO_BLOCK; f++) {
		struct plan_function *fn = vec__add(&r->plan->functions);

		r->range[f] = (struct range){.vaddr = start_of(f, 0),
					     .size = p->f[f].blocks * BLOCK_SIZE,
					     .name = (char *)routine_names[f]};
		fn->name = fn->raw = routine_names[f];
		fn->entry_site = NO_SITE;
		fn->entry_block = r->block[f][0];
		fn->flags = p->f[f].helper ? FUNCTION_HELPER : 0;
		fn->ranges = &r->range[f];
		fn->nranges = 1;
	}
}

/* Makes the plan without a placement: each site that can have a probe has one. */
static inline void lay_out(struct random_plan *r, const struct program *p, unsigned events)
{
	memset(r, 0, sizeof(*r));
	r->plan = xcalloc(1, sizeof(*r->plan));
	r->plan->arch = arch__by_machine(EM_X86_64);
	r->plan->return_probes = events & BY_PROBE;
	make_bytes(r, p);
	vec__push(&r->plan->objects,
		  (struct plan_object){&r->object, r->object.path, EM_X86_64, false, false});
	number_blocks(r, p, events);
	add_functions(r, p, events);
	for (unsigned f = 0; f < r->plan->functions.len; f++)
		for (unsigned b = 0; b < p->f[f].blocks; b++) {
			struct plan_block *block = vec__add(&r->plan->blocks);

			block->start = start_of(f, b);
			block->end = end_of(f, b);
			block->function = f;
			block->sp_delta = start_depth(p, f, b);
			block->abnormal =
				p->f[f].code[b].pad ? ABNORMAL_LANDING_PAD : ABNORMAL_NONE;
			set_edges(r, p, f, b, block);
			add_sites(r, p, f, b, block);
		}
}

/* Branches that nobody asked for have no probe. */
static inline void leave_out(struct plan *p, const struct plan_options *options)
{
	struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->probe && !(options->events & PLAN_BRANCH) &&
		    !site__is_wanted(p, s, options)) {
			s->probe = PROBE_NONE;
			p->probes--;
		}
}

/* before: the plan that is traced by already; NULL: none */
static inline void place_after(struct random_plan *r, const struct plan *before,
			       enum plan_placement placement, unsigned events)
{
	struct plan_options options = {.events = events & ~BY_PROBE,
				       .placement = placement,
				       .before = before,
				       .return_probes = events & BY_PROBE};

	plan__index(r->plan);
	leave_out(r->plan, &options);
	placement__place(r->plan, &options); /* appends witnesses */
	plan__index(r->plan);
}

static inline void place(struct random_plan *r, enum plan_placement placement, unsigned events)
{
	place_after(r, NULL, placement, events);
}

static inline void make_plan(struct random_plan *r, const struct program *p,
			     enum plan_placement placement, unsigned events)
{
	lay_out(r, p, events);
	place(r, placement, events);
}

#endif
