// SPDX-License-Identifier: BSD-2-Clause
/* Backward slices: the values that a register can have at a node, and the instructions that set it.
 * All paths count; a path from outside of the function makes the result unknown. */
#include "code/code.h"

#define BUDGET 60000 /* steps per query */

bool slice__same_memory(const struct operand *a, int64_t ai, const struct operand *b, int64_t bi)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->disp == b->disp && a->seg == b->seg && a->addr32 == b->addr32 &&
	       a->extend == b->extend && ai == bi;
}

/* The effect of an instruction on the followed value. */
enum verdict { PASSES, SETS, HIDES };
struct search {
	uint8_t reg;
	struct insn_detail load; /* slice__stores(): of these bytes */
	/* moved: how many bytes deeper the stack is at the start of the search than after node; to
	 * be changed to the depth before node */
	enum verdict (*ask)(struct graph *g, uint32_t node, const struct search *search,
			    int64_t *moved);
	bool moves;
};
struct place {
	uint32_t node;
	int64_t moved;
};

/* Returns true if the stack at a node is as deep as on another path to it. */
static bool agrees(struct map64 *depths, struct place at)
{
	uint64_t *known = map64__put(depths, at.node);

	if (!*known)
		*known = ((uint64_t)at.moved << 1) | 1;
	return *known == (((uint64_t)at.moved << 1) | 1);
}

static int backward(struct graph *g, uint32_t node, const struct search *search,
		    uint32_t defs[DEFS_MAX])
{
	VEC(struct place) work = {0};
	struct map64 depths = {0};
	uint32_t stamp = ++g->stamp, p;
	unsigned budget = BUDGET;
	enum verdict verdict;
	int n = 0;

	vec__push(&work, (struct place){.node = node});
	while (work.len && n >= 0) {
		struct place at = work.data[--work.len], next;
		struct preds it = graph__preds(g, at.node);

		if (g->nodes.data[at.node].flags & NODE_ROOT || !g->nodes.data[at.node].pred ||
		    !budget--)
			n = -1;
		while (n >= 0 && (p = preds__next(g, &it))) {
			next = (struct place){p, at.moved};
			if (search->moves && !agrees(&depths, next))
				n = -1;
			if (g->nodes.data[p].stamp == stamp)
				continue;
			g->nodes.data[p].stamp = stamp;
			verdict = search->ask(g, p, search, &next.moved);
			if (verdict == PASSES && n >= 0)
				vec__push(&work, next);
			else if (verdict == SETS && n >= 0 && n < DEFS_MAX)
				defs[n++] = p;
			else
				n = -1;
		}
	}
	vec__free(&work);
	map64__free(&depths);
	return n;
}

static enum verdict sets_register(struct graph *g, uint32_t node, const struct search *search,
				  int64_t *moved)
{
	return graph__writes(g, node) >> search->reg & 1 ? SETS : PASSES;
}

int slice__defs(struct graph *g, uint32_t node, uint8_t reg, uint32_t defs[DEFS_MAX])
{
	struct search search = {.reg = reg, .ask = sets_register};

	return backward(g, node, &search, defs);
}

/* The stack pointer moves by a known number of bytes, and nothing is pushed into the slot. */
static bool only_moves(struct graph *g, uint32_t node, const struct search *search, int64_t *moved)
{
	const struct node *n = &g->nodes.data[node];
	int64_t slot = search->load.mem.disp + *moved;

	if (!search->moves || n->sp_effect != SP_ADD ||
	    (slot + search->load.bits / 8 > 0 && slot < -n->sp_value))
		return false;
	*moved += n->sp_value;
	return true;
}

static enum verdict stores(struct graph *g, uint32_t node, const struct search *search,
			   int64_t *moved)
{
	const struct node *n = &g->nodes.data[node];
	const struct insn *b = graph__branch(g, n);
	struct operand slot = search->load.mem;
	struct insn_detail d;

	/* A call returns with an unchanged stack pointer, unless it calls the next instruction. */
	if (n->branch)
		return search->moves && b->kind == BRANCH_CALL && b->target == b->addr + b->len
			       ? HIDES
			       : PASSES;
	if (graph__writes(g, node) >> search->reg & 1)
		return only_moves(g, node, search, moved) ? PASSES : HIDES;
	if (!graph__detail(g, node, &d))
		return HIDES;
	slot.disp += *moved;
	if (d.op != DETAIL_STORE || !slice__same_memory(&d.mem, d.imm, &slot, search->load.imm))
		return PASSES;
	return d.bits == search->load.bits ? SETS : HIDES;
}

