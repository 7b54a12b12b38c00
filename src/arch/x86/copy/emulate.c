// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: does in a block of registers what a simple instruction does: what logs are made of, and
 * moves and sums of general registers. Memory is where the caller allows it. An instruction whose
 * second execution would differ (one that adds to memory) is left to the processor, as is any whose
 * flags are not defined.
 */
#include "assembler.h"

#if defined(__x86_64__)
#include <sys/user.h>

enum {
	CF = 1 << 0,
	ONE = 1 << 1, /* always set */
	PF = 1 << 2,
	AF = 1 << 4,
	ZF = 1 << 6,
	SF = 1 << 7,
	TF = 1 << 8,
	OF = 1 << 11,
	RF = 1 << 16,
	VM = 1 << 17,
	ARITHMETIC = CF | PF | AF | ZF | SF | OF,
	BY_SAHF = CF | PF | AF | ZF | SF,
};

struct emulator {
	struct user_regs_struct r; /* as they will be; rip: after the instruction */
	const ZydisDecodedInstruction *z;
	const struct x86_form *form;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const struct tracee_memory *m;
};

/* ---- operands ---- */

static uint64_t masked(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

static bool get_reg(struct emulator *e, ZydisRegister reg, uint64_t *out)
{
	uint8_t n = x86__gpr(reg);

	if (n >= X86_GENERAL)
		return false;
	*out = masked(*x86__general(&e->r, n) >> (x86__is_high_byte(reg) ? 8 : 0),
		      ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg));
	return true;
}

static bool set_reg(struct emulator *e, ZydisRegister reg, uint64_t value)
{
	unsigned bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg);
	unsigned shift = x86__is_high_byte(reg) ? 8 : 0;
	uint64_t mask = masked(~0ull, bits) << shift;
	uint8_t n = x86__gpr(reg);
	unsigned long long *at;

	if (n >= X86_GENERAL)
		return false;
	at = x86__general(&e->r, n);
	*at = bits == 32 ? masked(value, 32) : (*at & ~mask) | (value << shift & mask);
	return true;
}

static bool address_of(struct emulator *e, const ZydisDecodedOperand *o, uint64_t *out)
{
	uint64_t base = 0, index = 0;

	if (e->z->address_width != 64)
		return false;
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		base = e->r.rip;
	else if (o->mem.base != ZYDIS_REGISTER_NONE && !get_reg(e, o->mem.base, &base))
		return false;
	if (o->mem.index != ZYDIS_REGISTER_NONE && !get_reg(e, o->mem.index, &index))
		return false;
	*out = base + index * o->mem.scale + (uint64_t)o->mem.disp.value;
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		*out += e->r.gs_base;
	else if (o->mem.segment == ZYDIS_REGISTER_FS)
		*out += e->r.fs_base;
	return true;
}

static bool get(struct emulator *e, unsigned n, uint64_t *out)
{
	const ZydisDecodedOperand *o = &e->ops[n];
	uint64_t addr;

	*out = 0;
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return get_reg(e, o->reg.value, out);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*out = o->imm.value.u;
		return true;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return o->size <= 64 && address_of(e, o, &addr) &&
		       e->m->read(e->m->of, addr, out, o->size / 8);
	default:
		return false;
	}
}

static bool set(struct emulator *e, unsigned n, uint64_t value)
{
	const ZydisDecodedOperand *o = &e->ops[n];
	uint64_t addr;

	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return set_reg(e, o->reg.value, value);
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->size <= 64 && address_of(e, o, &addr) &&
	       e->m->write(e->m->of, addr, &value, o->size / 8);
}

