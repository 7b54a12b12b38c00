// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the upper bound of a register: follows its value backward along every path to an
 * instruction that bounds it: cmp or sub and a conditional jump, and, a shift, or a load of a byte.
 * The value may have been copied, or loaded from memory.
 */
#include "code/code.h"

#define BUDGET	  20000
#define LARGEST	  0xffff /* the largest index of a table */
#define SCALE_MAX 16	 /* an index is multiplied by at most 2^16 */

/* A condition on the path whose flag-setting instruction has not been reached yet. */
struct condition {
	uint16_t cond;
	uint8_t set, taken;
};

/* The followed value before node: a register or memory. No padding, since it is hashed as bytes. */
struct state {
	uint32_t node;
	uint8_t reg;   /* REG_NONE: mem */
	uint8_t bits;  /* number of low bits that count */
	uint8_t sign;  /* was sign-extended: bits alone are no bound */
	uint8_t other; /* a register that a check bounded, REG_NONE: none; memory: OTHER_MEM */
	struct operand mem, other_mem;
	uint64_t cap; /* upper bound so far */
	uint64_t other_max;
	int64_t mem_imm, other_imm;
	uint8_t other_bits;
	uint8_t scale; /* the queried register's value is the followed value << scale */
	/* 1 + the number of bits by which the followed value, and other, are shifted right later on
	 * the path; 0 if not shifted. The bound is only known if they were shifted left before. */
	uint8_t shift, other_shift;
	uint8_t pad[4];
	struct condition cond[2];
};
#define OTHER_MEM 0xfd

struct search {
	VEC(struct state) work;
	struct map64 seen;
	uint64_t max;
	bool failed, nested;
};

static bool bound(struct graph *g, uint32_t node, uint8_t reg, uint8_t extend, bool nested,
		  uint64_t *max);

static void push(struct search *q, const struct state *s)
{
	uint64_t *seen = map64__put(&q->seen, map64__hash(s, sizeof(*s)));

	if (!*seen)
		vec__push(&q->work, *s);
	*seen = 1;
}

/* Ends the path: the value is at most max. */
static void found(struct search *q, const struct state *s, uint64_t max)
{
	max = min_of(max, s->cap);
	if (q->failed || max > (uint64_t)LARGEST >> s->scale)
		q->failed = true;
	else
		q->max = max_of(q->max, max << s->scale);
}

/* Ends the path without a check: only the value's width bounds it. */
static void give_up(struct search *q, const struct state *s)
{
	if (s->shift)
		found(q, s, UINT64_MAX >> (s->shift - 1));
	else
		found(q, s, s->bits == 8 && !s->sign ? 0xff : UINT64_MAX);
}

/* Returns the condition under which control transferred from p to node, if p is a conditional
 * jump. */
static struct condition condition_of(struct graph *g, uint32_t p, const struct state *s)
{
	const struct insn *b = graph__branch(g, &g->nodes.data[p]);
	uint64_t to = g->nodes.data[s->node].addr;

	if (b->conditional)
		return (struct condition){b->cond, 1, to != b->addr + b->len};
	if (b->kind != BRANCH_JCC || b->target == b->addr + b->len)
		return (struct condition){0};
	return (struct condition){b->cond, 1, to == b->target};
}

static void add_condition(struct state *s, struct condition c)
{
	if (c.set)
		s->cond[s->cond[0].set] = c;
}

/* Returns true if a check of this width bounds the followed value. */
static bool enough(const struct state *s, uint8_t bits, uint64_t max)
{
	if (s->bits <= bits)
		return s->bits == 64 || max < 1ull << s->bits;
	return bits == 32; /* 64 followed, 32 checked: a 32-bit write clears the upper half */
}

static bool is_other(const struct insn_detail *d, const struct state *s)
{
	if (d->bits != s->other_bits || s->other_shift)
		return false;
	return d->src != REG_NONE
		       ? s->other == d->src
		       : s->other == OTHER_MEM &&
				 slice__same_memory(&d->mem, 0, &s->other_mem, s->other_imm);
}

