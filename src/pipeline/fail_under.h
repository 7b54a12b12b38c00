/* SPDX-License-Identifier: BSD-2-Clause */
/* covered: what a trace says about how much of the traced code ran, and --fail-under. */
#ifndef BBTRACE_CMD_COVERED_H
#define BBTRACE_CMD_COVERED_H

#include "cli/args.h"

/* After the output has ended: tells how much ran, if the format is of that, or --fail-under is
 * given. True: it is less than that asks for. o NULL: nothing is
 * shown. */
bool covered__is_under(const struct args *a, const struct output *o);

#endif
