/* SPDX-License-Identifier: BSD-2-Clause */
/* branch_weights: how often each branch was taken and not taken in an earlier run. */
#ifndef BBTRACE_SELECT_BRANCH_WEIGHTS_H
#define BBTRACE_SELECT_BRANCH_WEIGHTS_H

#include "cli/request.h"

struct branch_weights;
/* Reads a trace file or the output of -c -F json. Returns 0, or -errno with a message. The
 * caller frees *out in either case. */
int branch_weights__read(const char *name, struct branch_weights **out);
/* The function for plan_options.weights. */
bool branch_weights__counts(void *weights, const struct object *o, uint64_t vaddr,
			    struct branch_counts *counts);
void branch_weights__free(struct branch_weights *p);

#endif
