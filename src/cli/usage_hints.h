/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_hints: guesses what a wrong command line was meant to be: a "--" is missing before CMD,
 * or a pattern needs quotes. */
#ifndef BBTRACE_CLI_USAGE_HINTS_H
#define BBTRACE_CLI_USAGE_HINTS_H

#include "cli/request.h"

/*
 * Adds a hint to err, which reports that operand i is no function: how to run it if it is a
 * command; that the shell may have expanded a pattern if it is a file. Returns the error to return.
 */
int usage_hints__operand(const struct request *req, size_t i, int err);
/* Adds such a hint to the message on a wrong option. */
void usage_hints__option(const struct request *req);

#endif