/* The check bounds another register or memory, of which the value may turn out to be a copy. */
static void note_other(const struct insn_detail *d, struct state *s, uint64_t max)
{
	s->other_max = is_other(d, s) ? min_of(max, s->other_max) : max;
	s->other = d->src == REG_NONE ? OTHER_MEM : d->src;
	s->other_bits = d->bits;
	s->other_shift = 0;
	s->other_mem = d->mem;
	s->other_imm = 0;
}

static bool single_value(struct graph *g, uint32_t node, uint8_t reg, int64_t *out)
{
	struct values v;

	slice__values(g, node, reg, &v);
	*out = v.v[0];
	return v.n == 1 && !v.unknown;
}

/* Turns a comparison of two registers, one of which is constant, into one with a constant. */
static bool with_constant(struct graph *g, uint32_t p, struct insn_detail *d, bool *swapped)
{
	uint8_t first = d->src;

	if (d->op != DETAIL_CMP)
		return d->op == DETAIL_CMP_CONST;
	if (single_value(g, p, d->with, &d->imm))
		return true;
	*swapped = true;
	d->src = d->with;
	return single_value(g, p, first, &d->imm);
}

/* Notes the comparison at p, whose flags these conditions use. Returns true if it bounds the
 * followed value. */
static bool see_check(struct graph *g, uint32_t p, struct insn_detail compare,
		      const struct condition cond[2], struct search *q, struct state *s)
{
	struct insn_detail *d = &compare;
	bool swapped = false;
	uint64_t n, max;

	if (!cond[0].set || !with_constant(g, p, d, &swapped) ||
	    (d->src == REG_NONE && d->mem.base == REG_NONE && d->mem.index == REG_NONE))
		return false;
	n = d->bits == 64 ? (uint64_t)d->imm : (uint64_t)d->imm & ((1ull << d->bits) - 1);
	for (unsigned i = 0; i < 2; i++) {
		if (!cond[i].set || !g->arch->bound(cond[i].cond, cond[i].taken, swapped, n, &max))
			continue;
		if (d->src == s->reg && !s->shift &&
		    (d->src != REG_NONE || slice__same_memory(&d->mem, 0, &s->mem, s->mem_imm)) &&
		    enough(s, d->bits, max)) {
			found(q, s, max);
			return true;
		}
		note_other(d, s, max);
	}
	return false;
}

static void see_flags(struct state *s)
{
	memset(s->cond, 0, sizeof(s->cond));
}

/* Returns true if the followed value is now the original, whose copy a check bounded. */
static bool copy_of_bounded(struct search *q, const struct state *s)
{
	bool same = s->reg != REG_NONE ? s->other == s->reg
				       : s->other == OTHER_MEM &&
						 slice__same_memory(&s->other_mem, s->other_imm,
								    &s->mem, s->mem_imm);

	if (!same || s->shift || s->other_shift || !enough(s, s->other_bits, s->other_max))
		return false;
	found(q, s, s->other_max);
	return true;
}

/* A byte from a constant table at a known address: bounded by the largest entry that can be read. A
 * check of that byte in memory may give a lower bound, so the path continues. */
static void see_byte_table(struct graph *g, uint32_t node, const struct insn_detail *d,
			   const struct search *q, struct state *s)
{
	bool indexed = d->mem.index != REG_NONE;
	struct values base = {.n = 1};
	const uint8_t *bytes;
	uint64_t table, last, max = 0;
	size_t avail;

	if (q->nested || d->op != DETAIL_LOAD || d->bits != 8 || d->sign || d->mem.seg ||
	    (indexed ? d->mem.scale != 1 : d->mem.base == REG_NONE))
		return;
	if (indexed && d->mem.base != REG_NONE)
		slice__values(g, node, d->mem.base, &base);
	if (base.n != 1 || base.unknown ||
	    !bound(g, node, indexed ? d->mem.index : d->mem.base, indexed ? d->mem.extend : 0, true,
		   &last))
		return;
	table = base.v[0] + d->mem.disp + d->imm;
	bytes = object__bytes(g->object, table, &avail);
	if (!bytes || last >= avail || !object__is_constant(g->object, table, last + 1))
		return;
	for (uint64_t i = 0; i <= last; i++)
		max = max_of(max, bytes[i]);
	s->cap = min_of(s->cap, max);
}

