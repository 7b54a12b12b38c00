/* SPDX-License-Identifier: BSD-2-Clause */
/* returns: how returns are seen, --returns. */
#ifndef BBTRACE_SELECT_RETURNS_H
#define BBTRACE_SELECT_RETURNS_H

#include "cli/request.h"
#include "plan/plan.h"

/* Combines --returns and -e: -EINVAL with a message if they contradict each other. */
int returns__settle(struct request *req);
/* Prints notes on what return probes would break. -ENOTSUP: none of these functions can carry
 * one. */
int returns__check_probes(const struct plan *plan);

#endif
