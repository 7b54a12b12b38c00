// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the memory that an instruction has accessed, by the registers as they are after it,
 * since a hardware breakpoint on data traps there (SDM volume 3, 17.2.4). What it stored is
 * reported where it still follows from the registers and the instruction.
 */
#include "x86.h"

/* SDM volume 3, 17.3.1.1: fast string operations may trap only at the end of a group of iterations:
 * within a cache line. */
#define GROUP 64
#define CF    1
#define ZF    (1 << 6)
#define DF    (1 << 10)

/* An instruction that was executed, and what it left. */
struct done {
	const ZydisDecodedInstruction *z;
	const struct x86_form *form;
	const ZydisDecodedOperand *ops;
	unsigned n;
	uint64_t next; /* the address after it */
	const struct access_state *state;
	uint32_t written; /* general registers, one bit each */
};

static uint64_t reg_of(const struct done *d, ZydisRegister reg)
{
	return d->state->regs[x86__gpr(reg)];
}

static bool is_written(const struct done *d, ZydisRegister reg)
{
	uint8_t r = reg == ZYDIS_REGISTER_NONE ? REG_NONE : x86__gpr(reg);

	return r != REG_NONE && d->written >> r & 1;
}

static void store(struct access *a, const void *bytes, size_t len)
{
	memcpy(a->stored, bytes, len);
	a->known = len;
}

static void store_number(struct access *a, uint64_t value)
{
	store(a, &value, min_of(a->size, 8u));
	if (a->size > 8)
		a->known = 0;
}

/* The same again and again, to 16 bytes. */
static void fill(struct access *a, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < sizeof(a->stored); i++)
		a->stored[i] = value >> 8 * (i % size);
	a->known = sizeof(a->stored);
	a->fills = true;
}

/* ---- the stack ---- */

/* Returns by how much the stack pointer was moved, if the operand is what was pushed or popped. */
static bool is_stack(const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       (x86__gpr(o->mem.base) == X86_RSP || x86__gpr(o->mem.base) == X86_RBP);
}

static bool pushes(const struct done *d)
{
	return d->z->meta.category == ZYDIS_CATEGORY_PUSH ||
	       d->z->meta.category == ZYDIS_CATEGORY_CALL;
}

static uint32_t pushed_size(const struct done *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && is_stack(&d->ops[i]))
			return d->ops[i].size / 8;
	return 0;
}

static void value_pushed(const struct done *d, struct access *a)
{
	const ZydisDecodedOperand *o = &d->ops[0];

	if (d->z->meta.category == ZYDIS_CATEGORY_CALL)
		store_number(a, d->next);
	else if (d->form->op != X86_PUSH)
		return;
	else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		store_number(a, o->imm.value.u);
	else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && x86__gpr(o->reg.value) != REG_NONE)
		store_number(a, reg_of(d, o->reg.value) +
					(o->reg.value == ZYDIS_REGISTER_RSP ? a->size : 0));
}

/* SDM volume 2, enter: pushes rbp, then frame pointers of outer levels; rbp is where it pushed. */
static void locate_enter(const struct done *d, struct access *a)
{
	unsigned level = d->ops[1].imm.value.u & 31;
	unsigned word = x86__width(d->z) / 8;

	a->size = word * (level + 1);
	a->addr = d->state->regs[X86_RBP] - word * level;
	a->located = d->z->operand_width == 8 * word;
}

static void locate_stack(const struct done *d, struct access *a)
{
	uint64_t sp = d->state->regs[X86_RSP];

	a->located = true;
	a->addr = sp;
	if (d->form->op == X86_ENTER) {
		locate_enter(d, a);
	} else if (pushes(d)) {
		value_pushed(d, a);
	} else if (d->z->meta.category == ZYDIS_CATEGORY_RET) {
		a->addr = sp - a->size;
		if (d->z->operand_count_visible)
			a->addr -= d->ops[0].imm.value.u;
	} else {
		a->addr = sp - a->size;
		a->located = d->form->op != X86_POP || !is_written(d, ZYDIS_REGISTER_RSP) ||
			     d->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
			     x86__gpr(d->ops[0].reg.value) != X86_RSP;
	}
}

/* ---- strings ---- */

static bool is_string(const struct done *d, const ZydisDecodedOperand *o)
{
	return (d->z->meta.category == ZYDIS_CATEGORY_STRINGOP ||
		d->z->meta.category == ZYDIS_CATEGORY_IOSTRINGOP) &&
	       o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
}

static bool repeats(const struct done *d)
{
	return d->z->attributes & X86_REPEATS;
}

static uint64_t count_of(const struct done *d)
{
	uint64_t count = d->state->regs[X86_RCX];

	return d->z->address_width == 32 ? (uint32_t)count : count;
}

/* rsi and rdi have advanced. */
static void locate_string(const struct done *d, const ZydisDecodedOperand *o, struct access *a)
{
	uint32_t size = o->size / 8;
	uint64_t at = reg_of(d, o->mem.base);

	if (d->z->address_width == 32)
		at = (uint32_t)at;
	a->located = true;
	a->size = repeats(d) ? GROUP : size;
	a->addr = d->state->regs[X86_FLAGS] & DF ? at + size : at - a->size;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		a->addr += d->state->fs;
	else if (o->mem.segment == ZYDIS_REGISTER_GS)
		a->addr += d->state->gs;
	if (d->form->op == X86_FILL)
		fill(a, d->state->regs[X86_RAX], size);
}

/* ---- operands ---- */