static void scale_by(struct search *q, struct state *s, uint8_t by)
{
	s->scale += by;
	s->cap >>= by;
	if (s->scale > SCALE_MAX)
		q->failed = true;
}

/* A left shift, followed by the right shift: only the low bits remain. Returns true if the path
 * continues. */
static bool through_shift(const struct insn_detail *d, struct search *q, struct state *s)
{
	uint8_t left = 64 - d->imm;

	if (d->op != DETAIL_SHL_CONST || d->bits != 64 || d->imm < s->shift - 1) {
		give_up(q, s);
		return false;
	}
	scale_by(q, s, d->imm - (s->shift - 1));
	s->bits = min_of(s->bits, left);
	s->sign = s->shift = 0;
	s->reg = d->src;
	return !copy_of_bounded(q, s);
}

/* An index times a power of two: lea (,%reg,4), or a left shift. */
static bool through_scale(const struct graph *g, const struct insn_detail *d, struct search *q,
			  struct state *s)
{
	uint8_t by = d->op == DETAIL_SHL_CONST ? d->imm : __builtin_ctz(d->mem.scale);

	if (!graph__is_whole(g, d) || s->bits != d->bits ||
	    (d->op == DETAIL_LEA &&
	     (d->mem.base != REG_NONE || d->mem.disp || d->mem.addr32 || d->mem.extend))) {
		give_up(q, s);
		return false;
	}
	scale_by(q, s, by);
	s->reg = d->op == DETAIL_LEA ? d->mem.index : d->src;
	return !copy_of_bounded(q, s);
}

/* p sets the followed register: follows its source. Returns true if the path continues. */
static bool through_def(struct graph *g, uint32_t p, const struct insn_detail *d, struct search *q,
			struct state *s)
{
	uint64_t all = d->bits == 64 ? UINT64_MAX : (1ull << d->bits) - 1;

	if (d->dst != s->reg) {
		give_up(q, s);
		return false;
	}
	if (s->shift)
		return through_shift(d, q, s);
	see_byte_table(g, p, d, q, s);
	switch (d->op) {
	case DETAIL_CONST:
		found(q, s, d->imm);
		return false;
	case DETAIL_AND_CONST:
		found(q, s, d->imm & all);
		return false;
	case DETAIL_SHR_CONST:
		if (d->bits != 64) {
			found(q, s, all >> (d->imm & 63));
			return false;
		}
		s->shift = 1 + (d->imm & 63);
		s->reg = d->src;
		return true;
	case DETAIL_SHL_CONST:
	case DETAIL_LEA:
		return through_scale(g, d, q, s);
	case DETAIL_COPY:
	case DETAIL_LOAD:
		/* Its low bits were checked, and it has no others. */
		if (s->other == s->reg && !d->sign && d->bits <= s->other_bits) {
			found(q, s, s->other_max);
			return false;
		}
		if (d->bits < s->bits)
			s->sign = d->sign;
		s->bits = min_of(s->bits, d->bits);
		s->reg = d->op == DETAIL_COPY ? d->src : REG_NONE;
		s->mem = d->mem;
		s->mem_imm = d->op == DETAIL_COPY ? 0 : d->imm;
		return !copy_of_bounded(q, s);
	default:
		give_up(q, s);
		return false;
	}
}

/* Returns true if it may change memory that held a value before. A push writes to unused stack. */
static bool changes_memory(const struct insn_detail *d)
{
	return d->writes_memory && d->op != DETAIL_PUSH;
}

