/* SPDX-License-Identifier: BSD-2-Clause */
/* requirements: what outputs and options need of a trace, and so of the plan and its probes. */
#ifndef BBTRACE_SELECT_REQUIREMENTS_H
#define BBTRACE_SELECT_REQUIREMENTS_H

#include "cli/request.h"

/* The needs of the format that is shown and of the trace file that is written. */
struct output_wants requirements__of(const struct request *req);
/* Reads what is wanted of the source into the plan, unless it is read late. */
void requirements__read_source(const struct output_wants *w, struct plan *plan);
/* Reduces the request's events to those that are needed. */
void requirements__settle(struct request *req);
/* True if registers are wanted other than arguments and the stack pointer. */
bool requirements__all_regs(const struct request *req);
/* For call stacks: the number of bytes of each stack to copy; 0 to follow frame pointers. */
uint32_t requirements__stack_copy(const struct request *req, const struct plan *plan);
/* Which arguments and results are shown by their types. */
enum requirements_typed {
	TYPED_NONE,
	TYPED_REGISTERS, /* the default: what registers have, nothing is read from memory */
	TYPED_MEMORY,	 /* --args, --if: strings and what expressions lead to, too */
};
enum requirements_typed requirements__typed(const struct request *req);
/* --engine inline: the registers that the log of an entry needs, a bit each; and whether each
 * branch needs a time of its own, which takes longer to log than the branch. */
uint32_t requirements__log_regs(const struct request *req, const struct plan *plan);
/* The registers that entries report as they were at the first instruction, a bit each; 0: all. */
uint64_t requirements__reported_regs(const struct request *req, const struct plan *plan);
bool requirements__log_times(const struct request *req);
/* --last: the branches of each thread to record: those that are shown, and some of those that run
 * after main, which are left out: the kernel's rings have room for fewer than the logs of copies. 0
 * for all. */
uint64_t requirements__kept_branches(const struct request *req, bool logs);
/* Options for the cheapest probes that report all that is needed. arch is NULL if nothing that
 * can be traced has one. */
struct plan_options requirements__plan_options(const struct request *req, const struct arch *arch);

#endif
