// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: whether the kernel refuses a probe on an instruction, simulates the instruction, or steps
 * a copy of it out of line, with a breakpoint after it. The rules of arch/riscv/kernel/probes:
 * decode-insn.c, simulate-insn.c. They are the same for uprobes and for kprobes.
 */
#include "arch/riscv/riscv.h"

/* lr.w, lr.d, sc.w, sc.d: ISA manual, section 13.2. */
static bool is_reserving(uint32_t word)
{
	return riscv__opcode(word) == OP_AMO && (word >> 28 & 15) == 1;
}

/* lpad (Zicfilp), an auipc of the zero register, must be executed where an indirect branch leads;
 * it does nothing else. */
static bool is_landing(uint32_t word)
{
	return (word & 0xfff) == OP_AUIPC;
}

static enum probe_refusal refusal_of(uint32_t word)
{
	switch (riscv__opcode(word)) {
	case OP_SYSTEM: /* ecall, ebreak, csrrw and the like; also may-be-operations */
	case OP_MISC_MEM:
		return PROBE_PREFIX;
	default:
		/* the traps of the probe take the reservation away */
		return is_reserving(word) || is_landing(word) ? PROBE_STEPPED : PROBE_OK;
	}
}

static bool is_simulated(uint32_t word)
{
	uint32_t opcode = riscv__opcode(word);

	return opcode == OP_BRANCH || opcode == OP_JAL || opcode == OP_JALR || opcode == OP_AUIPC;
}

void riscv__probe(uint32_t word, struct insn *out)
{
	enum probe_refusal refusal = refusal_of(word);

	out->user_refusal = out->kernel_refusal = refusal;
	out->emulated = refusal == PROBE_OK && is_simulated(word);
}

/* The kernel checks the opcode, and what distinguishes the 16-bit branches from the others. */
uint64_t riscv__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn)
{
	uint16_t half = bytes[0] | bytes[1] << 8;
	bool no_rs2 = !(half & 0x7c), no_rd = !(half & 0xf80);

	if (insn->len == 4)
		return 4 << 16 | (half & 0x7f);
	return 2 << 16 | (half & 0xf003) | no_rs2 << 2 | no_rd << 3;
}

/* ---- what an instruction changes ---- */

/* Loads and stores of scalar registers have a width in funct3. Those of vector registers share the
 * opcodes of the floating-point ones. */
static bool is_scalar(uint32_t word)
{
	unsigned funct3 = riscv__funct3(word);

	switch (riscv__opcode(word)) {
	case OP_LOAD:
		return funct3 < 7;
	case OP_STORE:
		return funct3 < 4;
	default:
		return funct3 >= 1 && funct3 <= 4;
	}
}

static void set_memory(uint32_t word, int32_t disp, struct insn *out)
{
	out->operand = (struct operand){.kind = OPERAND_MEM,
					.base = riscv__rs1(word),
					.index = REG_NONE,
					.scale = 1,
					.size = 1 << (riscv__funct3(word) & 3),
					.disp = disp};
	if (riscv__opcode(word) == OP_LOAD_FP || riscv__opcode(word) == OP_STORE_FP)
		out->operand.size = 1 << riscv__funct3(word);
}

/* Instructions of the base and of extensions that share their opcodes: they write registers, or
 * memory, by what registers and memory hold. */
void riscv__effects(uint32_t word, struct insn *out)
{
	switch (riscv__opcode(word)) {
	case OP_IMM:
	case OP_IMM_32:
	case OP_OP:
	case OP_OP_32:
	case OP_LUI:
	case OP_AUIPC:
	case OP_FP:
	case OP_FMADD:
	case OP_FMSUB:
	case OP_FNMSUB:
	case OP_FNMADD:
		out->keeps_state = out->is_plain = true;
		break;
	case OP_LOAD:
	case OP_LOAD_FP:
		out->is_plain = out->loads = is_scalar(word);
		if (out->loads)
			set_memory(word, riscv__imm_i(word), out);
		break;
	case OP_STORE:
	case OP_STORE_FP:
		out->is_plain = out->stores = is_scalar(word);
		if (out->stores)
			set_memory(word, riscv__imm_s(word), out);
		break;
	default:
		break;
	}
}