static bool through_memory(const struct graph *g, const struct insn_detail *d, struct search *q,
			   struct state *s)
{
	uint32_t needs = 0;

	if (s->mem.base < 32)
		needs |= 1u << s->mem.base;
	if (s->mem.index < 32)
		needs |= 1u << s->mem.index;
	if (d->op == DETAIL_STORE && slice__same_memory(&d->mem, d->imm, &s->mem, s->mem_imm) &&
	    d->bits >= s->bits) {
		s->reg = d->src;
		memset(&s->mem, 0, sizeof(s->mem));
		s->mem_imm = 0;
		return !copy_of_bounded(q, s);
	}
	if (d->op == DETAIL_COPY && graph__is_whole(g, d) && d->dst == s->mem.base &&
	    s->mem.index == REG_NONE) {
		s->mem.base = d->src;
		return true;
	}
	if (!changes_memory(d) && !(d->writes & needs))
		return true;
	give_up(q, s);
	return false;
}

static void forget_other(struct state *s)
{
	s->other = REG_NONE;
	s->other_max = s->other_bits = s->other_imm = s->other_shift = 0;
	memset(&s->other_mem, 0, sizeof(s->other_mem));
}

/* Returns true if other is the followed value, extended from its low bits. Then its bound holds for
 * both. */
static bool widens_followed(const struct state *s, const struct insn_detail *d, uint8_t bits,
			    bool sign)
{
	bool same = d->op == DETAIL_LOAD ? slice__same_memory(&d->mem, d->imm, &s->mem, s->mem_imm)
					 : s->reg != REG_NONE;

	return same && s->reg == d->src && !s->shift && s->bits <= bits &&
	       (bits == 64 || s->other_max < 1ull << (bits - sign));
}

/* The instruction sets the register that a check bounded: continues with its source, or forgets it.
 * Returns true if the source is the followed value, which is bounded now. */
static bool through_other(const struct insn_detail *d, struct search *q, struct state *s)
{
	uint8_t shift = s->other_shift;

	/* clang compares a quarter of the index */
	if (d->dst == s->other && d->op == DETAIL_SHR_CONST && d->bits == 32 &&
	    s->other_bits == 32 && s->other_max >> (32 - d->imm % 32) == 0) {
		s->other_max = ((s->other_max + 1) << d->imm) - 1;
		s->other = d->src;
		return false;
	}
	if (d->dst != s->other || s->other_bits != 64) {
		forget_other(s);
	} else if (!shift && d->op == DETAIL_SHR_CONST && d->bits == 64) {
		s->other = d->src;
		s->other_shift = 1 + (d->imm & 63);
	} else if (shift ? d->op == DETAIL_SHL_CONST && d->imm == shift - 1 &&
				   widens_followed(s, d, 64 - d->imm, false)
			 : (d->op == DETAIL_COPY || d->op == DETAIL_LOAD) &&
				   widens_followed(s, d, d->bits, d->sign)) {
		found(q, s, s->other_max);
		return true;
	} else {
		forget_other(s);
	}
	return false;
}

/* Returns true if it changes the memory that a check bounded, or a register of its address. */
static bool changes_other_memory(const struct insn_detail *d, const struct state *s)
{
	return s->other == OTHER_MEM &&
	       (changes_memory(d) ||
		(s->other_mem.base < 32 && d->writes >> s->other_mem.base & 1) ||
		(s->other_mem.index < 32 && d->writes >> s->other_mem.index & 1));
}

/*
 * clang -O0 checks an index that it has spilled by subtracting from it. The flags describe the
 * register before the subtraction; they don't bound a value that is followed through the
 * difference.
 */
static void see_difference(struct graph *g, uint32_t p, const struct insn_detail *d,
			   struct search *q, struct state *s)
{
	struct insn_detail compare = *d;

