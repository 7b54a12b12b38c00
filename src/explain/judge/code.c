// SPDX-License-Identifier: BSD-2-Clause
/* The instructions of blocks, decoded by src/arch into operations on places. */
#include <stdlib.h>
#include "explain/judge/code.h"

/* ---- places ---- */

struct decoding {
	const struct plan *p;
	const struct object *object;
	int32_t depth; /* of the stack, before the instruction; SP_UNKNOWN */
	int32_t frame; /* the depth of the frame pointer; SP_UNKNOWN */
};

static place_t reg_place(uint8_t reg)
{
	return reg < 32 ? reg : PLACE_NONE;
}

static place_t slot_at(int64_t offset)
{
	if (offset <= -SLOT_OFFSET || offset >= SLOT_OFFSET)
		return PLACE_NONE;
	return PLACE_SLOT | (uint32_t)(offset + SLOT_OFFSET);
}

static uint8_t frame_reg(const struct arch *a)
{
	return a->dwarf.nregs && a->dwarf.fp < a->dwarf.nregs ? a->dwarf.regs[a->dwarf.fp]
							      : REG_NONE;
}

/* Returns the slot; PLACE_NONE if the operand isn't a slot of the stack. */
static place_t slot_of(const struct decoding *d, const struct operand *m)
{
	if (m->kind != OPERAND_MEM || m->index != REG_NONE || m->seg != SEG_NONE ||
	    m->base == REG_NONE)
		return PLACE_NONE;
	if (m->base == d->p->arch->sp_reg && d->depth != SP_UNKNOWN)
		return slot_at((int64_t)m->disp - d->depth);
	if (m->base == frame_reg(d->p->arch) && d->frame != SP_UNKNOWN)
		return slot_at((int64_t)m->disp - d->frame);
	return PLACE_NONE;
}

/* ---- one instruction ---- */

/* The only register of an address; REG_NONE: it has none, or two. */
static uint8_t only_register(const struct operand *m)
{
	if (m->index == REG_NONE || m->index == m->base)
		return m->base;
	return m->base == REG_NONE ? m->index : REG_NONE;
}

/* Returns the slot whose address a copy of the stack or frame pointer is; PLACE_NONE if it is of
 * another register. */
static place_t copied_address(const struct decoding *k, uint8_t reg)
{
	if (reg == k->p->arch->sp_reg && k->depth != SP_UNKNOWN)
		return slot_at(-(int64_t)k->depth);
	if (reg == frame_reg(k->p->arch) && k->frame != SP_UNKNOWN)
		return slot_at(-(int64_t)k->frame);
	return PLACE_NONE;
}

