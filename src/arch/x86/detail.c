// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: what an instruction does to the general registers, from Zydis' operands. Used to
 * read jump tables and IFUNC resolvers, and to find what made a value.
 */
#include "x86.h"

#define FLAG_BITS                                                                                  \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |               \
	 ZYDIS_CPUFLAG_OF)

/* The first two visible operands, and their register numbers. */
struct pair {
	const ZydisDecodedOperand *a, *b;
	uint8_t ra, rb;
};

static bool is_reg(const ZydisDecodedOperand *o)
{
	return o && o->type == ZYDIS_OPERAND_TYPE_REGISTER && x86__gpr(o->reg.value) != REG_NONE &&
	       !(o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH);
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

static void set_mem(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, uint64_t addr,
		    struct insn_detail *out)
{
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
		out->imm = m->disp + (o->mem.base == ZYDIS_REGISTER_RIP ? addr + z->length : 0);
		if (x86__is32(z))
			out->imm = (uint32_t)out->imm;
		m->disp = 0;
	}
}

/* DETAIL_OTHER if only the low 8 or 16 bits of a register are written. */
static void set_move(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		     bool sign, struct insn_detail *out)
{
	if (is_mem(p->a) && is_reg(p->b)) {
		out->op = DETAIL_STORE;
		out->src = p->rb;
		out->bits = p->a->size;
		set_mem(z, p->a, addr, out);
		return;
	}
	if (is_mem(p->a) && is_imm(p->b)) {
		out->op = DETAIL_STORE_CONST;
		out->bits = p->a->size;
		set_mem(z, p->a, addr, out);
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
		out->sign = sign;
	} else if (is_mem(p->b)) {
		out->op = DETAIL_LOAD;
		out->bits = p->b->size;
		out->sign = sign;
		set_mem(z, p->b, addr, out);
	} else if (is_imm(p->b)) {
		out->op = DETAIL_CONST;
		out->imm = p->a->size == 32 ? (uint32_t)p->b->imm.value.u : p->b->imm.value.s;
	}
}

static void set_lea(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		    struct insn_detail *out)
{
	if (!is_reg(p->a) || p->a->size < 32 || !is_mem(p->b))
		return;
	set_mem(z, p->b, addr, out);
	out->dst = p->ra;
	out->bits = p->a->size;
	out->op = DETAIL_LEA;
	if (out->mem.base == REG_NONE && out->mem.index == REG_NONE) {
		out->op = DETAIL_CONST;
		out->imm = p->a->size == 32 ? (uint32_t)out->imm : out->imm;
	}
}

static void set_arith(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		      enum detail_op by_reg, enum detail_op by_imm, struct insn_detail *out)
{
	if (!is_reg(p->a) || !p->b)
		return;
	out->bits = p->a->size;
	out->dst = p->ra;
	if (is_reg(p->b) && p->a->size == x86__width(z)) {
		out->op = by_reg;
		out->src = p->rb;
	} else if (is_mem(p->b) && p->a->size == x86__width(z) &&
		   z->mnemonic == ZYDIS_MNEMONIC_ADD) {
		out->op = DETAIL_ADD_LOAD;
		set_mem(z, p->b, addr, out);
	} else if (is_imm(p->b)) {
		out->op = by_imm;
		out->imm = p->b->imm.value.s;
		out->subtracts = z->mnemonic == ZYDIS_MNEMONIC_SUB;
		if (out->subtracts)
			out->imm = -out->imm;
	}
}

static void set_cmp(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		    struct insn_detail *out)
{
	if (!is_imm(p->b) || (!is_reg(p->a) && !is_mem(p->a)))
		return;
	if (is_mem(p->a))
		set_mem(z, p->a, addr, out);
	if (out->mem.kind && out->mem.base == REG_NONE && out->mem.index == REG_NONE)
		return;
	out->op = DETAIL_CMP_CONST;
	out->src = is_reg(p->a) ? p->ra : REG_NONE;
	out->bits = p->a->size;
	out->imm = p->b->imm.value.s;
}

/* A register by itself and a constant, or by another one. */
static void set_logic(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		      enum detail_op by_reg, struct insn_detail *out)
{
	if (is_mem(p->a) && is_reg(p->b) && by_reg != DETAIL_OTHER) {
		out->op = by_reg;
		out->src = p->rb;
		out->bits = p->a->size;
		set_mem(z, p->a, addr, out);
		return;
	}
	if (out->op != DETAIL_OTHER || !is_reg(p->a) || p->a->size < 32)
		return;
	if (is_reg(p->b) && by_reg != DETAIL_OTHER) {
		out->op = by_reg;
		out->src = p->rb;
	} else if (!p->b || is_imm(p->b)) {
		out->op = DETAIL_SELF;
	} else {
		return;
	}
	out->dst = p->ra;
	out->bits = p->a->size;
}

