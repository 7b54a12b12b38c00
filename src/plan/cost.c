// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hit costs, by architecture and mechanism: `bbtrace doctor --calibrate` measures it. Only
 * the ratios count, and they differ from machine to machine (single-stepped: 2 on bare metal, 20 in
 * a paravirtual guest).
 */
#include <elf.h>
#include "plan/plan.h"

const char *const cost_class_names[COST_CLASSES] = {"emulated", "stepped", "int3", "jump",
						    "ftrace"};

const struct cost_row cost_rows[] = {
	{EM_X86_64, "uprobe_multi", false, {[COST_EMULATED] = 1, [COST_STEPPED] = 8}},
	{EM_X86_64, "uprobe_event", false, {[COST_EMULATED] = 1, [COST_STEPPED] = 8}},
	/* no branch becomes a jump; Documentation/trace/kprobes.rst: 0.43 and 0.06 us */
	{EM_X86_64, "kprobe_event", true, {[COST_INT3] = 7, [COST_JUMP] = 1, [COST_FTRACE] = 1}},
	{0},
};

enum cost_class cost__class(const struct cost_row *row, uint8_t kind)
{
	if (row->kernel)
		return COST_INT3;
	return kind == BRANCH_JCC ? COST_EMULATED : COST_STEPPED;
}

const struct cost_row *cost__row(uint16_t machine, bool kernel, const char *mechanism)
{
	const struct cost_row *r;

	for (r = cost_rows; r->machine; r++)
		if (r->machine == machine && r->kernel == kernel &&
		    (!mechanism || !strcmp(mechanism, r->mechanism)))
			return r;
	return &cost_rows[0];
}
