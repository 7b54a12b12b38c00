/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_hints: what a command line that is wrong was probably meant to be: a "--" is missing before
 * CMD, a pattern needs quotes. */
#ifndef BBTRACE_CLI_USAGE_HINTS_H
#define BBTRACE_CLI_USAGE_HINTS_H

#include "cli/request.h"

/* Operand i is no function, err says why: if it is a command, the message says how to run it; if it
 * is a file, that the shell may have put it there.
 * Returns the error to return. */
int usage_hints__operand(const struct request *req, size_t i, int err);
/* The same for the message about a wrong option. */
void usage_hints__option(const struct request *req);

#endif
