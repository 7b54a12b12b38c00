// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: the kernel's code: system call functions, direct branches, and what ftrace and kprobes
 * write into it.
 */
#include "arch/riscv/riscv.h"

/* SYSCALL_DEFINE of arch/riscv/include/asm/syscall_wrapper.h; compat calls have no tracepoint. */
static const struct syscall_wrapper syscalls[] = {
	{.prefix = "__riscv_sys_", .has_tracepoint = true},
	{.prefix = "__riscv_compat_sys_", .is32 = true},
	{0},
};

/* What begins in the middle of another instruction looks like a branch, too. */
static bool branch_at(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target)
{
	struct insn insn;

	if (arch_riscv64.decode(bytes, len, addr, true, &insn) || insn.flow != FLOW_BRANCH ||
	    !insn.target)
		return false;
	*target = insn.target;
	return true;
}

/* auipc t0, jalr t0: arch/riscv/include/asm/ftrace.h, to_auipc_t0() and to_jalr_t0() */
static bool ftrace_call(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target)
{
	uint32_t words[2];

	if (len < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	if ((words[0] & 0xfff) != (OP_AUIPC | RISCV_T0 << 7) ||
	    (words[1] & 0xfffff) != (OP_JALR | RISCV_T0 << 7 | RISCV_T0 << 15))
		return false;
	*target = addr + riscv__imm_u(words[0]) + riscv__imm_i(words[1]);
	return true;
}

static const uint8_t fill[] = {0};
static const uint8_t ftrace_nop[] = {0x13, 0, 0, 0, 0x13, 0, 0, 0};

/* The breakpoint is as long as the instruction that it replaces, so others' aren't undone. */
const struct arch_kernel riscv_kernel = {
	.syscalls = syscalls,
	.branch_at = branch_at,
	.fill = fill,
	.nfill = ARRAY_SIZE(fill),
	.ftrace_nop = ftrace_nop,
	.ftrace_size = sizeof(ftrace_nop),
	.ftrace_keeps = true,
	.ftrace_call = ftrace_call,
	.counts_by_task = true,
	.decodes = 3,
};
