// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of architectures, and the names of branch kinds and refusals.
 */
#include <elf.h>
#include <stdio.h>
#include "arch/arch.h"

const char *const branch_kind_names[BRANCH_KINDS] = {
	[BRANCH_JCC] = "jcc",	[BRANCH_LOOP] = "loop", [BRANCH_JMP] = "jmp",
	[BRANCH_CALL] = "call", [BRANCH_IJMP] = "ijmp", [BRANCH_ICALL] = "icall",
	[BRANCH_RET] = "ret",
};

const char *const probe_refusal_text[PROBE_REFUSALS] = {
	[PROBE_VECTOR] = "the kernel takes this vector instruction for another one",
	[PROBE_PREFIX] = "the kernel accepts no uprobe on this instruction or its prefix",
	[PROBE_UNPROVED] = "not proved to be the start of an instruction",
	[PROBE_BLACKLIST] = "the kernel forbids probes here, or the program changes this code",
	[PROBE_KERNEL] = "the kernel refused the probe",
	[PROBE_UNSUPPORTED] = "where this instruction leads is not known",
	[PROBE_PATCHABLE] = "a probe on a 5-byte nop is unsafe on this kernel",
	[PROBE_WIDTH] = "the kernel may take this 32-bit instruction for another 64-bit one",
	[PROBE_STEPPED] = "the kernel's single-stepping would change what it does",
	[PROBE_EXCLUSIVE] =
		"between a load-exclusive and its store-exclusive a probe would never let that succeed",
};

extern const struct arch arch_x86_64, arch_i386, arch_aarch64, arch_riscv64, arch_arm;

static const struct arch *const rows[] = {
	&arch_x86_64, &arch_i386, &arch_aarch64, &arch_riscv64, &arch_arm,
};

const struct arch *arch__by_machine(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i]->machine == machine)
			return rows[i];
	return NULL;
}

const char *arch__names(void)
{
	static char text[128];
	const size_t last = ARRAY_SIZE(rows) - 1;
	size_t len = 0;

	if (*text)
		return text;
	for (size_t i = 0; i <= last && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", rows[i]->name,
				i == last	? ""
				: i + 1 == last ? " or "
						: ", ");
	return text;
}

const struct arch *arch__native(void)
{
#if defined(__x86_64__)
	return arch__by_machine(EM_X86_64);
#elif defined(__aarch64__)
	return arch__by_machine(EM_AARCH64);
#elif defined(__riscv) && __riscv_xlen == 64
	return arch__by_machine(EM_RISCV);
#elif defined(__arm__)
	return arch__by_machine(EM_ARM);
#else
	return NULL;
#endif
}

bool arch__runs_here(const struct arch *arch)
{
	const struct arch *here = arch__native();

	return here && (arch == here || arch->hosts == here->machine);
}
