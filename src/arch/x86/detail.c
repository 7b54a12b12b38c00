// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: what an instruction does to the general registers, from Zydis' operands. Used to
 * read jump tables and IFUNC resolvers, and to find what made a value.
 */
#include "arch/detail.h"
#include "x86.h"

#define FLAG_BITS                                                                                  \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |               \
	 ZYDIS_CPUFLAG_OF)

/* An instruction, its first two visible operands, and their register numbers. */
struct pair {
	const struct x86_raw *raw;
	uint64_t addr;
	const ZydisDecodedOperand *a, *b;
	uint8_t ra, rb;
};

/* How an operation is described; by_reg, by_imm: enum detail_op by the kind of the source, OTHER:
 * not at all. */
struct rule {
	void (*set)(const struct pair *p, const struct rule *r, struct insn_detail *out);
	uint8_t by_reg, by_imm;
	bool sign;
};

static bool is_reg(const ZydisDecodedOperand *o)
{
	return o && o->type == ZYDIS_OPERAND_TYPE_REGISTER && x86__gpr(o->reg.value) != REG_NONE &&
	       !x86__is_high_byte(o->reg.value);
}

static bool is_mem(const ZydisDecodedOperand *o)
{
	return o && o->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_imm(const ZydisDecodedOperand *o)
{
	return o && o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static uint8_t reg_or_none(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_NONE ? REG_NONE : x86__gpr(reg);
}

static unsigned width_of(const struct pair *p)
{
	return x86__width(&p->raw->z);
}

static void set_mem(const struct pair *p, const ZydisDecodedOperand *o, struct insn_detail *out)
{
	const ZydisDecodedInstruction *z = &p->raw->z;
	struct operand *m = &out->mem;

	m->kind = OPERAND_MEM;
	m->size = o->size / 8;
	m->base = reg_or_none(o->mem.base);
	m->index = reg_or_none(o->mem.index);
	m->scale = m->index == REG_NONE ? 1 : o->mem.scale;
	m->disp = o->mem.disp.value;
	m->addr32 = z->address_width < x86__width(z);
	m->seg = o->mem.segment == ZYDIS_REGISTER_FS   ? SEG_FS
		 : o->mem.segment == ZYDIS_REGISTER_GS ? SEG_GS
						       : SEG_NONE;
	if (o->mem.base == ZYDIS_REGISTER_RIP || (m->base == REG_NONE && m->index == REG_NONE)) {
		out->imm = m->disp + (o->mem.base == ZYDIS_REGISTER_RIP ? p->addr + z->length : 0);
		if (x86__is32(z))
			out->imm = (uint32_t)out->imm;
		m->disp = 0;
	}
}

/* DETAIL_OTHER if only the low 8 or 16 bits of a register are written. */
static void set_move(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (is_mem(p->a) && is_reg(p->b)) {
		out->op = DETAIL_STORE;
		out->src = p->rb;
		out->bits = p->a->size;
		set_mem(p, p->a, out);
		return;
	}
	if (is_mem(p->a) && is_imm(p->b)) {
		out->op = DETAIL_STORE_CONST;
		out->bits = p->a->size;
		set_mem(p, p->a, out);
		if (out->mem.base == REG_NONE && out->mem.index == REG_NONE)
			out->op = DETAIL_OTHER; /* imm is the address */
		else
			out->imm = p->b->imm.value.s;
		return;
	}
	if (!is_reg(p->a) || p->a->size < 32)
		return;
	out->dst = p->ra;
	if (is_reg(p->b)) {
		out->op = DETAIL_COPY;
		out->src = p->rb;
		out->bits = p->b->size;
		out->sign = r->sign;
	} else if (is_mem(p->b)) {
		out->op = DETAIL_LOAD;
		out->bits = p->b->size;
		out->sign = r->sign;
		set_mem(p, p->b, out);
	} else if (is_imm(p->b)) {
		out->op = DETAIL_CONST;
		out->imm = p->a->size == 32 ? (uint32_t)p->b->imm.value.u : p->b->imm.value.s;
	}
}

static void set_lea(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (!is_reg(p->a) || p->a->size < 32 || !is_mem(p->b))
		return;
	set_mem(p, p->b, out);
	out->dst = p->ra;
	out->bits = p->a->size;
	out->op = DETAIL_LEA;
	detail__join_registers(&out->mem);
	if (out->mem.base == REG_NONE && out->mem.index == REG_NONE) {
		out->op = DETAIL_CONST;
		out->imm = p->a->size == 32 ? (uint32_t)out->imm : out->imm;
	}
}

static void set_arith(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (!is_reg(p->a) || !p->b)
		return;
	out->bits = p->a->size;
	out->dst = p->ra;
	if (is_reg(p->b) && p->a->size == width_of(p)) {
		out->op = r->by_reg;
		out->src = p->rb;
		if (r->by_reg == DETAIL_ADD && p->ra == p->rb)
			detail__set_address(out, p->ra, p->rb, 1, 0);
	} else if (is_reg(p->b) && p->ra == p->rb && p->a->size >= 32 && r->by_reg == DETAIL_ADD) {
		out->op = DETAIL_SELF;
	} else if (is_mem(p->b) && p->a->size == width_of(p) && p->raw->form.op == X86_ADD) {
		out->op = DETAIL_ADD_LOAD;
		set_mem(p, p->b, out);
	} else if (is_imm(p->b)) {
		out->op = r->by_imm;
		out->imm = p->b->imm.value.s;
		out->subtracts = p->raw->form.op == X86_SUB;
		if (out->subtracts)
			out->imm = -out->imm;
	}
}

static void set_cmp(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (!is_imm(p->b) || (!is_reg(p->a) && !is_mem(p->a)))
		return;
	if (is_mem(p->a))
		set_mem(p, p->a, out);
	if (out->mem.kind && out->mem.base == REG_NONE && out->mem.index == REG_NONE)
		return;
	out->op = DETAIL_CMP_CONST;
	out->src = is_reg(p->a) ? p->ra : REG_NONE;
	out->bits = p->a->size;
	out->imm = p->b->imm.value.s;
}

/* A register with itself and a constant, or with another one. */
static void set_logic(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (is_mem(p->a) && is_reg(p->b) && r->by_reg != DETAIL_OTHER) {
		out->op = r->by_reg;
		out->src = p->rb;
		out->bits = p->a->size;
		set_mem(p, p->a, out);
		return;
	}
	if (out->op != DETAIL_OTHER || !is_reg(p->a) || p->a->size < 32)
		return;
	if (is_reg(p->b) && r->by_reg != DETAIL_OTHER) {
		out->op = r->by_reg;
		out->src = p->rb;
	} else if (!p->b || is_imm(p->b)) {
		out->op = DETAIL_SELF;
	} else {
		return;
	}
	out->dst = p->ra;
	out->bits = p->a->size;
}

/* A value that is computed from the flags. */
static void set_by_flags(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (!is_reg(p->a))
		return;
	out->op = DETAIL_FLAGS;
	out->dst = p->ra;
	out->bits = p->a->size;
}

static void set_sbb(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (is_reg(p->b) && p->ra == p->rb)
		set_by_flags(p, r, out);
}

static void set_cmov(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	bool whole = is_reg(p->a) && p->a->size == width_of(p);

	if (!is_reg(p->a) || p->a->size < 32 || (!whole && !is_reg(p->b)))
		return;
	out->dst = p->ra;
	out->op = !whole ? DETAIL_CHOICE : is_reg(p->b) ? DETAIL_CMOV : DETAIL_CMOV_LOAD;
	out->src = is_reg(p->b) ? p->rb : REG_NONE;
	out->with = p->ra;
	out->bits = p->a->size;
	if (is_mem(p->b))
		set_mem(p, p->b, out);
}

/* movslq %eax,%rax */
static void set_extend(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	out->op = DETAIL_COPY;
	out->dst = out->src = X86_RAX;
	out->bits = 32;
	out->sign = true;
}

static void set_xor(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (is_reg(p->a) && is_reg(p->b) && p->ra == p->rb && p->a->size >= 32) {
		out->op = DETAIL_CONST;
		out->dst = p->ra;
	}
	set_logic(p, r, out);
}

static void set_and(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	const struct rule sum = {.by_imm = r->by_imm};

	set_arith(p, &sum, out);
	set_logic(p, r, out);
}

static void set_shift(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	set_arith(p, r, out);
	out->src = out->dst;
}

static void set_pop(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	if (!is_reg(p->a) || p->a->size != width_of(p))
		return;
	out->op = DETAIL_POP;
	out->dst = p->ra;
}

static void set_push(const struct pair *p, const struct rule *r, struct insn_detail *out)
{
	out->op = DETAIL_PUSH;
	out->src = is_reg(p->a) ? p->ra : REG_NONE;
	if (is_mem(p->a))
		set_mem(p, p->a, out);
}

static const struct rule rules[X86_OPS] = {
	[X86_MOVE] = {set_move},
	[X86_MOVE_SIGNED] = {set_move, .sign = true},
	[X86_EXTEND] = {set_extend},
	[X86_LEA] = {set_lea},
	[X86_PUSH] = {set_push},
	[X86_POP] = {set_pop},
	[X86_ADD] = {set_arith, DETAIL_ADD, DETAIL_ADD_CONST},
	[X86_SUB] = {set_arith, DETAIL_OTHER, DETAIL_ADD_CONST},
	[X86_SBB] = {set_sbb},
	[X86_AND] = {set_and, DETAIL_AND, DETAIL_AND_CONST},
	[X86_OR] = {set_logic, DETAIL_OR},
	[X86_XOR] = {set_xor},
	[X86_CMP] = {set_cmp},
	[X86_NOT] = {set_logic},
	[X86_NEG] = {set_logic},
	[X86_SHL] = {set_shift, DETAIL_OTHER, DETAIL_SHL_CONST},
	[X86_SHR] = {set_shift, DETAIL_OTHER, DETAIL_SHR_CONST},
	[X86_SAR] = {set_logic},
	[X86_SET_IF] = {set_by_flags},
	[X86_MOVE_IF] = {set_cmov},
};

static void set_writes(const struct x86_raw *raw, const ZydisDecodedOperand *ops, unsigned n,
		       struct insn_detail *out)
{
	const ZydisDecodedInstruction *z = &raw->z;

	for (unsigned i = 0; i < n; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			out->writes_memory = true;
	out->writes = x86__written(ops, n);
	if (z->meta.category == ZYDIS_CATEGORY_CALL) {
		out->writes |= X86_CALLER_SAVED;
		out->writes_memory = true;
	}
	if (z->meta.category == ZYDIS_CATEGORY_CALL || raw->form.op == X86_SYSTEM_CALL)
		out->writes_flags = true;
	if (z->cpu_flags)
		out->writes_flags |= (z->cpu_flags->modified | z->cpu_flags->set_0 |
				      z->cpu_flags->set_1 | z->cpu_flags->undefined) &
				     FLAG_BITS;
}

bool x86__detail(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
		 struct insn_detail *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	struct pair p = {.raw = &raw, .addr = addr};
	const struct rule *r;
	unsigned n;

	if (!len || x86__raw(mode, bytes, len, &raw))
		return false;
	*out = (struct insn_detail){.dst = REG_NONE, .src = REG_NONE};
	n = x86__operands(&raw, ops);
	if (raw.z.operand_count_visible > 0 && n) {
		p.a = &ops[0];
		p.ra = p.a->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86__gpr(p.a->reg.value)
								: REG_NONE;
	}
	if (raw.z.operand_count_visible > 1 && n) {
		p.b = &ops[1];
		p.rb = p.b->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86__gpr(p.b->reg.value)
								: REG_NONE;
	}
	set_writes(&raw, ops, n, out);
	r = &rules[raw.form.op];
	if (r->set)
		r->set(&p, r, out);
	return true;
}
