/* SPDX-License-Identifier: BSD-2-Clause */
/* preflight: checks before a trace begins. */
#ifndef BBTRACE_SELECT_PREFLIGHT_H
#define BBTRACE_SELECT_PREFLIGHT_H

#include "cli/request.h"

/* Do the given processes exist, does /proc show them, and may bbtrace trace? */
int preflight__check(const struct request *req);

#endif
