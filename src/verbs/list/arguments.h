/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments: the names that --if takes for functions, with their types: list and report
 * --arguments. */
#ifndef BBTRACE_VERBS_LIST_ARGUMENTS_H
#define BBTRACE_VERBS_LIST_ARGUMENTS_H

#include "plan/plan.h"

/* Appends a line for each argument and result of the plan's functions that --if can compare: name,
 * type and function, with tabs between; or as JSON. chosen: by function; NULL for all. */
void arguments__put(const struct plan *plan, const bool *chosen, bool json, struct str *out);

#endif
