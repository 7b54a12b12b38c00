/* SPDX-License-Identifier: BSD-2-Clause */
/* fail_under: the coverage of the traced code, and --fail-under. */
#ifndef BBTRACE_PIPELINE_FAIL_UNDER_H
#define BBTRACE_PIPELINE_FAIL_UNDER_H

#include "cli/request.h"

/*
 * Called after the output has ended: notes the coverage, if the format shows coverage or
 * --fail-under is given. Returns true if it is less than --fail-under. o is NULL if nothing is
 * shown.
 */
bool fail_under__is_missed(const struct request *req, const struct output *o);

#endif