static void set_by_detail(const struct decoding *k, const struct insn_detail *d, struct op *op)
{
	place_t slot = slot_of(k, &d->mem);

	op->dst = reg_place(d->dst);
	op->src = reg_place(d->src);
	op->imm = d->imm;
	switch (d->op) {
	case DETAIL_CONST:
		op->kind = OP_CONST;
		break;
	case DETAIL_COPY:
		op->kind = d->bits >= 32 ? OP_COPY : OP_OTHER;
		if (d->bits == 8) /* of a byte; the whole register was set before */
			op->kind = d->src == d->dst ? OP_CHANGE : OP_COPY;
		else if (d->dst != frame_reg(k->p->arch) && d->dst != k->p->arch->sp_reg)
			op->address = copied_address(k, d->src);
		break;
	case DETAIL_LOAD:
		op->kind = slot == PLACE_NONE ? OP_LOAD : OP_COPY;
		op->src = slot;
		break;
	case DETAIL_STORE:
		op->kind = OP_COPY;
		op->dst = slot;
		break;
	case DETAIL_STORE_CONST:
		op->kind = OP_CONST;
		op->dst = slot;
		break;
	case DETAIL_PUSH:
		op->kind = op->src == PLACE_NONE ? OP_OTHER : OP_COPY;
		op->dst = k->depth == SP_UNKNOWN ? PLACE_NONE
						 : slot_at(-(int64_t)k->depth - k->p->arch->word);
		break;
	case DETAIL_POP:
		op->src = k->depth == SP_UNKNOWN ? PLACE_NONE : slot_at(-(int64_t)k->depth);
		op->kind = op->src == PLACE_NONE ? OP_OTHER : OP_COPY;
		break;
	case DETAIL_CMOV:
	case DETAIL_CHOICE:
		op->kind = d->with == d->dst ? OP_CHOICE : OP_OTHER;
		break;
	case DETAIL_CMOV_LOAD:
		op->kind = slot == PLACE_NONE ? OP_OTHER : OP_CHOICE;
		op->src = slot;
		break;
	case DETAIL_FLAGS:
		op->kind = OP_FLAGS;
		break;
	case DETAIL_AND:
		op->dst = d->dst == REG_NONE ? slot : op->dst;
		op->kind = OP_AND;
		break;
	case DETAIL_OR:
		op->dst = d->dst == REG_NONE ? slot : op->dst;
		op->kind = OP_OR;
		break;
	case DETAIL_SELF:
	case DETAIL_AND_CONST:
	case DETAIL_ADD_CONST:
	case DETAIL_SHL_CONST:
	case DETAIL_SHR_CONST:
		if (op->src == PLACE_NONE)
			op->src = op->dst;
		op->kind = OP_CHANGE;
		break;
	case DETAIL_ADD: /* of a register to itself */
		op->kind = op->src == op->dst ? OP_CHANGE : OP_OTHER;
		break;
	case DETAIL_LEA: /* of one register and constants */
		op->src = reg_place(only_register(&d->mem));
		op->kind = op->src == PLACE_NONE ? OP_OTHER : OP_CHANGE;
		op->address = slot;
		break;
	default:
		op->dst = PLACE_NONE;
	}
}

static void follow_stack(struct decoding *k, const struct insn *i)
{
	switch (i->sp_effect) {
	case SP_SAME:
	case SP_FP_LOST:
		if (i->sp_effect == SP_FP_LOST)
			k->frame = SP_UNKNOWN;
		/* fall through */
	case SP_ADD:
		k->depth = k->depth == SP_UNKNOWN ? SP_UNKNOWN : k->depth - i->sp_value;
		break;
	case SP_FP_FROM_SP:
		k->frame = k->depth == SP_UNKNOWN ? SP_UNKNOWN : k->depth - i->sp_value;
		break;
	case SP_FROM_FP:
		k->depth = k->frame == SP_UNKNOWN ? SP_UNKNOWN : k->frame - i->sp_value;
		break;
	case SP_LEAVE:
		k->depth = k->frame == SP_UNKNOWN ? SP_UNKNOWN : k->frame - i->sp_value;
		k->frame = SP_UNKNOWN;
		break;
	default:
		k->depth = SP_UNKNOWN;
	}
}

/* Returns 0 if the instruction can't be decoded. */
static unsigned decode(struct decoding *k, uint64_t at, struct op *op)
{
	const struct arch *a = k->p->arch;
	uint64_t code = object__code_address(k->object, at);
	struct insn_detail d;
	const uint8_t *bytes;
	struct insn i;
	size_t len;

	bytes = object__bytes(k->object, at, &len);
	if (!bytes || !a->detail || a->decode(bytes, len, code, object__is_kernel(k->object), &i) ||
	    !a->detail(bytes, len, code, &d))
		return 0;
	*op = (struct op){.vaddr = at,
			  .len = i.len,
			  .dst = PLACE_NONE,
			  .src = PLACE_NONE,
			  .spoils = PLACE_NONE,
			  .address = PLACE_NONE,
			  .tests = PLACE_NONE,
			  .sets_flags = d.writes_flags,
			  .writes = d.writes};
	if (i.kind == BRANCH_NONE)
		set_by_detail(k, &d, op);
	/* for calls see code__clobbers() */
	else
		op->writes = 0;
	if (d.writes_memory && !(op->dst != PLACE_NONE && op->dst & PLACE_SLOT))
		op->spoils = slot_of(k, d.mem.kind ? &d.mem : &i.operand);
	if (d.writes_flags && !d.writes_memory)
		op->tests = slot_of(k, d.mem.kind ? &d.mem : &i.operand);
	if (d.conditional && op->dst != PLACE_NONE)
		op->kind = OP_OTHER;
	follow_stack(k, &i);
	return i.len;
}

