/* SPDX-License-Identifier: BSD-2-Clause */
/* planning: from the command line to the plan, and to the plan of a running trace that gets other
 * functions. */
#ifndef BBTRACE_SELECT_PLANNING_H
#define BBTRACE_SELECT_PLANNING_H

#include "branch_weights.h"
#include "cli/request.h"
#include "select/events/watch.h"
#include "select/events/named_events.h"

struct planning {
	const struct request *request;
	pid_t pid; /* from -p: in whose root names are looked up; 0: none */
	struct targets targets;
	struct watchpoints watches;
	struct branch_weights *weights; /* from --profile; NULL: none */
	struct named_events with;
	struct tracepoints tracepoints;
	struct plan_options options;
	const struct explaining *explaining; /* to be set; NULL: none */
};
/* Finds the functions and plans. */
int planning__begin(struct planning *p, const struct request *req, struct plan **out);
/* Plans for the targets as they are now; before: the plan that is traced by. */
int planning__again(struct planning *p, const struct plan *before, struct plan **out);
void planning__free(struct planning *p);

#endif
