/* SPDX-License-Identifier: BSD-2-Clause */
/* planning: makes the plan of a command line, and plans again when a running trace gets other
 * functions. */
#ifndef BBTRACE_SELECT_PLANNING_H
#define BBTRACE_SELECT_PLANNING_H

#include "branch_weights.h"
#include "cli/request.h"
#include "select/events/watch.h"
#include "select/events/named_events.h"

struct planning {
	const struct request *request;
	pid_t pid; /* from -p: the process in whose root names are looked up; 0 if none */
	struct targets targets;
	struct watchpoints watches;
	struct branch_weights *weights; /* from --profile; NULL if none */
	struct named_events with;
	struct tracepoints tracepoints;
	struct plan_options options;
	const struct explaining *explaining; /* set by the caller; NULL if none */
	/* Set by the caller: as in struct plan_options. */
	void (*followed)(void *ctx, uint64_t instructions);
	void *followed_ctx;
};
/* Finds the functions and plans. Returns 0, or -errno with a message. */
int planning__begin(struct planning *p, const struct request *req, struct plan **out);
/* Plans for the targets as they are now. before is the plan that the trace uses. */
int planning__again(struct planning *p, const struct plan *before, struct plan **out);
void planning__free(struct planning *p);
/* Returns about how many instructions the functions have. */
uint64_t planning__instructions(const function_vec *functions);

#endif