/* ---- blocks ---- */

/* Returns the depth of the frame pointer, as the first block sets it, if the function has one. */
static int32_t find_frame(const struct plan *p, uint32_t function)
{
	uint32_t entry = p->functions.data[function].entry_block;
	const struct plan_block *b = entry == NO_BLOCK ? NULL : &p->blocks.data[entry];
	struct decoding k = {.p = p, .depth = 0, .frame = SP_UNKNOWN};
	int32_t frame = SP_UNKNOWN;
	struct op op;
	unsigned len;

	if (!b)
		return SP_UNKNOWN;
	k.object = p->objects.data[b->object].object;
	for (uint64_t at = b->start; at < b->end && (len = decode(&k, at, &op)); at += len)
		if (k.frame != SP_UNKNOWN)
			frame = k.frame;
	return frame;
}

static int32_t frame_of(struct code *c, uint32_t function)
{
	if (function == NO_FUNCTION)
		return SP_UNKNOWN;
	if (!c->framed[function])
		c->frame[function] = find_frame(c->plan, function);
	c->framed[function] = true;
	return c->frame[function];
}

static void make(struct code *c, uint32_t block)
{
	const struct plan_block *b = &c->plan->blocks.data[block];
	struct block_ops *o = &c->blocks[block];
	struct decoding k = {.p = c->plan,
			     .object = c->plan->objects.data[b->object].object,
			     .depth = b->sp_delta,
			     .frame = frame_of(c, b->function)};
	VEC(struct op) ops = {0};
	struct op op;
	unsigned len = 0;
	uint64_t at;

	o->decoded = true;
	for (at = b->start; k.object && at < b->end && (len = decode(&k, at, &op)); at += len)
		vec__push(&ops, op);
	o->known = at >= b->end;
	o->ops = ops.data;
	o->n = ops.len;
}

const struct block_ops *code__ops(struct code *c, uint32_t block)
{
	if (!c->blocks[block].decoded)
		make(c, block);
	return &c->blocks[block];
}

/* ---- conventions ---- */

place_t code__result(const struct code *c)
{
	return reg_place(c->plan->arch->conventions[CONVENTION_C].result);
}

place_t code__argument(const struct code *c)
{
	const struct convention *v = &c->plan->arch->conventions[CONVENTION_C];

	return v->nargs ? reg_place(v->args[0]) : PLACE_NONE;
}

static void scan(struct code *c, uint32_t function)
{
	c->scanned[function] = true;
	for (uint32_t i = c->first[function]; i < c->first[function + 1]; i++) {
		const struct block_ops *o = code__ops(c, c->of_function[i]);

		for (size_t n = 0; n < o->n; n++)
			if (o->ops[n].address != PLACE_NONE) {
				c->escapes[function] |= 1ull << o->ops[n].address / 4 % 64;
				c->lowest[function] =
					min_of(c->lowest[function], o->ops[n].address);
			}
	}
}

bool code__clobbers(struct code *c, uint32_t function, place_t place)
{
	if (!(place & PLACE_SLOT))
		return c->plan->arch->clobbered >> place & 1;
	if (!c->scanned[function])
		scan(c, function);
	return c->escapes[function] >> place / 4 % 64 & 1; /* perhaps by a pointer */
}

bool code__may_reach(struct code *c, uint32_t function, place_t place)
{
	if (place == PLACE_NONE || !(place & PLACE_SLOT))
		return false;
	if (!c->scanned[function])
		scan(c, function);
	return place > c->lowest[function] && place < (PLACE_SLOT | SLOT_OFFSET);
}

/* ---- of a plan ---- */

static uint32_t function_of(const struct plan *p, uint32_t block)
{
	uint32_t f = p->blocks.data[block].function;

	return f == NO_FUNCTION ? (uint32_t)p->functions.len : f;
}

