// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, i386: what a hit of a probe costs. */
#include "x86.h"

/* Uprobes: one trap for emulated instructions, two for stepped ones: 2 to 4 times as long. A
 * hypervisor takes the trap of a single step itself, so there it is 10 to 40 times. Kprobes:
 * Documentation/trace/kprobes.rst has 0.43 us for a breakpoint and 0.06 us for a jump; kprobes on
 * branches are never optimised to jumps. */
#define KPROBES                                                                                    \
	{                                                                                          \
		"kprobe_event", true,                                                              \
		{                                                                                  \
			[COST_BREAKPOINT] = 430, [COST_JUMP] = 60, [COST_FTRACE] = 60              \
		}                                                                                  \
	}
const struct cost_row x86_costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	KPROBES,
	{0},
};
const struct cost_row x86_virtual_costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 12000}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 12000}},
	KPROBES,
	{0},
};
