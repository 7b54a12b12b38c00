// SPDX-License-Identifier: BSD-2-Clause
/* AArch64: the kernel's code: system call functions, and what ftrace and kprobes write into it. */
#include "arch/aarch64/aarch64.h"

/* arch/arm64/include/asm/syscall_wrapper.h. Compat calls have no tracepoint. */
static const struct syscall_wrapper syscalls[] = {
	{.prefix = "__arm64_sys_", .has_tracepoint = true},
	{.prefix = "__arm64_compat_sys_", .is32 = true},
	{0},
};

#define BL    0x94000000
#define IS_BL 0xfc000000
#define SIZE  4
#define NOP   0x1f, 0x20, 0x03, 0xd5
#define BRK_K 0x80, 0x00, 0x20, 0xd4 /* BRK64_OPCODE_KPROBES */

static bool branch_at(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target)
{
	const struct match *row;
	struct insn insn = {.addr = addr};
	uint32_t word;

	if (!aarch64__word(bytes, len, addr, &word))
		return false;
	row = aarch64__branch_row(word);
	if (!row || !aarch64__branch(word, row, true, &insn) || !insn.target)
		return false;
	*target = insn.target;
	return true;
}

static bool ftrace_call(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target)
{
	uint32_t word;

	return aarch64__word(bytes, len, addr, &word) && (word & IS_BL) == BL &&
	       branch_at(bytes, len, addr, target);
}

/* The kernel steps them elsewhere. */
static bool emulates_wrongly(const uint8_t *bytes, size_t len, const char *versions)
{
	uint32_t word;

	return aarch64__word(bytes, len, 0, &word) && aarch64__is_misexecuted(word);
}

static const uint8_t fill[] = {0};
static const uint8_t ftrace_nop[] = {NOP};

/* arch/arm64/kernel/ftrace.c: the first of two nops is "mov x9, x30", the second becomes the call.
 * A bti may precede them. */
const struct arch_kernel aarch64_kernel = {
	.syscalls = syscalls,
	.branch_at = branch_at,
	.fill = fill,
	.nfill = ARRAY_SIZE(fill),
	.ftrace_nop = ftrace_nop,
	.ftrace_size = sizeof(ftrace_nop),
	.landing_size = SIZE,
	.ftrace_call = ftrace_call,
	.breakpoint = {{BRK_K}, SIZE},
	.counts_by_task = true,
	.emulates_wrongly = emulates_wrongly,
};
