// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns a graph into the plan's blocks and sites, and decides which sites carry a probe.
 */
#include <stdlib.h>
#include "plan/plan_private.h"

static uint32_t plan_function_of(struct emit *e, uint64_t addr)
{
	uint32_t owner = graph__owner(e->g, addr);

	return owner == NO_FUNCTION ? NO_FUNCTION : e->g->functions.data[owner].plan;
}

/* ---- which sites carry a probe ---- */

static uint8_t refusal(const struct emit *e, const struct insn *insn)
{
	enum probe_refusal place = insn__refusal(e->g->arch, e->g->object, e->g->kernel, insn);
	unsigned flags = e->g->nodes.data[graph__known(e->g, insn->addr)].flags;

	if (place == PROBE_BLACKLIST)
		return place;
	if (flags & NODE_UNCERTAIN)
		return PROBE_UNPROVED;
	if (flags & NODE_EXCLUSIVE)
		return PROBE_EXCLUSIVE;
	if (insn->flow == FLOW_UNSUPPORTED)
		return PROBE_UNSUPPORTED;
	if (e->g->kernel || place != PROBE_OK)
		return place;
	return insn->patchable && e->options->patchable_unsafe ? PROBE_PATCHABLE : PROBE_OK;
}

static void decide(struct emit *e, struct plan_site *s)
{
	struct plan_function *f = &e->plan->functions.data[s->function];
	bool wanted = site__is_wanted(e->plan, s, e->options);

	s->probe = wanted && s->refusal == PROBE_OK ? PROBE_TRAP : PROBE_NONE;
	e->plan->probes += s->probe != PROBE_NONE;
	if (wanted && s->probe == PROBE_NONE) {
		e->plan->skipped++;
		f->skipped += s->role == ROLE_BRANCH;
	}
	f->branches += s->role == ROLE_BRANCH;
}

/* ---- blocks ---- */

/* leader: 1 + its index, or 0 for none */
static uint32_t block_index(const struct emit *e, uint32_t leader)
{
	return leader ? e->block_of[leader - 1] : NO_BLOCK;
}

static bool has_target(const struct plan *p, uint32_t from, uint32_t block)
{
	for (size_t i = from; i < p->table.len; i++)
		if (p->table.data[i] == block)
			return true;
	return false;
}

/* Adds each successor once, even if several cases lead there. */
static void add_targets(struct emit *e, const struct jump_table *t, struct plan_block *b)
{
	b->table = e->plan->table.len;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t to = graph__known(e->g, e->g->targets.data[t->first + i]);
		uint32_t block = block_index(e, e->g->nodes.data[to].block);

		b->outward |= block == NO_BLOCK;
		if (block != NO_BLOCK && !has_target(e->plan, b->table, block))
			vec__push(&e->plan->table, block);
	}
	b->ntable = e->plan->table.len - b->table;
	b->unresolved = !t->proved;
}

/* Returns true if the taken edge leaves the function, or leads to another function's entry. */
static bool leaves(struct emit *e, const struct insn *insn)
{
	uint32_t own = graph__owner(e->g, insn->addr), to = graph__owner(e->g, insn->target);
	struct graph *g = e->g;

	if (insn->kind != BRANCH_JMP && insn->kind != BRANCH_JCC && insn->kind != BRANCH_LOOP)
		return false;
	if (to == own)
		return false;
	/* A range counts as part of the function that encloses it. */
	if (to != NO_FUNCTION && g->functions.data[own].f.flags & FUNCTION_RANGE)
		return !(g->functions.data[to].f.flags & (FUNCTION_HIDDEN | FUNCTION_RANGE));
	return !graph__holds(g, own, insn->target) || graph__is_entry(g, insn->target);
}

#define PADDING 64 /* the most bytes between two functions */

/* Returns the function that a block falls into over nops, as glibc's __memcpy_chk falls into
 * memcpy; 0 if none. */
static uint32_t fallen_into(struct emit *e, uint64_t from)
{
	for (uint64_t addr = from; addr - from < PADDING;) {
		uint32_t i = graph__known(e->g, addr);
		const uint8_t *bytes;
		struct insn insn;
		size_t avail;

		if (i && graph__is_entry(e->g, addr))
			return e->g->nodes.data[i].block;
		bytes = object__bytes(e->g->object, addr, &avail);
		if (!bytes ||
		    e->g->arch->decode(bytes, avail, object__code_address(e->g->object, addr),
				       e->g->kernel, &insn) ||
		    !insn.padding || insn.flow != FLOW_NEXT)
			return 0;
		addr += insn.len;
	}
	return 0;
}

