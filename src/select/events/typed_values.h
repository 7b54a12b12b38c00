/* SPDX-License-Identifier: BSD-2-Clause */
/* typed_values: --args, arguments and results by their types. */
#ifndef BBTRACE_SELECT_EVENTS_TYPED_VALUES_H
#define BBTRACE_SELECT_EVENTS_TYPED_VALUES_H

#include "cli/request.h"
#include "plan/plan.h"

/* Adds the values to the plan. btf: a file with the kernel's types; NULL means those of the
 * running kernel. Returns 0, or -EINVAL with a message on wrong usage. */
int typed_values__plan(const struct request *req, struct plan *plan, const char *btf,
		       struct plan_values_result *out);
/* Notes what is not known. */
void typed_values__report(const struct request *req, const struct plan *plan,
			  const struct plan_values_result *result);

#endif