static bool is_mem(const struct emulator *e, unsigned n)
{
	return e->ops[n].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/* ---- flags ---- */

static void set_flags(struct emulator *e, uint64_t which, uint64_t flags)
{
	e->r.eflags = (e->r.eflags & ~which) | (flags & which);
}

static uint64_t result_flags(uint64_t result, unsigned bits)
{
	return (__builtin_parity(result & 0xff) ? 0 : PF) | (result ? 0 : ZF) |
	       (result >> (bits - 1) & 1 ? SF : 0);
}

/* sum = a + b, of this many bits. carries: out of each bit. */
static uint64_t sum_flags(uint64_t carries, uint64_t sum, unsigned bits)
{
	bool out = carries >> (bits - 1) & 1, in = carries >> (bits - 2) & 1;

	return result_flags(sum, bits) | (out ? CF : 0) | (out != in ? OF : 0) |
	       (carries >> 3 & 1 ? AF : 0);
}

static uint64_t add(struct emulator *e, uint64_t a, uint64_t b, unsigned bits, uint64_t which)
{
	uint64_t sum = masked(a + b, bits);

	set_flags(e, which, sum_flags((a & b) | ((a | b) & ~sum), sum, bits));
	return sum;
}

static uint64_t subtract(struct emulator *e, uint64_t a, uint64_t b, unsigned bits, uint64_t which)
{
	uint64_t rest = masked(a - b, bits);

	/* borrows */
	set_flags(e, which, sum_flags((~a & b) | ((~a | b) & rest), rest, bits));
	return rest;
}

static uint64_t logic(struct emulator *e, uint64_t result, unsigned bits)
{
	set_flags(e, ARITHMETIC, result_flags(result, bits));
	return result;
}

/* ---- instructions ---- */

static bool compute(struct emulator *e, uint64_t a, uint64_t b, unsigned bits, uint64_t *out)
{
	switch (e->form->op) {
	case X86_ADD:
		*out = add(e, a, b, bits, ARITHMETIC);
		return true;
	case X86_INC:
		*out = add(e, a, 1, bits, ARITHMETIC & ~CF);
		return true;
	case X86_SUB:
	case X86_CMP:
		*out = subtract(e, a, b, bits, ARITHMETIC);
		return true;
	case X86_DEC:
		*out = subtract(e, a, 1, bits, ARITHMETIC & ~CF);
		return true;
	case X86_AND:
	case X86_TEST:
		*out = logic(e, a & b, bits);
		return true;
	case X86_OR:
		*out = logic(e, a | b, bits);
		return true;
	case X86_XOR:
		*out = logic(e, a ^ b, bits);
		return true;
	default:
		return false;
	}
}

/* Writes to memory only what gives the same if it is done twice. */
static bool arithmetic(struct emulator *e)
{
	bool binary = e->z->operand_count_visible > 1;
	bool only_flags = e->form->op == X86_CMP || e->form->op == X86_TEST;
	bool again = e->form->op == X86_AND || e->form->op == X86_OR;
	unsigned bits = e->ops[0].size;
	uint64_t a, b = 0, result;

	if ((is_mem(e, 0) && !only_flags && !again) || bits < 8 || bits > 64 || !get(e, 0, &a) ||
	    (binary && !get(e, 1, &b)))
		return false;
	return compute(e, a, masked(b, bits), bits, &result) && (only_flags || set(e, 0, result));
}

static bool move(struct emulator *e)
{
	uint64_t value;

	return get(e, 1, &value) && set(e, 0, masked(value, e->ops[0].size));
}

static bool load_address(struct emulator *e)
{
	uint64_t addr;

	return e->ops[1].mem.segment != ZYDIS_REGISTER_GS &&
	       e->ops[1].mem.segment != ZYDIS_REGISTER_FS && address_of(e, &e->ops[1], &addr) &&
	       set(e, 0, masked(addr, e->ops[0].size));
}

static bool exchange(struct emulator *e)
{
	uint64_t a, b;

	return !is_mem(e, 0) && !is_mem(e, 1) && get(e, 0, &a) && get(e, 1, &b) && set(e, 0, b) &&
	       set(e, 1, a);
}

static bool push(struct emulator *e, uint64_t value)
{
	e->r.rsp -= sizeof(value);
	return e->m->write(e->m->of, e->r.rsp, &value, sizeof(value));
}

static bool push_operand(struct emulator *e)
{
	uint64_t value;

	return e->z->operand_width == 64 && !is_mem(e, 0) && get(e, 0, &value) && push(e, value);
}

static bool pop(struct emulator *e)
{
	uint64_t value;

	if (e->z->operand_width != 64 || is_mem(e, 0) ||
	    !e->m->read(e->m->of, e->r.rsp, &value, sizeof(value)))
		return false;
	e->r.rsp += sizeof(value);
	return set(e, 0, value);
}

static bool nothing(struct emulator *e)
{
	return true;
}

static bool push_flags(struct emulator *e)
{
	return e->z->operand_width == 64 && push(e, e->r.eflags & ~(uint64_t)(RF | VM));
}

static bool flags_to_ah(struct emulator *e)
{
	return set_reg(e, ZYDIS_REGISTER_AH, (e->r.eflags & BY_SAHF) | ONE);
}

static bool ah_to_flags(struct emulator *e)
{
	set_flags(e, BY_SAHF, e->r.rax >> 8);
	return true;
}

/* Seto alone, which logs have. */
static bool set_if(struct emulator *e)
{
	return !(e->z->opcode & 15) && !is_mem(e, 0) && set(e, 0, e->r.eflags & OF ? 1 : 0);
}

static bool read_time(struct emulator *e)
{
	uint64_t now = x86__ticks();

	e->r.rax = (uint32_t)now;
	e->r.rdx = now >> 32;
	return true;
}

static bool (*const emulations[X86_OPS])(struct emulator *) = {
	[X86_NOP] = nothing,
	[X86_NOTHING] = nothing,
	[X86_MOVE] = move,
	[X86_LEA] = load_address,
	[X86_EXCHANGE] = exchange,
	[X86_PUSH] = push_operand,
	[X86_POP] = pop,
	[X86_PUSH_FLAGS] = push_flags,
	[X86_FLAGS_TO_AH] = flags_to_ah,
	[X86_AH_TO_FLAGS] = ah_to_flags,
	[X86_SET_IF] = set_if,
	[X86_READ_TIME] = read_time,
	[X86_ADD] = arithmetic,
	[X86_SUB] = arithmetic,
	[X86_CMP] = arithmetic,
	[X86_INC] = arithmetic,
	[X86_DEC] = arithmetic,
	[X86_AND] = arithmetic,
	[X86_OR] = arithmetic,
	[X86_XOR] = arithmetic,
	[X86_TEST] = arithmetic,
};

static bool is_special(const struct x86_raw *raw)
{
	const ZydisInstructionAttributes prefixes = ZYDIS_ATTRIB_HAS_LOCK | X86_REPEATS;

	return raw->z.meta.branch_type || raw->z.attributes & prefixes || !emulations[raw->form.op];
}

bool x86__emulate(void *regs, const uint8_t *bytes, size_t n, const struct tracee_memory *m)
{
	struct emulator e = {.r = *(const struct user_regs_struct *)regs, .m = m};
	struct x86_raw raw;

	if (e.r.eflags & TF || x86__raw(X86_64, bytes, n, &raw) || is_special(&raw) ||
	    (raw.z.operand_count && !x86__operands(&raw, e.ops)))
		return false;
	e.z = &raw.z;
	e.form = &raw.form;
	e.r.rip += raw.z.length;
	if (!emulations[raw.form.op](&e))
		return false;
	*(struct user_regs_struct *)regs = e.r;
	return true;
}
#endif
