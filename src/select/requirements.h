/* SPDX-License-Identifier: BSD-2-Clause */
/* requirements: what is wanted of a trace, by its outputs and options, and what the plan and the
 * probes get for that. */
#ifndef BBTRACE_SELECT_REQUIREMENTS_H
#define BBTRACE_SELECT_REQUIREMENTS_H

#include "cli/request.h"

/* What the format that is shown and the trace file that is written want together. */
struct output_wants requirements__of(const struct request *req);
/* Reads what is wanted of the source. */
void requirements__read_source(const struct output_wants *w, struct plan *plan);
/* Leaves only those events in a->events. */
void requirements__settle(struct request *req);
/* Are registers wanted that are neither arguments nor the stack pointer? */
bool requirements__all_regs(const struct request *req);
/* For call stacks: so many bytes of a stack are to be copied; 0: frame pointers are followed. */
uint32_t requirements__stack_copy(const struct request *req, const struct plan *plan);
/* --engine inline: the registers that the log of an entry has, a bit each; whether each branch has
 * a time of its own, which takes longer than the branch's record. */
uint32_t requirements__log_regs(const struct request *req, const struct plan *plan);
bool requirements__log_times(const struct request *req);
/* The cheapest probes that tell all of it; arch: NULL: none that can be traced. */
struct plan_options requirements__plan_options(const struct request *req, const struct arch *arch);

#endif
