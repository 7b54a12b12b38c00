// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the kernel's code: system call functions, mitigation thunks, direct branches, what ftrace
 * and kprobes write into it, and which instructions kprobes emulate wrongly.
 */
#include <stdio.h>
#include "x86.h"

/* SYSCALL_DEFINE of arch/x86/include/asm/syscall_wrapper.h. Compat calls have no tracepoint. */
static const struct syscall_wrapper syscalls[] = {
	{.prefix = "__x64_sys_", .has_tracepoint = true},
	{.prefix = "__ia32_sys_", .is32 = true, .has_tracepoint = true},
	{.prefix = "__ia32_compat_sys_", .is32 = true},
	{.prefix = "__x64_compat_sys_"},
	{.prefix = "__x32_compat_sys_"},
	{0},
};

/* ---- mitigation thunks: arch/x86/lib/retpoline.S ---- */

static const char *const return_thunks[] = {
	"__x86_return_thunk",	 "srso_return_thunk", "srso_alias_return_thunk",
	"retbleed_return_thunk", "its_return_thunk",  "call_depth_return_thunk",
	"zen_return_thunk",
};
/* Followed by the register's name. */
static const char *const indirect_thunks[] = {
	"__x86_indirect_thunk_",     "__x86_indirect_call_thunk_", "__x86_indirect_jump_thunk_",
	"__x86_indirect_its_thunk_", "its_static_thunk_",
};
#define ARRAY_NAME  "__x86_indirect_thunk_array"
#define ARRAY_ENTRY 32 /* RETPOLINE_THUNK_SIZE */

static unsigned thunk(const char *symbol, uint64_t offset)
{
	if (!strcmp(symbol, ARRAY_NAME))
		return offset % ARRAY_ENTRY == 0 && offset < X86_GENERAL * ARRAY_ENTRY
			       ? THUNK_REG + offset / ARRAY_ENTRY
			       : THUNK_NONE;
	if (offset)
		return THUNK_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(return_thunks); i++)
		if (!strcmp(symbol, return_thunks[i]))
			return THUNK_RETURN;
	for (size_t i = 0; i < ARRAY_SIZE(indirect_thunks); i++) {
		size_t len = strlen(indirect_thunks[i]);

		if (strncmp(symbol, indirect_thunks[i], len))
			continue;
		for (unsigned r = 0; r < X86_GENERAL; r++)
			if (!strcmp(symbol + len, x86_reg_names[r]))
				return THUNK_REG + r;
	}
	return THUNK_NONE;
}

/* ---- branches by their bytes ---- */

#define CALL	  0xe8
#define JMP	  0xe9
#define INT3	  0xcc
#define REL32_LEN 5 /* of a call or jmp */

static uint64_t rel32_target(const uint8_t *p, uint64_t end)
{
	int32_t rel;

	memcpy(&rel, p, sizeof(rel));
	return end + (int64_t)rel;
}

/* call, jmp, jcc rel32 */
static bool branch_at(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target)
{
	size_t at = len > 0 && p[0] == 0x0f ? 1 : 0;

	if (len < at + REL32_LEN || !(at ? p[1] >> 4 == 8 : p[0] == CALL || p[0] == JMP))
		return false;
	*target = rel32_target(p + at + 1, addr + at + REL32_LEN);
	return true;
}

static bool ftrace_call(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target)
{
	if (len < REL32_LEN || p[0] != CALL)
		return false;
	*target = rel32_target(p + 1, addr + REL32_LEN);
	return true;
}

/* int3, too: the first byte is written last (arch/x86/kernel/alternative.c, text_poke_bp_batch()).
 */
static bool detour(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target)
{
	if (len < REL32_LEN || (p[0] != JMP && p[0] != INT3))
		return false;
	*target = rel32_target(p + 1, addr + REL32_LEN);
	return true;
}

/* is_endbr() of arch/x86/include/asm/ibt.h: endbr64, or the nop that replaces it in functions that
 * are never called indirectly. The probe is moved by arch_adjust_kprobe_addr() of kprobes/core.c.
 */
