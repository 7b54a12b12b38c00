/* SPDX-License-Identifier: BSD-2-Clause */
/* weights: of an earlier run, how often each branch was taken and not. */
#ifndef BBTRACE_CMD_WEIGHTS_H
#define BBTRACE_CMD_WEIGHTS_H

#include "cmd.h"

struct weights;
/* Of a trace file, or of the lines of -c -F json. -errno with a message; *out is to be freed in
 * either case. */
int weights__read(const char *name, struct weights **out);
/* plan_options.profile */
bool weights__counts(void *weights, const struct object *o, uint64_t vaddr,
		     struct branch_counts *counts);
void weights__free(struct weights *p);

#endif