static void add_block(struct code *c, uint32_t *at, uint32_t block)
{
	uint32_t f = function_of(c->plan, block);

	c->number[block] = at[f] - c->first[f];
	c->of_function[at[f]++] = block;
}

static void group(struct code *c)
{
	const struct plan *p = c->plan;
	size_t nf = p->functions.len + 1;
	autofree uint32_t *at = xcalloc(nf + 1, sizeof(*at));

	c->first = xcalloc(nf + 1, sizeof(*c->first));
	c->of_function = xcalloc(c->nblocks + 1, sizeof(*c->of_function));
	c->number = xcalloc(c->nblocks + 1, sizeof(*c->number));
	for (uint32_t b = 0; b < c->nblocks; b++)
		c->first[function_of(p, b) + 1]++;
	for (size_t f = 0; f < nf; f++)
		c->first[f + 1] += c->first[f];
	memcpy(at, c->first, (nf + 1) * sizeof(*at));
	for (uint32_t b = 0; b < c->nblocks; b++)
		add_block(c, at, b);
}

void code__init(struct code *c, const struct plan *p)
{
	*c = (struct code){.plan = p, .nblocks = p->blocks.len};
	c->blocks = xcalloc(c->nblocks + 1, sizeof(*c->blocks));
	c->error_exit = xcalloc(c->nblocks + 1, 1);
	c->escapes = xcalloc(p->functions.len + 1, sizeof(*c->escapes));
	c->lowest = xmalloc((p->functions.len + 1) * sizeof(*c->lowest));
	memset(c->lowest, 0xff, (p->functions.len + 1) * sizeof(*c->lowest));
	c->frame = xcalloc(p->functions.len + 1, sizeof(*c->frame));
	c->framed = xcalloc(p->functions.len + 1, sizeof(*c->framed));
	c->scanned = xcalloc(p->functions.len + 1, sizeof(*c->scanned));
	c->loops = xcalloc(p->functions.len + 1, sizeof(struct loops *));
	group(c);
}

bool code__test(const struct code *c, uint32_t object, uint64_t setter, struct test *out)
{
	const struct arch *arch = c->plan->arch;
	const struct object *o = c->plan->objects.data[object].object;
	const uint8_t *bytes;
	size_t len;

	bytes = setter && o && arch->test ? object__bytes(o, setter, &len) : NULL;
	return bytes && arch->test(bytes, len, object__code_address(o, setter), out);
}

bool code__memory(const struct code *c, uint32_t object, uint64_t vaddr, struct operand *out)
{
	const struct arch *a = c->plan->arch;
	const struct object *o = c->plan->objects.data[object].object;
	struct insn_detail d;
	const uint8_t *bytes;
	struct insn i;
	size_t len;

	bytes = o && a->detail ? object__bytes(o, vaddr, &len) : NULL;
	if (!bytes || a->decode(bytes, len, object__code_address(o, vaddr), false, &i) ||
	    !a->detail(bytes, len, object__code_address(o, vaddr), &d))
		return false;
	*out = d.mem.kind ? d.mem : i.operand;
	return out->kind == OPERAND_MEM && out->base != REG_NONE && out->index == REG_NONE &&
	       out->seg == SEG_NONE;
}

uint64_t code__setter(struct code *c, uint32_t block, uint64_t vaddr)
{
	const struct block_ops *o = code__ops(c, block);
	uint64_t setter = 0;

	for (size_t i = 0; i < o->n && o->ops[i].vaddr < vaddr; i++)
		if (o->ops[i].sets_flags)
			setter = o->ops[i].vaddr;
	return setter;
}

bool code__text(const struct plan *p, uint32_t object, uint64_t vaddr, char *out, size_t size)
{
	const struct object *o = p->objects.data[object].object;
	const uint8_t *bytes;
	size_t len;

	bytes = o ? object__bytes(o, vaddr, &len) : NULL;
	return bytes && p->arch->format &&
	       p->arch->format(bytes, len, object__code_address(o, vaddr), out, size);
}
