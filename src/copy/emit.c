// SPDX-License-Identifier: BSD-2-Clause
/* Emits the copy of a function: its instructions in order, with logs where sites have events. */
#include "copy/copying.h"

/* The log of an edge that is taken; it is emitted after the function's code. */
struct taken {
	uint32_t item, label, site;
};

struct emit {
	struct body *b;
	struct copying *c;
	const struct arch_copier *copier;
	VEC(struct taken) taken;
	enum copy_refusal why;
};

static void put_pc(struct emit *e, const struct item *i, bool near)
{
	vec__push(&e->c->image->pcs, (struct copy_pc){.offset = e->c->code.hot.bytes.len,
						      .near = near,
						      .shown = !near && item__live(i) == LIVE_ALL,
						      .vaddr = i->addr});
}

/* ---- logs ---- */

static bool is_conditional(const struct insn *insn)
{
	return insn->kind == BRANCH_JCC || insn->kind == BRANCH_LOOP;
}

static enum log_kind kind_of(const struct emit *e, const struct plan_site *s)
{
	if (s->entry && e->c->plan->placement != PLACEMENT_COUNT)
		return LOG_ENTRY;
	if (s->role != ROLE_BRANCH)
		return LOG_BRANCH;
	return s->kind == BRANCH_RET				   ? LOG_RETURN
	       : s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL ? LOG_TARGET
								   : LOG_BRANCH;
}

/* Targets are counted by their records. */
static bool has_targets(const struct emit *e, const struct plan_site *s)
{
	if (s->role != ROLE_BRANCH)
		return false;
	return s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL ||
	       (s->kind == BRANCH_RET && e->c->plan->counts_all);
}

static uint32_t dead_registers(const struct emit *e, uint64_t live)
{
	return (uint32_t)~live & ~(1u << e->c->arch->sp_reg);
}

static void put_count(struct emit *e, const struct plan_site *s, bool not_taken, uint64_t live)
{
	struct copies *copies = e->c->copies;
	uint32_t counter = copies->counted.len;

	vec__push(&copies->counted, (struct copy_counter){s - e->c->plan->sites.data, not_taken});
	e->copier->count(&e->c->code, counter, dead_registers(e, live), !(live & LIVE_FLAGS));
}

/* What the log emits in the cold part belongs to the instruction, too. */
static void put_log(struct emit *e, const struct item *i, const struct plan_site *s, bool taken,
		    uint64_t live)
{
	const struct insn *insn = body__branch(e->b, i);
	bool indirect =
		s->role == ROLE_BRANCH && (s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL);
	struct log_point p = {
		.site = s - e->c->plan->sites.data,
		.kind = kind_of(e, s),
		.taken = taken,
		.operand = indirect ? &insn->operand : NULL,
		.is_ret = s->role == ROLE_BRANCH && s->kind == BRANCH_RET,
		.vaddr = i->addr,
		.len = i->len,
		.dead = dead_registers(e, live),
		.flags_dead = !(live & LIVE_FLAGS),
	};
	size_t cold = e->c->code.cold.bytes.len;

	if (p.kind == LOG_BRANCH && s->role == ROLE_BRANCH)
		p.nvalues = plan__logged_values(e->c->plan, s, p.values);
	if (s->probe == PROBE_COUNT && !has_targets(e, s) && !e->c->options->by_records) {
		put_count(e, s, !taken && s->role == ROLE_BRANCH && is_conditional(insn), live);
		return;
	}
	e->copier->log(&e->c->code, &p, e->c->options);
	if (e->c->code.cold.bytes.len > cold)
		vec__push(&e->c->cold_pcs, (struct copy_pc){cold, true, false, 0, i->addr});
}

/* Emits the logs of those sites of an instruction that are logged before it. */
static void log_before(struct emit *e, const struct item *i, uint64_t live)
{
	bool edges = is_conditional(body__branch(e->b, i));

	for (unsigned k = 0; k < i->nsites; k++) {
		const struct plan_site *s = body__site(e->b, i, k);

		if (s && !(edges && s->role == ROLE_BRANCH))
			put_log(e, i, s, false, live);
	}
}

