// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: instructions that must not carry a kprobe although the kernel accepts one. The kernel
 * emulates branches, some of them wrongly (arch/x86/kernel/kprobes/core.c, prepare_emulation() and
 * kprobe_emulate_*()): execution would continue at the wrong address and most likely panic.
 */
#include <stdio.h>
#include "x86.h"

/* int3_emulate_call() always pushes the call's address + 5 (CALL_INSN_SIZE). */
#define CALL_SIZE 5

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

bool x86__emulates_wrongly(const uint8_t *bytes, size_t len, const char *versions)
{
	size_t at = prefixes(bytes, len);

	if (at >= len)
		return true;
	if (bytes[at] == 0xe8) /* call; with a prefix: cs call __x86_indirect_thunk_r10 */
		return len != CALL_SIZE;
	if (bytes[at] == 0xff) /* call *reg */
		return at + 1 < len && (bytes[at + 1] & 0xf8) == 0xd0 && len != CALL_SIZE &&
		       !names_fixed(versions);
	return x86__byte(bytes[at]) & X86_EMULATED_WRONGLY;
}
