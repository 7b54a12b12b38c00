/* SPDX-License-Identifier: BSD-2-Clause */
/* fail_under: how much of the traced code ran, and --fail-under. */
#ifndef BBTRACE_PIPELINE_FAIL_UNDER_H
#define BBTRACE_PIPELINE_FAIL_UNDER_H

#include "cli/request.h"

/* After the output has ended: tells how much ran, if the format is of that, or --fail-under is
 * given. True: it is less than that asks for. o NULL: nothing is
 * shown. */
bool fail_under__is_missed(const struct request *req, const struct output *o);

#endif