static const struct plan_site *edge_site(struct emit *e, const struct item *i)
{
	for (unsigned k = 0; k < i->nsites; k++) {
		const struct plan_site *s = body__site(e->b, i, k);

		if (s && s->role == ROLE_BRANCH)
			return s;
	}
	return NULL;
}

/* ---- instructions ---- */

static uint64_t live_at(const struct item *i)
{
	return i ? item__live(i) : LIVE_ALL;
}

static void check(struct emit *e, int err)
{
	if (err)
		e->why = COPY_INSN;
}

static void displace(struct emit *e, const struct item *i)
{
	check(e, e->copier->displace(&e->c->code, body__bytes(e->b, i), i->len, i->addr));
}

static void put_conditional(struct emit *e, const struct item *i)
{
	const struct insn *insn = body__branch(e->b, i);
	const struct plan_site *s = edge_site(e, i);
	uint32_t label = s ? code_buffer__label(&e->c->code) : copying__label(e->c, insn->target);

	check(e, e->copier->branch(&e->c->code, insn, body__bytes(e->b, i), label));
	if (!s)
		return;
	put_log(e, i, s, false, live_at(body__next(e->b, i)));
	vec__push(&e->taken,
		  (struct taken){i - e->b->items.data, label, s - e->c->plan->sites.data});
}

static void push_return(struct emit *e, const struct item *call)
{
	e->copier->push_return(&e->c->code, item__next(call), body__bytes(e->b, call), call->len);
}

static bool reads_target(const struct emit *e, const struct item *call)
{
	const struct insn *insn = body__branch(e->b, call);

	return insn->kind == BRANCH_ICALL && insn->operand.kind == OPERAND_MEM;
}

/* Jumps to the call's target. The return address is on the stack. */
static void jump_as_call(struct emit *e, const struct item *i)
{
	const struct insn *insn = body__branch(e->b, i);
	uint8_t jump[16];
	size_t len;

	if (insn->kind == BRANCH_CALL)
		e->copier->jump(&e->c->code, false, insn->target);
	else if ((len = e->copier->call_to_jump(body__bytes(e->b, i), i->len, jump)))
		/* What it addresses relative to itself is where it was for the call. */
		check(e, e->copier->displace(&e->c->code, jump, len, item__next(i) - len));
	else
		e->why = COPY_INSN;
}

static void put_jump(struct emit *e, const struct item *i)
{
	uint64_t target = body__branch(e->b, i)->target;
	const struct item *next = i + 1;

	if (next >= vec__end(&e->b->items) || next->addr != target)
		e->copier->jump(&e->c->code, true, copying__label(e->c, target));
}

static void put_instruction(struct emit *e, const struct item *i)
{
	const struct insn *insn = body__branch(e->b, i);

	if (i->flags & ITEM_KEPT) {
		e->copier->jump(&e->c->code, false, i->addr);
	} else if (i->flags & ITEM_EMULATED) {
		push_return(e, i);
		jump_as_call(e, i);
	} else if (e->c->g->nodes.data[i->node].branch && is_conditional(insn)) {
		put_conditional(e, i);
	} else if (e->c->g->nodes.data[i->node].branch && insn->kind == BRANCH_JMP) {
		put_jump(e, i);
	} else {
		displace(e, i);
	}
}

/* Jumps, if control falls to an instruction that isn't the next one of the copy. */
static void fall(struct emit *e, const struct item *i)
{
	const struct item *next = i + 1;

	if (i->flags & ITEM_FALLS &&
	    (next >= vec__end(&e->b->items) || next->addr != item__next(i)))
		e->copier->jump(&e->c->code, true, copying__label(e->c, item__next(i)));
}

/* Returns true if the springboard that takes the place of the call is in the original. */
static bool goes_via(struct emit *e, const struct item *i)
{
	if (i->flags & ITEM_VIA)
		e->copier->jump(&e->c->code, false, i->addr);
	return i->flags & ITEM_VIA;
}

