/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BBTRACE_VERBS_DIFF_SETS_H
#define BBTRACE_VERBS_DIFF_SETS_H

#include "cli/request.h"

/* Fails if a file is given twice: -EINVAL with a message. */
int diff_sets__check(const struct request *req);
/* diff --pass FILE... --fail FILE...: ranks what distinguishes the sets of runs. Returns the
 * exit status, or -errno with a message. */
int diff_sets__run(const struct request *req);

#endif
