// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: what an instruction does to the integer registers. Only used to read jump tables and
 * IFUNC resolvers.
 */
#include "arch/riscv/riscv.h"
#include "arch/detail.h"

static void set_const(struct insn_detail *out, int64_t value)
{
	out->op = DETAIL_CONST;
	out->bits = 64;
	out->imm = value;
}

static void set_copy(struct insn_detail *out, unsigned src, uint8_t bits, bool sign)
{
	detail__set_copy(out, src, bits, sign);
	if (src == RISCV_ZERO)
		set_const(out, 0);
}

/* base + index * scale + disp */
static void set_address(struct insn_detail *out, unsigned base, unsigned index, uint8_t scale,
			int32_t disp)
{
	detail__set_address(out, base, index, scale, disp);
	out->bits = 64;
}

/* addi (bits 64) and addiw (bits 32: the sum is truncated and sign-extended) */
static void set_add_imm(uint32_t word, uint8_t bits, struct insn_detail *out)
{
	unsigned rs1 = riscv__rs1(word);
	int32_t imm = riscv__imm_i(word);

	if (rs1 == RISCV_ZERO) {
		set_const(out, imm);
	} else if (!imm) {
		set_copy(out, rs1, bits, true);
	} else if (rs1 == out->dst) {
		out->op = DETAIL_ADD_CONST;
		out->src = rs1;
		out->imm = imm;
		out->bits = bits;
		out->sign = true;
	} else if (bits == 64) {
		set_address(out, rs1, REG_NONE, 1, imm);
	}
}

static void set_shift(uint32_t word, uint8_t bits, struct insn_detail *out)
{
	unsigned count = match__field(word, 20, bits == 64 ? 6 : 5);
	bool left = riscv__funct3(word) == 1;

	/* slli, srli, srliw only; the result of slliw is never an address */
	if (word >> (bits == 64 ? 26 : 25) || (left && bits != 64))
		return;
	if (left && count <= 3) {
		set_address(out, REG_NONE, riscv__rs1(word), 1 << count, 0);
		return;
	}
	out->op = left ? DETAIL_SHL_CONST : DETAIL_SHR_CONST;
	out->src = riscv__rs1(word);
	out->bits = bits;
	out->imm = count;
}

static void of_immediate(uint32_t word, struct insn_detail *out)
{
	int32_t imm = riscv__imm_i(word);

	switch (riscv__funct3(word)) {
	case 0:
		set_add_imm(word, 64, out);
		break;
	case 1:
	case 5:
		set_shift(word, 64, out);
		break;
	case 7:
		if (imm == 0xff) {
			set_copy(out, riscv__rs1(word), 8, false);
			break;
		}
		out->op = DETAIL_AND_CONST;
		out->bits = 64;
		out->imm = imm;
		break;
	default:
		break;
	}
}

static void of_immediate_32(uint32_t word, struct insn_detail *out)
{
	if (riscv__funct3(word) == 0)
		set_add_imm(word, 32, out);
	else
		set_shift(word, 32, out);
}

static void set_add(uint32_t word, struct insn_detail *out)
{
	unsigned rs1 = riscv__rs1(word), rs2 = riscv__rs2(word);

	if (rs1 == RISCV_ZERO || rs2 == RISCV_ZERO) {
		set_copy(out, rs1 == RISCV_ZERO ? rs2 : rs1, 64, false);
	} else if (rs1 != rs2 && (out->dst == rs1 || out->dst == rs2)) {
		out->op = DETAIL_ADD;
		out->bits = 64;
		out->src = out->dst == rs1 ? rs2 : rs1;
	} else {
		set_address(out, rs1, rs2, 1, 0);
	}
}

/* add; Zba: sh1add, sh2add, sh3add */
static void of_registers(uint32_t word, struct insn_detail *out)
{
	unsigned funct3 = riscv__funct3(word);

	if (riscv__funct7(word) == 0 && funct3 == 0)
		set_add(word, out);
	else if (riscv__funct7(word) == 0x10 && (funct3 == 2 || funct3 == 4 || funct3 == 6))
		set_address(out, riscv__rs2(word), riscv__rs1(word), 1 << (funct3 >> 1), 0);
}

