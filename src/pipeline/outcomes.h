/* SPDX-License-Identifier: BSD-2-Clause */
/* outcomes: the named event of a system call that failed, or that wrote to a standard
 * stream. See bpf/outcome.h. */
#ifndef BBTRACE_PIPELINE_OUTCOMES_H
#define BBTRACE_PIPELINE_OUTCOMES_H

#include "plan/plan.h"

/* Adds the event to the plan. Its data is a struct wire_outcome of bpf/wire_named.h. */
void outcomes__plan(struct plan *p);
/* Returns what the texts of each system call are, for probe_options.outcomes; they live as long as
 * bbtrace. */
const uint32_t *outcomes__texts(void);
/* The arguments of a system call that are strings, one bit each. */
uint32_t outcomes__texts_of(uint64_t number);
/* Appends the address of a socket, as connect(2) takes it; returns false if its family isn't known.
 */
bool outcomes__put_address(const void *bytes, size_t len, struct str *out);
/* Returns how many of CMD's writes to the standard output are reported, the first ones. */
uint64_t outcomes__outputs_most(void);
/* Returns true if the call's result is a child's PID. */
bool outcomes__is_wait(uint64_t number);
/* Returns true for a signal that a thread gets by what it does itself: by a fault, by abort(3). */
bool outcomes__is_own_signal(int signal);

/* Appends the arguments of getsockopt(2) with SO_ERROR. Returns false if it is another call. */
bool outcomes__put_arguments(uint64_t number, const uint64_t *args, struct str *out);

#endif