static void set_edges(struct emit *e, const struct leader *l, struct plan_block *b)
{
	const struct node *n = &e->g->nodes.data[l->last];
	const struct insn *insn = graph__branch(e->g, n);

	b->next = block_index(e, l->next);
	b->taken = block_index(e, l->taken);
	b->noreturn = !!(n->flags & NODE_NORETURN);
	if (b->next == NO_BLOCK &&
	    (!n->branch || insn->kind == BRANCH_JCC || insn->kind == BRANCH_LOOP))
		b->next = block_index(e, fallen_into(e, node__next(n)));
	b->outward = !n->branch && b->next == NO_BLOCK && n->flow == FLOW_NEXT;
	if (!n->branch)
		return;
	b->leaves = leaves(e, insn);
	if (insn->kind != BRANCH_IJMP)
		return;
	if (l->table) {
		add_targets(e, l->table, b);
	} else {
		b->leaves = graph__is_tail_jump(e->g, l->last);
		b->unresolved = !b->leaves;
	}
	if (b->unresolved && b->function != NO_FUNCTION)
		e->plan->functions.data[b->function].unresolved++;
}

/* ---- sites ---- */

static void settle(struct emit *e, struct insn *insn)
{
	if (e->plan->executes)
		insn__settle(e->plan, e->object, plan_function_of(e, insn->addr), insn);
}

static void add_branch_site(struct emit *e, uint32_t first, uint32_t last, uint32_t block)
{
	const struct node *n = &e->g->nodes.data[last];
	const struct insn *insn = graph__branch(e->g, n);
	struct plan_site *s = vec__add(&e->plan->sites);
	struct insn settled = *insn;

	s->role = ROLE_BRANCH;
	s->vaddr = insn->addr;
	s->target = insn->target;
	s->mnemonic = insn->mnemonic;
	s->operand = insn->operand;
	s->object = e->object;
	s->block = block;
	s->len = insn->len;
	s->kind = insn->kind;
	s->cond = insn->cond;
	if (plan_site__is_conditional(s))
		condition__find(e, first, last, s);
	s->thunk = insn->thunk;
	s->switched = e->deltas && e->deltas[n->branch] == SP_SWITCHED;
	s->sp_delta = !e->deltas || s->switched ? SP_UNKNOWN : e->deltas[n->branch];
	s->refusal = refusal(e, insn);
	settle(e, &settled);
	s->traps = insn__traps(&settled, e->g->kernel);
}

static void mark_entry(struct plan_site *s)
{
	s->entry = 1;
	s->sp_delta = s->role == ROLE_BRANCH ? s->lowered : 0;
}

/*
 * Returns true if entries may be reported after instructions that change only what nobody asked
 * for. Not if the kernel is traced, too: it may be entered in between. Nor in Go, which moves
 * stacks.
 */
static bool may_be_late(const struct emit *e)
{
	const struct plan_options *o = e->options;

	return o->late_entries && !o->exact_flags && !o->return_probes && !o->batch &&
	       o->placement != PLACEMENT_COUNT && !o->kernel_object && !e->g->kernel &&
	       !e->g->object->go;
}

/* Assumes that an instruction may start at every byte, since code outside of the plan isn't
 * decoded. */
static void note_targets(struct emit *e, const struct segment *s)
{
	uint64_t target;

	for (uint64_t i = 0; i < s->size; i++)
		if (e->g->arch->leads_to(s->bytes + i, s->size - i, s->vaddr + i, &target) &&
		    target >= e->first_target && target < e->last_target)
			e->targets[(target - e->first_target) / 8] |=
				1u << (target - e->first_target) % 8;
}

static void find_targets(struct emit *e)
{
	const struct segment *s;

	e->first_target = UINT64_MAX;
	vec__each (s, &e->g->object->segments)
		if (s->exec && s->bytes) {
			e->first_target = min_of(e->first_target, s->vaddr);
			e->last_target = max_of(e->last_target, s->vaddr + s->size);
		}
	if (!e->last_target)
		return;
	e->targets = xcalloc((e->last_target - e->first_target) / 8 + 1, 1);
	vec__each (s, &e->g->object->segments)
		if (s->exec && s->bytes)
			note_targets(e, s);
}

/* Returns true if code outside of the plan may jump here, as bzero does into the middle of glibc's
 * memset. */
static bool may_be_target(struct emit *e, uint64_t addr)
{
	if (!e->g->arch->leads_to)
		return true;
	if (!e->targets)
		find_targets(e);
	addr -= e->first_target;
	return !e->targets || e->targets[addr / 8] >> addr % 8 & 1;
}