/* Returns true if the register is a copy of the stack pointer before node. */
static bool is_of_stack(struct graph *g, uint32_t node, uint8_t reg)
{
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;

	if (slice__defs(g, node, reg, defs) != 1 || !graph__detail(g, defs[0], &d) ||
	    !graph__is_whole(g, &d))
		return false;
	return d.op == DETAIL_COPY
		       ? d.src == g->arch->sp_reg
		       : d.op == DETAIL_LEA && slice__only_register(&d.mem) == g->arch->sp_reg;
}

/* Returns true if node accesses memory of the stack: by its pointer, or by the frame pointer. Code
 * that keeps its own address in a register spills that, and unoptimised code each value. */
static bool is_stack(struct graph *g, uint32_t node, const struct operand *m)
{
	const struct arch_dwarf *l = &g->arch->dwarf;

	if (m->base == g->arch->sp_reg)
		return true;
	return l->nregs && m->base == l->regs[l->fp] &&
	       (g->arch->loads_return || is_of_stack(g, node, m->base));
}

int slice__stores(struct graph *g, uint32_t node, uint32_t found[DEFS_MAX])
{
	struct search search = {.ask = stores};
	const struct operand *m = &search.load.mem;

	if (!graph__detail(g, node, &search.load) || search.load.op != DETAIL_LOAD ||
	    !is_stack(g, node, m) || m->index != REG_NONE || m->seg)
		return -1;
	search.reg = m->base;
	search.moves = m->base == g->arch->sp_reg;
	return backward(g, node, &search, found);
}

static void add_value(struct values *out, uint64_t v)
{
	for (unsigned i = 0; i < out->n; i++)
		if (out->v[i] == v)
			return;
	if (out->n < VALUES_MAX)
		out->v[out->n++] = v;
	else
		out->unknown = true;
}

/* The queried value is a register's value before node, + plus. No padding, since it is hashed as
 * bytes. */
struct summand {
	uint32_t node;
	uint8_t reg;
	uint8_t adds; /* the number of additions passed, limited since a loop may have any number */
	uint8_t cut;  /* the sum is truncated to 32 bits and extended: CUT_ZERO, CUT_SIGN */
	uint8_t pad;
	int64_t plus;
};
enum { CUT_ZERO = 1, CUT_SIGN };
#define ADDS_MAX 2

struct query {
	VEC(struct summand) work;
	struct map64 seen;
};

static void query(struct query *q, struct summand t, uint32_t node, uint8_t reg)
{
	uint64_t *seen;

	t.node = node;
	t.reg = reg;
	seen = map64__put(&q->seen, map64__hash(&t, sizeof(t)));
	if (!*seen)
		vec__push(&q->work, t);
	*seen = 1;
}

static uint64_t sum(const struct graph *g, const struct summand *t, uint64_t v)
{
	v = arch__address(g->arch, v + (uint64_t)t->plus);
	if (t->cut == CUT_SIGN)
		return (uint64_t)(int64_t)(int32_t)v;
	return t->cut ? (uint32_t)v : v;
}

/* Adds what follows from the value of constant memory at a known address, if that isn't zero. */
static void add_load(struct graph *g, const struct summand *t, const struct insn_detail *d,
		     struct values *out)
{
	const uint8_t *bytes;
	uint64_t v = 0;
	size_t avail;

	if (!graph__is_whole(g, d) || d->mem.seg || d->mem.base != REG_NONE ||
	    d->mem.index != REG_NONE) {
		out->unknown = true;
		return;
	}
	bytes = object__bytes(g->object, d->imm, &avail);
	if (bytes && avail >= g->arch->word &&
	    object__is_constant(g->object, d->imm, g->arch->word))
		memcpy(&v, bytes, g->arch->word);
	if (v)
		add_value(out, sum(g, t, v));
	else
		out->unknown = true;
}

/* A value loaded from the stack: follows the stores to that slot. The result stays unknown, since
 * there may be other stores. */
static void add_kept(struct graph *g, struct query *q, const struct summand *t, uint32_t p,
		     struct values *out)
{
	uint32_t found[DEFS_MAX];
	int n = slice__stores(g, p, found);
	struct insn_detail d;

