// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost of a hit by architecture and mechanism; `bbtrace doctor --calibrate` measures it. Only
 * the ratios matter, and they vary between machines (single-stepped: 2 on bare metal, 20 in a
 * paravirtual guest).
 */
#include "plan/plan.h"

const char *cost__class_name(const struct arch *arch, enum cost_class class)
{
	static const char *const names[COST_CLASSES] = {
		[COST_EMULATED] = "emulated",
		[COST_STEPPED] = "stepped",
		[COST_JUMP] = "jump",
		[COST_FTRACE] = "ftrace",
	};

	return class == COST_BREAKPOINT ? arch->breakpoint_name : names[class];
}

enum cost_class cost__class(const struct cost_row *row, uint8_t kind)
{
	if (row->kernel)
		return COST_BREAKPOINT;
	return kind == BRANCH_JCC ? COST_EMULATED : COST_STEPPED;
}

const struct cost_row *cost__row(const struct arch *arch, bool kernel, const char *mechanism)
{
	const struct cost_row *r, *best = NULL;

	for (r = arch->costs; r && r->mechanism; r++)
		if (r->kernel == kernel &&
		    (!best || (mechanism && !strcmp(mechanism, r->mechanism))))
			best = r;
	return best ? best : arch->costs;
}