/* What precedes an entry's probe does this to the stack pointer: plan_site.lowered. */
struct lowering {
	uint64_t after;
	uint32_t bytes;
};

/* The site can describe one step, not more; code has one. */
static bool may_lower(const struct emit *e, const struct insn *insn, const struct lowering *l)
{
	return insn->sp_effect == SP_ADD && insn->sp_value < 0 && !l->bytes &&
	       insn->sp_value >= -ENTRY_MAX_LOWERED && insn->sp_value % 8 == 0 &&
	       e->g->arch->call_pushes;
}

/* Memory below the return address, relative to the stack pointer, is nobody else's. */
static bool is_own_stack(const struct emit *e, const struct operand *o, const struct lowering *l)
{
	return o->base == e->g->arch->sp_reg && o->index == REG_NONE && o->seg == SEG_NONE &&
	       !o->addr32 && o->disp + o->size <= (int64_t)l->bytes;
}

/*
 * Returns true if nobody can see whether this instruction or the entry's record is first. Nobody
 * sees what it loads, and if it faults, the signal reports the entry. What it stores others may
 * see.
 */
static bool is_unseen(struct emit *e, uint32_t node, const struct insn *insn,
		      const struct lowering *l)
{
	uint64_t sp = 1ull << e->g->arch->sp_reg, writes = graph__writes(e->g, node);

	if (!insn->is_plain || insn->flow != FLOW_NEXT || insn->slow ||
	    e->g->nodes.data[node].flags & NODE_UNCERTAIN)
		return false;
	if (insn->stores && !is_own_stack(e, &insn->operand, l))
		return false;
	return !(writes & e->options->entry_regs & ~sp) &&
	       (!(writes & sp) || may_lower(e, insn, l));
}

/* Returns true if the entry's record stays the same if its probe is after this instruction. */
static bool may_precede(struct emit *e, uint32_t node, const struct insn *insn, struct lowering *l)
{
	const uint64_t next = insn->addr + insn->len;
	const struct object *o = e->g->object;

	if (insn->keeps_state && !graph__writes(e->g, node))
		return true;
	/* Code outside of the plan may jump to what has a name after it. */
	if (!may_be_late(e) || object__symbols_from(o, next) != o->symbols.len ||
	    !is_unseen(e, node, insn, l) || may_be_target(e, next))
		return false;
	if (graph__writes(e->g, node) >> e->g->arch->sp_reg & 1)
		*l = (struct lowering){.after = next, .bytes = -insn->sp_value};
	return true;
}

/* The entry's probe is after what lowers the stack pointer. block is the function's start. */
static void set_lowered(struct plan_site *s, uint64_t block, const struct lowering *l)
{
	s->lowered = l->bytes;
	s->lowered_at = l->bytes ? l->after - block : 0;
}

/* Returns true for a jump at an entry over code that the program changes (XRay). */
static bool is_sled(const struct emit *e, uint32_t node)
{
	const struct node *n = &e->g->nodes.data[node];
	const struct insn *jump = n->branch ? graph__branch(e->g, n) : NULL;
	const struct noprobe *sled =
		jump && !e->g->kernel ? object__noprobe_at(e->g->object, n->addr) : NULL;

	return sled && jump->kind == BRANCH_JMP && jump->target == sled->vaddr + sled->size;
}

/* Returns where it leads, whatever the program has put there. */
static uint32_t after_sled(const struct emit *e, uint32_t node)
{
	return graph__known(e->g, graph__branch(e->g, &e->g->nodes.data[node])->target);
}

/*
 * Places an entry's probe on the function's first instruction, or after instructions that change
 * nothing recorded (landing instructions, nops, writes of vector registers, and of registers that
 * nobody asked for). It takes the first of these that the kernel emulates, which saves the second
 * trap of single-stepping, else the first one that the kernel accepts. In the kernel it is on the
 * first instruction.
 */
