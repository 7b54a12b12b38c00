/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BBTRACE_VERBS_DIFF_SETS_H
#define BBTRACE_VERBS_DIFF_SETS_H

#include "cli/args.h"

/* Is each file given once? -EINVAL with a message. */
int diff_sets__check(const struct args *a);
/* diff --pass FILE... --fail FILE...: ranks what tells the one set of runs from the other. The exit
 * status, or -errno with a message. */
int diff_sets__run(struct args *a);

#endif
