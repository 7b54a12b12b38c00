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
	static const uint8_t legacy[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					 0x66, 0x67, 0xf0, 0xf2, 0xf3};
	size_t n = 0;

	while (n < len && memchr(legacy, b[n], sizeof(legacy)))
		n++;
	return n < len && b[n] >> 4 == 4 ? n + 1 : n; /* REX */
}

bool x86__emulates_wrongly(const uint8_t *bytes, size_t len, const char *versions)
{
	size_t at = prefixes(bytes, len);

	if (at >= len)
		return true;
	switch (bytes[at]) {
	case 0xe8: /* call; with a prefix it is longer: cs call __x86_indirect_thunk_r10 */
		return len != CALL_SIZE;
	case 0xff: /* call *reg */
		return at + 1 < len && (bytes[at + 1] & 0xf8) == 0xd0 && len != CALL_SIZE &&
		       !names_fixed(versions);
	case 0xe0: /* loopne, loope, loop: the kernel tests the counter before decrementing it */
	case 0xe1:
	case 0xe2:
	case 0xc2: /* ret imm16, far ret: emulated as ret */
	case 0xca:
	case 0xcb:
	case 0xc4: /* VEX, EVEX: the opcode byte is mistaken, vpshufd's for jo */
	case 0xc5:
	case 0x62:
		return true;
	}
	return false;
}