	if (s->other == d->dst)
		forget_other(s); /* the difference */
	compare.op = DETAIL_CMP_CONST;
	compare.src = d->dst;
	compare.imm = -d->imm;
	if (s->reg != d->dst)
		see_check(g, p, compare, s->cond, q, s);
}

/* Conditional jumps that compare registers, comparisons, and other instructions that set the flags.
 * Returns true if the followed value is bounded. */
static bool passes_check(struct graph *g, uint32_t p, const struct insn_detail *d, struct search *q,
			 struct state *s)
{
	bool compares = d->op == DETAIL_CMP || d->op == DETAIL_CMP_CONST;
	struct condition own[2] = {0};

	if (g->nodes.data[p].branch) {
		own[0] = condition_of(g, p, s);
		if (compares)
			return see_check(g, p, *d, own, q, s);
		add_condition(s, own[0]);
	}
	if (!d->writes_flags)
		return false;
	if (compares && see_check(g, p, *d, s->cond, q, s))
		return true;
	if (d->subtracts)
		see_difference(g, p, d, q, s);
	see_flags(s);
	return false;
}

/* Returns true if its condition doesn't hold on this path. */
static bool is_skipped(const struct insn_detail *d, const struct state *s)
{
	for (unsigned i = 0; d->conditional && i < ARRAY_SIZE(s->cond); i++)
		if (s->cond[i].set && !s->cond[i].taken && s->cond[i].cond == d->cond)
			return true;
	return false;
}

static void step(struct graph *g, struct search *q, struct state s, uint32_t p)
{
	struct insn_detail d;
	uint8_t other;

	if (!graph__detail(g, p, &d)) {
		give_up(q, &s);
		return;
	}
	if (!g->nodes.data[p].branch && is_skipped(&d, &s)) {
		s.node = p;
		push(q, &s);
		return;
	}
	if (passes_check(g, p, &d, q, &s))
		return;
	s.node = p;
	other = s.other;
	if (s.reg == REG_NONE ? !through_memory(g, &d, q, &s)
			      : d.writes >> s.reg & 1 && !through_def(g, p, &d, q, &s))
		return;
	if (other < 32 && d.writes >> other & 1 && !d.subtracts && through_other(&d, q, &s))
		return;
	if (changes_other_memory(&d, &s))
		forget_other(&s);
	push(q, &s);
}

static bool bound(struct graph *g, uint32_t node, uint8_t reg, uint8_t extend, bool nested,
		  uint64_t *max)
{
	struct search q = {.nested = nested};
	unsigned budget = BUDGET;
	struct state s;

	memset(&s, 0, sizeof(s));
	s.node = node;
	s.reg = reg;
	s.bits = extend ? extend & ~EXTEND_SIGNED : 8 * g->arch->word;
	s.sign = extend & EXTEND_SIGNED ? 1 : 0;
	s.cap = UINT64_MAX;
	s.other = REG_NONE;
	/* A conditional jump may read the entry itself: if it does, its condition holds. */
	if (g->nodes.data[node].branch && graph__branch(g, &g->nodes.data[node])->conditional)
		s.cond[0] =
			(struct condition){graph__branch(g, &g->nodes.data[node])->cond, 1, true};
	push(&q, &s);
	while (q.work.len && !q.failed) {
		struct preds it;
		uint32_t p;

		s = q.work.data[--q.work.len];
		it = graph__preds(g, s.node);
		if (g->nodes.data[s.node].flags & NODE_ROOT || !g->nodes.data[s.node].pred)
			give_up(&q, &s);
		if (!budget--)
			q.failed = true;
		while (!q.failed && (p = preds__next(g, &it)))
			step(g, &q, s, p);
	}
	vec__free(&q.work);
	map64__free(&q.seen);
	*max = q.max;
	return !q.failed;
}

bool slice__bound(struct graph *g, uint32_t node, uint8_t reg, uint8_t extend, uint64_t *max)
{
	return bound(g, node, reg, extend, false, max);
}