static void place_entry_probe(struct emit *e, struct plan_site *s, uint32_t node)
{
	struct lowering l = {0};
	bool found = false;

	if (is_sled(e, node)) {
		s->refusal = PROBE_BLACKLIST;
		node = after_sled(e, node);
	}
	for (; node && !(found && e->g->kernel); node = graph__in_block(e->g, node)) {
		const struct node *n = &e->g->nodes.data[node];
		uint64_t at = n->addr - s->vaddr;
		struct insn insn;
		size_t avail;
		const uint8_t *bytes = object__bytes(e->g->object, n->addr, &avail);

		if (at > UINT8_MAX || n->branch ||
		    e->g->arch->decode(bytes, avail, object__code_address(e->g->object, n->addr),
				       e->g->kernel, &insn))
			return;
		settle(e, &insn);
		if (!at) {
			s->refusal = refusal(e, &insn);
			s->repeats = insn.repeats;
		}
		if (refusal(e, &insn) == PROBE_OK && (!found || insn.emulated)) {
			s->refusal = PROBE_OK;
			s->probe_at = at;
			s->traps = insn__traps(&insn, e->g->kernel);
			set_lowered(s, s->vaddr, &l);
			found = true;
		}
		if ((found && insn.emulated) || !may_precede(e, node, &insn, &l))
			return;
	}
}

static void add_entry_site(struct emit *e, uint32_t node, uint32_t block)
{
	struct plan_site *s = vec__add(&e->plan->sites);
	const struct node *n = &e->g->nodes.data[node];

	s->role = ROLE_ENTRY;
	s->vaddr = n->addr;
	s->object = e->object;
	s->block = block;
	s->len = n->len;
	s->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	place_entry_probe(e, s, node);
	mark_entry(s);
}

/* Returns true if this branch may report an entry in front of it. A branch that the kernel steps
 * may only if it has a probe anyway; a ret may not if it would leave the call without a time. */
static bool may_report_entry(struct emit *e, const struct insn *branch)
{
	bool probed = e->options->events & PLAN_BRANCH;

	if (e->g->kernel || e->options->exact_flags || refusal(e, branch) != PROBE_OK)
		return false;
	if (branch->kind == BRANCH_JCC && probed)
		return true;
	if (!may_be_late(e))
		return false;
	switch (branch->kind) {
	case BRANCH_JCC:
	case BRANCH_JMP:
	case BRANCH_CALL:
		return branch->emulated && branch->target;
	case BRANCH_IJMP:
	case BRANCH_ICALL:
		return probed;
	case BRANCH_RET:
		return probed && !(e->options->events & PLAN_RETURN);
	default:
		return false;
	}
}

/*
 * A branch that only comparisons, or what may precede the entry's probe, separate from the entry,
 * reports the entry, too, without further traps: the registers are those of the entry, the flags
 * are not. Not if the entry's own probe is cheap as well, since the entry would lose its own time.
 */
static bool reports_entry(struct emit *e, uint32_t first, uint32_t last, struct lowering *l)
{
	const struct node *end = &e->g->nodes.data[last];
	bool compares = false;

	if (!end->branch || !may_report_entry(e, graph__branch(e->g, end)))
		return false;
	for (uint32_t i = first; i && i != last; i = graph__in_block(e->g, i)) {
		const struct node *n = &e->g->nodes.data[i];
		struct insn insn;
		size_t avail;
		const uint8_t *bytes = object__bytes(e->g->object, n->addr, &avail);

		if (e->g->arch->decode(bytes, avail, object__code_address(e->g->object, n->addr),
				       false, &insn))
			return false;
		settle(e, &insn);
		if (insn.emulated && refusal(e, &insn) == PROBE_OK)
			return false;
		if (n->addr - e->g->nodes.data[first].addr > UINT8_MAX ||
		    (!insn.only_compares && !may_precede(e, i, &insn, l)))
			return false;
		compares = true;
	}
	/* a ret at that depth is a jump */
	return compares && !(l->bytes && graph__branch(e->g, end)->kind == BRANCH_RET);
}

/* Returns true if this is the entry of a function whose entries are shown. */
static bool is_shown_entry(struct emit *e, uint64_t addr)
{
	uint32_t function = plan_function_of(e, addr);

	return function != NO_FUNCTION && graph__is_entry(e->g, addr) &&
	       !(e->plan->functions.data[function].flags & FUNCTION_HELPER);
}

/* Adds the sites of a block: the entry at its start and the branch at its end, one site if they are
 * the same instruction. */
static void add_sites(struct emit *e, uint32_t first, uint32_t last, uint32_t block)
{
	const struct node *n = &e->g->nodes.data[first], *end = &e->g->nodes.data[last];
	bool entry = is_shown_entry(e, n->addr);
	struct lowering l = {0};
	bool one = entry && !is_sled(e, first) &&
		   ((first == last && end->branch) || reports_entry(e, first, last, &l));

	e->plan->blocks.data[block].site = NO_SITE;
	if (entry && !one)
		add_entry_site(e, first, block);
	if (end->branch)
		add_branch_site(e, first, last, block);
	if (!one)
		return;
	set_lowered(vec__last(&e->plan->sites), n->addr, &l);
	mark_entry(vec__last(&e->plan->sites));
}

