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
/* The same if operand i may be another tool's form, such as uprobe:OBJECT:FUNC. */
int usage_hints__form(const struct request *req, size_t i, int err);
/* Explains err, that the first operand is no object: it may be a function, a process, another
 * tool's word. program: the one that was searched for such a function, NULL: none; own: the message
 * that it has none, or "". Returns the error to return. */
int usage_hints__no_object(const struct request *req, const char *program, const char *own,
			   int err);
/* -EINVAL with a message if an operand of a verb that has none, or has other ones, is a command. */
int usage_hints__command(const struct request *req);
/* What to write where no function is given, as " '*' means all: ..."; the caller frees it. */
char *usage_hints__no_function(const struct request *req);
/* Adds such a hint to the message on a wrong option. */
void usage_hints__option(const struct request *req);

#endif
