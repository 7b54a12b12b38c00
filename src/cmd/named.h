/* SPDX-License-Identifier: BSD-2-Clause */
/* named: the named events that a command line asks for: the operands of event, and --with. */
#ifndef BBTRACE_CMD_NAMED_H
#define BBTRACE_CMD_NAMED_H

#include "cmd.h"

/* Adds them to the plan. -ENOENT: there is none of a name, with a message. */
int named__plan(const struct args *a, struct plan *p);

#endif
