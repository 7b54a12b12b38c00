/* SPDX-License-Identifier: BSD-2-Clause */
/* cost: what a hit costs, by mechanism. Part of the public headers of src/plan. */
#ifndef BBTRACE_PLAN_PLACEMENT_COST_H
#define BBTRACE_PLAN_PLACEMENT_COST_H

#include "plan/plan.h"

/* Returns the name that users read. */
const char *cost__class_name(const struct arch *arch, enum cost_class class);
/* Returns the class of a hit on this site's probe, by the traps that it takes. */
enum cost_class cost__class(const struct cost_row *row, const struct plan_site *site);
/* Returns the row of a mechanism; for NULL that of the best one of programs, or of the kernel. */
const struct cost_row *cost__find(const struct cost_row *costs, bool kernel, const char *mechanism);
/* Returns the row that a plan is made by; NULL if nothing is known of this architecture. */
const struct cost_row *cost__row(const struct arch *arch, bool kernel,
				 const struct plan_options *options);

#endif