static void put_item(struct emit *e, const struct item *i)
{
	const struct item *before = i > e->b->items.data ? i - 1 : NULL;

	if (i->flags & ITEM_LEADER)
		code_buffer__set(&e->c->code, copying__label(e->c, i->addr), false);
	put_pc(e, i, false);
	if (i->flags & ITEM_ALIAS || goes_via(e, i))
		return;
	if (before && before->flags & ITEM_ALIAS)
		log_before(e, before, i->live);
	log_before(e, i, i->live);
	put_instruction(e, i);
	fall(e, i);
}

/* ---- what follows the function's code ---- */

static void put_taken(struct emit *e, const struct taken *t)
{
	const struct item *i = &e->b->items.data[t->item];
	uint64_t target = body__branch(e->b, i)->target;

	code_buffer__set(&e->c->code, t->label, false);
	put_pc(e, i, true);
	put_log(e, i, &e->c->plan->sites.data[t->site], true, live_at(body__target(e->b, i)));
	e->copier->jump(&e->c->code, true, copying__label(e->c, target));
}

/*
 * Emits the code that a springboard calls. The call has pushed the original call's return address.
 * The stack pointer is above it while the instructions before the call are executed, as in the
 * original.
 */
static void put_stub(struct emit *e, struct spring *s)
{
	const struct item *call = &e->b->items.data[s->call], *i = &e->b->items.data[s->item];
	int pushed = e->c->arch->call_pushes;

	s->stub = code_buffer__label(&e->c->code);
	code_buffer__set(&e->c->code, s->stub, false);
	put_pc(e, i, true);
	e->copier->move_sp(&e->c->code, pushed);
	put_pc(e, i, false);
	for (; i < call; i++) {
		log_before(e, i, i->live);
		displace(e, i);
	}
	log_before(e, call, call->live);
	if (s->item == s->call && !reads_target(e, call))
		e->copier->move_sp(&e->c->code, -pushed);
	else /* The instructions before the call may have written there; a read may fault. */
		push_return(e, call);
	jump_as_call(e, call);
}

static void put_rest(struct emit *e)
{
	const struct taken *t;
	struct spring *s;

	vec__each (t, &e->taken)
		put_taken(e, t);
	vec__each (s, &e->b->springs)
		if (s->kind == PATCH_CALL)
			put_stub(e, s);
}

/* ---- the function ---- */

/* The lengths of everything before a function, to undo its copy. */
struct mark {
	size_t hot, hot_fixups, cold, cold_fixups, faults, times, pcs, cold_pcs, counted;
};

static struct mark mark_of(const struct copying *c)
{
	return (struct mark){
		c->code.hot.bytes.len,	 c->code.hot.fixups.len, c->code.cold.bytes.len,
		c->code.cold.fixups.len, c->code.faults.len,	 c->code.times.len,
		c->image->pcs.len,	 c->cold_pcs.len,	 c->copies->counted.len};
}

static void go_back(struct body *b, const struct mark *m)
{
	struct copying *c = b->c;
	const struct item *i;

	c->code.hot.bytes.len = m->hot;
	c->code.hot.fixups.len = m->hot_fixups;
	c->code.cold.bytes.len = m->cold;
	c->code.cold.fixups.len = m->cold_fixups;
	c->code.faults.len = m->faults;
	c->code.times.len = m->times;
	c->image->pcs.len = m->pcs;
	c->cold_pcs.len = m->cold_pcs;
	c->copies->counted.len = m->counted;
	vec__each (i, &b->items)
		if (i->flags & ITEM_LEADER)
			c->code.labels.data[copying__label(c, i->addr)].set = false;
}

enum copy_refusal body__emit(struct body *b)
{
	struct copying *c = b->c;
	struct emit e = {.b = b, .c = c, .copier = c->arch->copier};
	struct mark before = mark_of(c);
	const struct item *i;

	vec__each (i, &b->items)
		put_item(&e, i);
	put_rest(&e);
	vec__free(&e.taken);
	if (e.why) {
		go_back(b, &before);
		return e.why;
	}
	vec__push(&c->image->functions,
		  (struct copy_function){c->g->functions.data[b->function].plan, before.hot,
					 c->code.hot.bytes.len, before.cold,
					 c->code.cold.bytes.len});
	return COPY_OK;
}
