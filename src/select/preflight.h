/* SPDX-License-Identifier: BSD-2-Clause */
/* preflight: checks before a trace begins. */
#ifndef BBTRACE_SELECT_PREFLIGHT_H
#define BBTRACE_SELECT_PREFLIGHT_H

#include "cli/request.h"

/* Fails if a given process doesn't exist, /proc doesn't show it, or privileges are missing.
 * Returns 0, or -errno with a message. */
int preflight__check(const struct request *req);

#endif