	out->unknown = true;
	for (int i = 0; i < n; i++)
		if (graph__detail(g, found[i], &d) && graph__is_whole(g, &d))
			query(q, *t, found[i], d.src);
}

static void load(struct graph *g, struct query *q, const struct summand *t, uint32_t p,
		 const struct insn_detail *d, struct values *out)
{
	if (is_stack(g, p, &d->mem))
		add_kept(g, q, t, p, out);
	else
		add_load(g, t, d, out);
}

/* An addition of bytes to src. A 32-bit one is only followed if no other addition comes after it.
 */
static void add(const struct graph *g, struct query *q, struct summand t, uint32_t p,
		const struct insn_detail *d, uint8_t src, int64_t bytes, struct values *out)
{
	const bool whole = graph__is_whole(g, d);

	if (t.adds == ADDS_MAX || (!whole && t.adds)) {
		out->unknown = true;
		return;
	}
	if (!whole)
		t.cut = d->sign ? CUT_SIGN : CUT_ZERO;
	t.adds++;
	t.plus += bytes;
	query(q, t, p, src);
}

uint8_t slice__only_register(const struct operand *m)
{
	if (m->seg || m->addr32)
		return REG_NONE;
	if (m->index == REG_NONE)
		return m->base;
	return m->base == REG_NONE && m->scale == 1 && !m->extend ? m->index : REG_NONE;
}

/* Follows t's register, as it is after node p, to the values before p. */
static void through(struct graph *g, struct query *q, const struct summand *t, uint32_t p,
		    struct values *out)
{
	struct insn_detail d;
	uint8_t reg;

	if (!(graph__writes(g, p) >> t->reg & 1)) {
		query(q, *t, p, t->reg);
		return;
	}
	if (!graph__detail(g, p, &d) || d.dst != t->reg)
		d.op = DETAIL_OTHER;
	switch (d.op) {
	case DETAIL_CONST:
		add_value(out, sum(g, t, d.imm));
		break;
	case DETAIL_COPY:
		if (graph__is_whole(g, &d))
			query(q, *t, p, d.src);
		else
			out->unknown = true;
		break;
	case DETAIL_ADD_CONST:
		add(g, q, *t, p, &d, d.dst, d.imm, out);
		break;
	case DETAIL_LEA:
		reg = slice__only_register(&d.mem);
		if (graph__is_whole(g, &d) && reg != REG_NONE)
			add(g, q, *t, p, &d, reg, d.mem.disp, out);
		else
			out->unknown = true;
		break;
	case DETAIL_CMOV:
		query(q, *t, p, d.src);
		query(q, *t, p, t->reg);
		break;
	case DETAIL_CMOV_LOAD:
		load(g, q, t, p, &d, out);
		query(q, *t, p, d.with);
		break;
	case DETAIL_LOAD:
		load(g, q, t, p, &d, out);
		break;
	default:
		out->unknown = true;
	}
}

void slice__values(struct graph *g, uint32_t node, uint8_t reg, struct values *out)
{
	struct query q = {0};
	unsigned budget = BUDGET;

	memset(out, 0, sizeof(*out));
	query(&q, (struct summand){0}, node, reg);
	while (q.work.len) {
		struct summand t = q.work.data[--q.work.len];
		struct preds it = graph__preds(g, t.node);
		uint32_t p;

		if (g->nodes.data[t.node].flags & NODE_ROOT || !g->nodes.data[t.node].pred ||
		    !budget--) {
			out->unknown = true;
			if (!budget)
				break;
		}
		while ((p = preds__next(g, &it)))
			through(g, &q, &t, p, out);
	}
	vec__free(&q.work);
	map64__free(&q.seen);
}

bool slice__sum(const struct graph *g, const struct insn_detail *d, uint8_t *first, uint8_t *second,
		uint8_t *scale)
{
	if (d->op == DETAIL_ADD) {
		*first = d->dst;
		*second = d->src;
		*scale = 1;
		return true;
	}
	*first = d->mem.base;
	*second = d->mem.index;
	*scale = d->mem.scale;
	return d->op == DETAIL_LEA && graph__is_whole(g, d) && !d->mem.addr32 && !d->mem.seg &&
	       *first != REG_NONE && *second != REG_NONE;
}