static void point_to_sites(struct emit *e, size_t first)
{
	struct plan *p = e->plan;

	for (size_t i = first; i < p->sites.len; i++) {
		struct plan_site *s = &p->sites.data[i];
		struct plan_block *b = &p->blocks.data[s->block];

		s->function = plan_function_of(e, s->vaddr);
		if (s->function == NO_FUNCTION)
			s->function = b->function;
		if (s->role == ROLE_BRANCH)
			b->site = i;
		if (s->entry)
			p->functions.data[s->function].entry_site = i;
	}
}

/* ---- the whole object ---- */

static void number_blocks(struct emit *e)
{
	uint32_t n = e->plan->blocks.len;

	e->block_of = xcalloc(e->leaders.len + 1, sizeof(*e->block_of));
	for (size_t i = 0; i < e->leaders.len; i++) {
		uint64_t addr = e->g->nodes.data[e->leaders.data[i].first].addr;

		e->block_of[i] = plan_function_of(e, addr) == NO_FUNCTION ? NO_BLOCK : n++;
	}
}

/* plan_block.quick */
static uint8_t count_quick(const struct emit *e, uint32_t first)
{
	unsigned n = 0;

	for (uint32_t node = first; node; node = graph__in_block(e->g, node))
		if (++n > QUICK_MAX || e->g->nodes.data[node].flags & NODE_SLOW)
			return 0;
	return n;
}

static bool is_unfit(const struct emit *e, uint32_t first)
{
	for (uint32_t node = first; node; node = graph__in_block(e->g, node))
		if (e->g->nodes.data[node].flags & (NODE_UNCERTAIN | NODE_EXCLUSIVE))
			return true;
	return false;
}

static int32_t depth_at(const struct emit *e, const struct leader *l)
{
	int32_t depth = e->starts ? e->starts[l - e->leaders.data] : SP_UNKNOWN;

	return depth == SP_SWITCHED ? SP_UNKNOWN : depth;
}

static void add_block(struct emit *e, const struct leader *l)
{
	const struct node *n = &e->g->nodes.data[l->first];
	uint32_t index = e->plan->blocks.len;
	struct plan_block *b = vec__add(&e->plan->blocks);

	b->start = n->addr;
	b->end = node__next(&e->g->nodes.data[l->last]);
	b->object = e->object;
	b->function = plan_function_of(e, n->addr);
	b->abnormal = n->flags & NODE_LANDING_PAD ? ABNORMAL_LANDING_PAD
		      : n->flags & NODE_RESUMED	  ? ABNORMAL_RESUMED
		      : n->flags & NODE_TAKEN	  ? ABNORMAL_ADDRESS
						  : 0;
	b->quick = count_quick(e, l->first);
	b->unfit = is_unfit(e, l->first);
	b->sp_delta = depth_at(e, l);
	set_edges(e, l, b);
	add_sites(e, l->first, l->last, index);
}

static void set_entries(struct emit *e)
{
	struct graph_function *f;

	vec__each (f, &e->g->functions) {
		uint32_t node = graph__known(e->g, f->f.entry);

		if (f->plan == NO_FUNCTION || !graph__in_batch(e->g, f - e->g->functions.data))
			continue;
		e->plan->functions.data[f->plan].entry_block =
			block_index(e, e->g->nodes.data[node].block);
		e->plan->functions.data[f->plan].irregular |= f->keeps_sp;
	}
}

void plan__emit(struct plan *p, uint32_t object, struct graph *g,
		const struct plan_options *options)
{
	struct emit e = {.g = g, .plan = p, .options = options, .object = object};
	size_t first = p->sites.len;

	graph__leaders(g, &e.leaders);
	if (!options->batch) {
		e.starts = xcalloc(e.leaders.len + 1, sizeof(*e.starts));
		e.deltas = stack__deltas(g, &e.leaders, e.starts);
	}
	number_blocks(&e);
	for (size_t i = 0; i < e.leaders.len; i++)
		if (e.block_of[i] != NO_BLOCK)
			add_block(&e, &e.leaders.data[i]);
	point_to_sites(&e, first);
	set_entries(&e);
	p->late_entries |= may_be_late(&e);
	p->tests |= options->tests;
	for (size_t i = first; i < p->sites.len; i++)
		decide(&e, &p->sites.data[i]);
	vec__free(&e.leaders);
	free(e.block_of);
	free(e.deltas);
	free(e.starts);
	free(e.targets);
}
