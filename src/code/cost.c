// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hit costs, by architecture and mechanism: `bbtrace doctor --calibrate` measures it. Only
 * the ratios count, and they differ from machine to machine (single-stepped: 2 on bare metal, 20 in
 * a paravirtual guest).
 */
#include <elf.h>
#include "code.h"

const char *const cost_class_names[COST_CLASSES] = {"emulated", "stepped"};

const struct cost_row cost_rows[] = {
	{EM_X86_64, "uprobe_multi", false, {[COST_EMULATED] = 1, [COST_STEPPED] = 8}},
	{EM_X86_64, "uprobe_event", false, {[COST_EMULATED] = 1, [COST_STEPPED] = 8}},
	/* what can't become a jump is emulated or single-stepped: int3 either way */
	{EM_X86_64, "kprobe_event", true, {[COST_EMULATED] = 1, [COST_STEPPED] = 8}},
	{0},
};

const struct cost_row *cost__row(uint16_t machine, bool kernel, const char *mechanism)
{
	const struct cost_row *r;

	for (r = cost_rows; r->machine; r++)
		if (r->machine == machine && r->kernel == kernel &&
		    (!mechanism || !strcmp(mechanism, r->mechanism)))
			return r;
	return &cost_rows[0];
}