/* Zba: zext.w, an add.uw with zero; Zbb: zext.h */
static void of_registers_32(uint32_t word, struct insn_detail *out)
{
	if ((word & 0xfff0707f) == 0x0800003b)
		set_copy(out, riscv__rs1(word), 32, false);
	else if ((word & 0xfff0707f) == 0x0800403b)
		set_copy(out, riscv__rs1(word), 16, false);
}

static void set_memory(uint32_t word, int32_t imm, struct insn_detail *out)
{
	unsigned rs1 = riscv__rs1(word);

	out->bits = 8 << (riscv__funct3(word) & 3);
	out->mem = (struct operand){.kind = OPERAND_MEM,
				    .base = rs1 == RISCV_ZERO ? REG_NONE : rs1,
				    .index = REG_NONE,
				    .scale = 1,
				    .size = out->bits / 8,
				    .disp = imm};
	if (rs1 != RISCV_ZERO)
		return;
	out->mem.disp = 0;
	out->imm = imm;
}

static void set_load(uint32_t word, struct insn_detail *out)
{
	out->op = DETAIL_LOAD;
	out->sign = riscv__funct3(word) < 3;
	set_memory(word, riscv__imm_i(word), out);
}

static void set_store(uint32_t word, struct insn_detail *out)
{
	if (riscv__rs2(word) == RISCV_ZERO)
		return;
	out->op = DETAIL_STORE;
	out->src = riscv__rs2(word);
	set_memory(word, riscv__imm_s(word), out);
}

/* A conditional branch compares two registers itself: there are no flags. */
static void set_compare(uint32_t word, struct insn_detail *out)
{
	unsigned rs1 = riscv__rs1(word), rs2 = riscv__rs2(word);

	out->bits = 64;
	out->src = rs1;
	out->op = DETAIL_CMP;
	out->with = rs2;
	if (rs2 == RISCV_ZERO)
		out->op = DETAIL_CMP_CONST;
	else if (rs1 == RISCV_ZERO)
		out->op = DETAIL_OTHER;
}

static void set_op(uint32_t word, uint64_t addr, struct insn_detail *out)
{
	switch (riscv__opcode(word)) {
	case OP_IMM:
		of_immediate(word, out);
		break;
	case OP_IMM_32:
		of_immediate_32(word, out);
		break;
	case OP_OP:
		of_registers(word, out);
		break;
	case OP_OP_32:
		of_registers_32(word, out);
		break;
	case OP_LUI:
		set_const(out, riscv__imm_u(word));
		break;
	case OP_AUIPC:
		set_const(out, addr + riscv__imm_u(word));
		break;
	case OP_LOAD:
		set_load(word, out);
		break;
	case OP_STORE:
		set_store(word, out);
		break;
	case OP_BRANCH:
		set_compare(word, out);
		break;
	default:
		break;
	}
}

/* Custom instructions (T-Head's loads and stores, for example) may also write their base register
 * and memory. */
static void set_writes(uint32_t word, struct insn_detail *out)
{
	unsigned rd = riscv__written(word);

	out->writes = rd == RISCV_ZERO ? 0 : 1u << rd;
	switch (riscv__opcode(word)) {
	case OP_CUSTOM_0:
	case OP_CUSTOM_1:
	case OP_CUSTOM_2:
	case OP_CUSTOM_3:
		out->writes |= 1u << riscv__rs1(word);
		/* fallthrough */
	case OP_STORE:
	case OP_STORE_FP:
	case OP_AMO:
		out->writes_memory = true;
		break;
	case OP_JAL:
	case OP_JALR:
		if (!riscv__is_link(rd))
			break;
		out->writes |= RISCV_CLOBBERED;
		out->writes_memory = true;
		break;
	case OP_SYSTEM:
		if (word >> 7)
			break;
		out->writes |= 1u << RISCV_A0; /* ecall */
		out->writes_memory = true;
		break;
	default:
		break;
	}
}

bool riscv__detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	uint32_t word;

	if (!riscv__word(bytes, len, addr, &word))
		return false;
	*out = (struct insn_detail){.dst = REG_NONE, .src = REG_NONE};
	set_writes(word, out);
	if (riscv__written(word) != RISCV_ZERO)
		out->dst = riscv__written(word);
	else if (riscv__opcode(word) != OP_STORE && riscv__opcode(word) != OP_BRANCH)
		return true;
	set_op(word, addr, out);
	return true;
}