/* bt, btc, btr and bts with a register reach beyond their operand: SDM volume 2, 3.1.1.9 */
static uint64_t bit_offset(const struct done *d)
{
	const ZydisDecodedOperand *o = &d->ops[1];
	int64_t bit;

	if (!(d->form->has & X86_BIT_STRING) || o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	bit = reg_of(d, o->reg.value);
	bit = o->size == 64 ? bit : o->size == 32 ? (int32_t)bit : (int16_t)bit;
	return (bit >> (o->size == 64 ? 6 : o->size == 32 ? 5 : 4)) * (o->size / 8);
}

/* push and call compute the address before they push, pop after it has popped. */
static uint64_t base_of(const struct done *d, const ZydisDecodedOperand *o)
{
	if (o->mem.base == ZYDIS_REGISTER_NONE)
		return 0;
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		return d->next;
	return reg_of(d, o->mem.base) +
	       (x86__gpr(o->mem.base) == X86_RSP && pushes(d) ? pushed_size(d) : 0);
}

static bool is_moved_known(const struct done *d, const ZydisDecodedOperand *o)
{
	return x86__gpr(o->mem.base) == X86_RSP && (pushes(d) || d->form->op == X86_POP);
}

static void locate_operand(const struct done *d, const ZydisDecodedOperand *o, struct access *a)
{
	bool ip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;

	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB || d->form->op == X86_TRANSLATE ||
	    is_written(d, o->mem.index) ||
	    (!ip && o->mem.base != ZYDIS_REGISTER_NONE && is_written(d, o->mem.base) &&
	     !is_moved_known(d, o)))
		return;
	a->located = true;
	a->addr = base_of(d, o) + (uint64_t)o->mem.disp.value + bit_offset(d);
	if (o->mem.index != ZYDIS_REGISTER_NONE)
		a->addr += reg_of(d, o->mem.index) * o->mem.scale;
	if (d->z->address_width == 32)
		a->addr = (uint32_t)a->addr;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		a->addr += d->state->fs;
	else if (o->mem.segment == ZYDIS_REGISTER_GS)
		a->addr += d->state->gs;
}

/* ---- what was stored ---- */

static void value_moved(const struct done *d, struct access *a)
{
	const ZydisDecodedOperand *from = &d->ops[1];

	if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		store_number(a, from->imm.value.u);
	else if (from->type == ZYDIS_OPERAND_TYPE_REGISTER && x86__gpr(from->reg.value) != REG_NONE)
		store_number(a, reg_of(d, from->reg.value) >>
					(x86__is_high_byte(from->reg.value) ? 8 : 0));
}

static bool is_equal(const struct done *d)
{
	return d->state->regs[X86_FLAGS] & ZF;
}

static void value_exchanged(const struct done *d, struct access *a)
{
	if (is_equal(d))
		value_moved(d, a);
}

static void pair_exchanged(const struct done *d, struct access *a)
{
	uint64_t pair[2] = {d->state->regs[X86_RBX], d->state->regs[X86_RCX]};

	if (!is_equal(d))
		return;
	if (a->size == sizeof(pair))
		store(a, pair, sizeof(pair));
	else
		store_number(a, (uint32_t)pair[0] | pair[1] << 32);
}

static void value_swapped(const struct done *d, struct access *a)
{
	uint64_t value = reg_of(d, d->ops[1].reg.value);

	store_number(a, __builtin_bswap64(value) >> (64 - 8 * a->size));
}

static void value_of_condition(const struct done *d, struct access *a)
{
	uint64_t flags[2] = {d->state->regs[X86_FLAGS]};

	store_number(a, x86__taken(BRANCH_JCC, d->z->opcode & 15, flags));
}

static void (*const values[X86_OPS])(const struct done *, struct access *) = {
	[X86_MOVE] = value_moved,
	[X86_STORE] = value_moved,
	[X86_STORE_SWAPPED] = value_swapped,
	[X86_COMPARE_EXCHANGE] = value_exchanged,
	[X86_COMPARE_EXCHANGE_PAIR] = pair_exchanged,
	[X86_SET_IF] = value_of_condition,
};

/* ---- all of an instruction ---- */

static void see_operand(const struct done *d, const ZydisDecodedOperand *o, struct access *a)
{
	*a = (struct access){.len = d->z->length,
			     .size = d->form->has & X86_STATE ? 0 : o->size / 8,
			     .reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
			     .writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
			     .repeats = repeats(d) && is_string(d, o),
			     .goes_on = repeats(d) && count_of(d)};
	if (is_stack(o))
		locate_stack(d, a);
	else if (is_string(d, o))
		locate_string(d, o, a);
	else
		locate_operand(d, o, a);
	if (a->writes && !is_stack(o) && !is_string(d, o) && values[d->form->op])
		values[d->form->op](d, a);
}

static void see_clzero(const struct done *d, struct access *a)
{
	*a = (struct access){.len = d->z->length,
			     .addr = d->state->regs[X86_RAX] & ~63ull,
			     .size = 64,
			     .located = true,
			     .writes = true};
	fill(a, 0, 8);
}

int x86__accesses(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
		  const struct access_state *state, struct access out[ACCESS_MOST])
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	struct done d = {.z = &raw.z, .form = &raw.form, .ops = ops, .state = state};
	int found = 0;

	if (!len || x86__raw(mode, bytes, len, &raw))
		return -1;
	d.n = x86__operands(&raw, ops);
	if (!d.n && raw.z.operand_count)
		return -1;
	d.next = addr + raw.z.length;
	d.written = x86__written(ops, d.n);
	if (raw.form.has & X86_ONLY_NAMES)
		return 0;
	if (raw.form.op == X86_CLEAR_LINE)
		see_clzero(&d, &out[found++]);
	for (unsigned i = 0; i < d.n && found < ACCESS_MOST; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			see_operand(&d, &ops[i], &out[found++]);
	return found;
}
