// SPDX-License-Identifier: BSD-2-Clause
/* The cost of a hit by mechanism: what `bbtrace doctor --calibrate` measured on this machine, or
 * else the usual cost. Only the ratios matter. */
#include "plan/plan.h"
#include "cost.h"

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

enum cost_class cost__class(const struct cost_row *row, const struct plan_site *site)
{
	if (row->kernel)
		return COST_BREAKPOINT;
	return site->traps == 1 ? COST_EMULATED : COST_STEPPED;
}

const struct cost_row *cost__find(const struct cost_row *costs, bool kernel, const char *mechanism)
{
	const struct cost_row *r, *best = NULL;

	for (r = costs; r && r->mechanism; r++)
		if (r->kernel == kernel &&
		    (!best || (mechanism && !strcmp(mechanism, r->mechanism))))
			best = r;
	return best ? best : costs;
}

const struct cost_row *cost__row(const struct arch *arch, bool kernel,
				 const struct plan_options *options)
{
	return cost__find(options->costs ? options->costs : arch->costs, kernel,
			  options->mechanism);
}
