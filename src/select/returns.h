/* SPDX-License-Identifier: BSD-2-Clause */
/* returns: how returns are recorded, --returns. */
#ifndef BBTRACE_SELECT_RETURNS_H
#define BBTRACE_SELECT_RETURNS_H

#include "cli/request.h"
#include "plan/plan.h"

/* Combines --returns and -e. -EINVAL with a message if they contradict each other. */
int returns__settle(struct request *req);
/* Notes what return probes would break. -ENOTSUP with a message if no function can have one. */
int returns__check_probes(const struct plan *plan);

#endif
