/* SPDX-License-Identifier: BSD-2-Clause */
/* typed: --args, arguments and results by their types. */
#ifndef BBTRACE_CMD_TYPED_H
#define BBTRACE_CMD_TYPED_H

#include "cmd.h"

/* Adds the values to the plan, with notes on what is not known. btf: a file with the kernel's
 * types; NULL: the running one's. -EINVAL with a message: wrong usage. */
int typed__plan(const struct args *a, struct plan *plan, const char *btf);

#endif