/* What is made of the flags. */
static void set_by_flags(const ZydisDecodedInstruction *z, const struct pair *p,
			 struct insn_detail *out)
{
	bool subtracts = z->mnemonic == ZYDIS_MNEMONIC_SBB && is_reg(p->b) && p->ra == p->rb;

	if (!is_reg(p->a) || !(subtracts || z->meta.category == ZYDIS_CATEGORY_SETCC))
		return;
	out->op = DETAIL_FLAGS;
	out->dst = p->ra;
	out->bits = p->a->size;
}

static void set_cmov(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		     struct insn_detail *out)
{
	bool whole = is_reg(p->a) && p->a->size == x86__width(z);

	if (!is_reg(p->a) || p->a->size < 32 || (!whole && !is_reg(p->b)))
		return;
	out->dst = p->ra;
	out->op = !whole ? DETAIL_CHOICE : is_reg(p->b) ? DETAIL_CMOV : DETAIL_CMOV_LOAD;
	out->src = is_reg(p->b) ? p->rb : REG_NONE;
	out->with = p->ra;
	out->bits = p->a->size;
	if (is_mem(p->b))
		set_mem(z, p->b, addr, out);
}

static void set_op(const ZydisDecodedInstruction *z, const struct pair *p, uint64_t addr,
		   struct insn_detail *out)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		set_move(z, p, addr, false, out);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		set_move(z, p, addr, true, out);
		break;
	case ZYDIS_MNEMONIC_CDQE: /* movslq %eax,%rax */
		out->op = DETAIL_COPY;
		out->dst = out->src = x86__gpr(ZYDIS_REGISTER_RAX);
		out->bits = 32;
		out->sign = true;
		break;
	case ZYDIS_MNEMONIC_LEA:
		set_lea(z, p, addr, out);
		break;
	case ZYDIS_MNEMONIC_XOR:
		if (is_reg(p->a) && is_reg(p->b) && p->ra == p->rb && p->a->size >= 32) {
			out->op = DETAIL_CONST;
			out->dst = p->ra;
		}
		set_logic(z, p, addr, DETAIL_OTHER, out);
		break;
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_NEG:
		set_logic(z, p, addr, DETAIL_OTHER, out);
		break;
	case ZYDIS_MNEMONIC_OR:
		set_logic(z, p, addr, DETAIL_OR, out);
		break;
	case ZYDIS_MNEMONIC_POP:
		if (is_reg(p->a) && p->a->size == x86__width(z)) {
			out->op = DETAIL_POP;
			out->dst = p->ra;
		}
		break;
	case ZYDIS_MNEMONIC_ADD:
		set_arith(z, p, addr, DETAIL_ADD, DETAIL_ADD_CONST, out);
		break;
	case ZYDIS_MNEMONIC_SUB:
		set_arith(z, p, addr, DETAIL_OTHER, DETAIL_ADD_CONST, out);
		break;
	case ZYDIS_MNEMONIC_AND:
		set_arith(z, p, addr, DETAIL_OTHER, DETAIL_AND_CONST, out);
		set_logic(z, p, addr, DETAIL_AND, out);
		break;
	case ZYDIS_MNEMONIC_SHR:
		set_arith(z, p, addr, DETAIL_OTHER, DETAIL_SHR_CONST, out);
		out->src = out->dst;
		break;
	case ZYDIS_MNEMONIC_SHL:
		set_arith(z, p, addr, DETAIL_OTHER, DETAIL_SHL_CONST, out);
		out->src = out->dst;
		break;
	case ZYDIS_MNEMONIC_CMP:
		set_cmp(z, p, addr, out);
		break;
	case ZYDIS_MNEMONIC_PUSH:
		out->op = DETAIL_PUSH;
		out->src = is_reg(p->a) ? p->ra : REG_NONE;
		if (is_mem(p->a))
			set_mem(z, p->a, addr, out);
		break;
	default:
		if (z->meta.category == ZYDIS_CATEGORY_CMOV)
			set_cmov(z, p, addr, out);
		else
			set_by_flags(z, p, out);
	}
}

static void set_writes(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops, unsigned n,
		       struct insn_detail *out)
{
	for (unsigned i = 0; i < n; i++) {
		if (!(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			out->writes_memory = true;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    x86__gpr(ops[i].reg.value) != REG_NONE)
			out->writes |= 1u << x86__gpr(ops[i].reg.value);
	}
	if (z->meta.category == ZYDIS_CATEGORY_CALL) {
		out->writes |= X86_CALLER_SAVED;
		out->writes_memory = true;
	}
	if (z->meta.category == ZYDIS_CATEGORY_CALL || z->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
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
	struct pair p = {0};
	struct x86_raw raw;
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
	set_writes(&raw.z, ops, n, out);
	set_op(&raw.z, &p, addr, out);
	return true;
}