static size_t landing(const uint8_t *bytes, size_t len)
{
	static const uint8_t poisons[][X86_ENDBR_SIZE] = {
		{0x66, 0x0f, 0x1f, 0x00}, /* from 5.18 on */
		{0x0f, 0x1f, 0x40, 0xd6}, /* from 6.15 on */
	};

	if (len < X86_ENDBR_SIZE)
		return 0;
	if (!memcmp(bytes, x86_endbr64, X86_ENDBR_SIZE))
		return X86_ENDBR_SIZE;
	for (size_t i = 0; i < ARRAY_SIZE(poisons); i++)
		if (!memcmp(bytes, poisons[i], X86_ENDBR_SIZE))
			return X86_ENDBR_SIZE;
	return 0;
}

/* ---- instructions that must not carry a kprobe although the kernel accepts one ---- */

/* The kernel emulates branches, some of them wrongly (arch/x86/kernel/kprobes/core.c,
 * prepare_emulation() and kprobe_emulate_*()): execution would continue at the wrong address and
 * most likely panic. int3_emulate_call() always pushes the call's address + 5 (CALL_INSN_SIZE). */

/* The versions that fixed calls through a register ("x86/kprobes: fix incorrect return address
 * calculation in kprobe_emulate_call_indirect"): the stable series, then mainline. */
static const struct {
	unsigned major, minor, patch;
} fixed[] = {{5, 15, 149}, {6, 1, 77}, {6, 6, 16}, {6, 8, 0}};

static bool is_fixed(unsigned major, unsigned minor, unsigned patch)
{
	const size_t last = ARRAY_SIZE(fixed) - 1;

	for (size_t i = 0; i < last; i++)
		if (fixed[i].major == major && fixed[i].minor == minor)
			return patch >= fixed[i].patch;
	return major > fixed[last].major ||
	       (major == fixed[last].major && minor >= fixed[last].minor);
}

/* Whether any version in the text is fixed. Distributions append the upstream version to their own:
 * "6.1.192", "6.1.0-56-cloud-amd64 #1 SMP Debian 6.1.192-2", "Ubuntu 5.15.0-119.129-generic
 * 5.15.160". Compares versions because testing the instruction could panic the machine. */
static bool names_fixed(const char *text)
{
	unsigned major, minor, patch;

	for (const char *p = text; *p; p++)
		if ((p == text || strchr(" -", p[-1])) &&
		    sscanf(p, "%u.%u.%u", &major, &minor, &patch) == 3 &&
		    is_fixed(major, minor, patch))
			return true;
	return false;
}

static size_t prefixes(const uint8_t *b, size_t len)
{
	size_t n = 0;

	while (n < len && x86__byte(b[n]) & X86_PREFIX)
		n++;
	return n < len && x86__byte(b[n]) & X86_REX ? n + 1 : n;
}

static bool emulates_wrongly(const uint8_t *bytes, size_t len, const char *versions)
{
	size_t at = prefixes(bytes, len);

	if (at >= len)
		return true;
	if (bytes[at] == 0xe8) /* call; with a prefix: cs call __x86_indirect_thunk_r10 */
		return len != REL32_LEN;
	if (bytes[at] == 0xff) /* call *reg */
		return at + 1 < len && (bytes[at + 1] & 0xf8) == 0xd0 && len != REL32_LEN &&
		       !names_fixed(versions);
	return x86__byte(bytes[at]) & X86_EMULATED_WRONGLY;
}

/* ---- all of it ---- */

static const uint8_t fill[] = {0, INT3};
static const uint8_t ftrace_nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

const struct arch_kernel x86_kernel = {
	.syscalls = syscalls,
	.thunk = thunk,
	.branch_at = branch_at,
	.fill = fill,
	.nfill = ARRAY_SIZE(fill),
	.ftrace_nop = ftrace_nop,
	.ftrace_size = sizeof(ftrace_nop),
	.landing_size = X86_ENDBR_SIZE,
	.ftrace_call = ftrace_call,
	.breakpoint = {{INT3}, 1},
	.ip_after = 1,
	.decodes = 4,
	.detour = detour,
	.landing = landing,
	.emulates_wrongly = emulates_wrongly,
};
