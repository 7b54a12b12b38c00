/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apart: a process of its own for what a library makes of hostile bytes, so that a crash there, or
 * memory and time without end, is an error here. Private to src/target.
 */
#ifndef BBTRACE_TARGET_APART_H
#define BBTRACE_TARGET_APART_H

#include "util/util.h"

/* What it leaves in answer comes back. It must not wait for anything but files. */
typedef void (*apart_fn)(void *ctx, struct str *answer);

/*
 * Runs fn in a copy of this process. 0; -EIO: it did not come to its end, or left too much; else
 * the copy could not be made. A message is set. answer is then empty. What it holds is as
 * trustworthy as the bytes that fn has read.
 */
int apart__run(apart_fn fn, void *ctx, struct str *answer);
/* Within fn: so many seconds of CPU time from now on. It starts with a few. */
void apart__allow(unsigned seconds);

#endif
