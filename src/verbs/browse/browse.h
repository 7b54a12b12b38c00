/* SPDX-License-Identifier: BSD-2-Clause */
/* browse: what report does for --tui, and what --tui, --sort and --grep don't go with. */
#ifndef BBTRACE_VERBS_BROWSE_BROWSE_H
#define BBTRACE_VERBS_BROWSE_BROWSE_H

#include "cli/request.h"

/* --sort without -F chooses the format summary. Returns 0, or -EINVAL with a message. */
int browse__check(struct request *req);
/* Reads the files and browses them. Returns the exit status, or -errno with a message. */
int browse__run(const struct request *req);

#endif
