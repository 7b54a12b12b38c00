// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: its row in src/arch/arch.c. Nothing in this folder calls back into it: what the files
 * share is in raw.c and forms.c.
 */
#include <elf.h>
#include "x86.h"

static const uint8_t args[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};

static const uint8_t go_args[] = {X86_RAX, X86_RBX, X86_RCX, X86_RDI, X86_RSI,
				  X86_R8,  X86_R9,  X86_R10, X86_R11};

static const uint8_t syscall_args[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};

/* System V ABI, figure 3.36. */
static const uint8_t dwarf_regs[] = {X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI,
				     X86_RBP, X86_RSP, X86_R8,	X86_R9,	 X86_R10, X86_R11,
				     X86_R12, X86_R13, X86_R14, X86_R15, X86_RIP};

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	return x86__decode(X86_64, bytes, len, addr, kernel, out);
}

static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	return x86__format(X86_64, bytes, len, addr, out, size);
}

static bool detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	return x86__detail(X86_64, bytes, len, addr, out);
}

static int accesses(const uint8_t *bytes, size_t len, uint64_t addr,
		    const struct access_state *after, struct access out[ACCESS_MOST])
{
	return x86__accesses(X86_64, bytes, len, addr, after, out);
}

static bool test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out)
{
	return x86__test(X86_64, bytes, len, addr, out);
}

static enum flags_effect flags_effect(const uint8_t *bytes, size_t len, uint8_t kind, uint16_t cond)
{
	return x86__flags_effect(X86_64, bytes, len, kind, cond);
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.word = 8,
	.ordered = true,
	.longest = 15, /* SDM 2, 2.3.11 */
	.alignment = 1,
	.decode = decode,
	.format = format,
	.detail = detail,
	.might_take = x86__might_take,
	.constant = x86__constant,
	.accesses = accesses,
	.is_prefix = x86__is_prefix,
	.leads_to = x86__leads_to,
	.each_address = x86__each_address,
	.taken = x86__taken,
	.bound = x86__bound,
	.flags_effect = flags_effect,
	.proves = x86__proves,
	.is_unsigned = x86__is_unsigned,
	.test = test,
	.test_flags = x86__test_flags,
	.nregs = ARRAY_SIZE(x86_reg_names),
	.reg_names = x86_reg_names,
	.sp_reg = X86_RSP,
	.ip_reg = X86_RIP,
	.flags_reg = X86_FLAGS,
	.link_reg = REG_NONE,
	.conventions =
		{
			[CONVENTION_C] = {args, ARRAY_SIZE(args), X86_RAX},
			[CONVENTION_GO] = {go_args, ARRAY_SIZE(go_args), X86_RAX},
			[CONVENTION_SYSCALL] = {syscall_args, ARRAY_SIZE(syscall_args), X86_RAX},
		},
	/* System V ABI, 3.2.3 */
	.passing = {.known = true, .result_argument = true, .classes = true, .floats = 8},
	.clobbered = X86_CALLER_SAVED,
	.call_pushes = 8,
	/* System V ABI, figures 3.36 and 3.3 */
	.dwarf = {.regs = dwarf_regs,
		  .nregs = ARRAY_SIZE(dwarf_regs),
		  .entry_reg = 7,
		  .entry_offset = 8,
		  .fp = 6,
		  .return_reg = 16,
		  .fp_at = -16,
		  .return_at = -8,
		  .cfa = 16},
	.relocations = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_RELATIVE,
			R_X86_64_IRELATIVE},
	/* FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 */
	.loader = {"x86_64-linux-gnu", 0x0303, x86__hwcaps},
	.usdt_operand = x86__usdt_operand,
	.plt_stub = x86__plt_stub,
	.plt_alignment = 8,
	.go_checks_stack = x86__go_checks_stack,
	.go_grows_stack = x86__go_grows_stack,
	.breakpoint_name = "int3",
	.uprobe_breakpoint = {{0xcc}, 1},
	.uprobe_form = x86__uprobe_form,
	.execution = x86__execution,
	.costs = x86_costs,
	.virtual_costs = x86_virtual_costs,
	.this_machine = x86__machine,
	.ticks = x86__ticks,
#ifdef __x86_64__
	.samples = x86_samples,
	.tracee = &x86_tracee,
#endif
	.kernel = &x86_kernel,
	.copier = &x86_copier,
};
