/* SPDX-License-Identifier: BSD-2-Clause */
/* weights: of an earlier run, how often each branch was taken and not. */
#ifndef BBTRACE_CMD_WEIGHTS_H
#define BBTRACE_CMD_WEIGHTS_H

#include "cmd.h"

struct branch_weights;
/* Of a trace file, or of the lines of -c -F json. -errno with a message; *out is to be freed in
 * either case. */
int branch_weights__read(const char *name, struct branch_weights **out);
/* plan_options.weights */
bool branch_weights__counts(void *weights, const struct object *o, uint64_t vaddr,
			    struct branch_counts *counts);
void branch_weights__free(struct branch_weights *p);

#endif
