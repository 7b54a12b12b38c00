/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sandbox: a process of its own for what a library makes of hostile bytes. A crash there, or memory
 * and time without end, is an error here; and whoever takes the library over has nothing in hand:
 * no file but those given, no privilege, few system calls. Private to src/object.
 */
#ifndef BBTRACE_OBJECT_SANDBOX_H
#define BBTRACE_OBJECT_SANDBOX_H

#include "util/util.h"

struct sandbox {
	/* What it leaves in answer comes back. It can open nothing, only read its files. */
	void (*fn)(void *ctx, struct str *answer);
	void *ctx;
	int fds[3];	  /* descriptors that it keeps; -1: none */
	uint64_t mapped;  /* bytes of address space for its files, beyond its memory of 1 GiB */
	unsigned seconds; /* of CPU time; it may take some three times as long by the clock */
};

/*
 * Runs it in a copy of this process. 0; -EIO: it did not come to its end, or left too much; else
 * the copy could not be made. A message is set. answer is then empty. What it holds is as
 * trustworthy as the bytes that fn has read.
 */
int sandbox__run(const struct sandbox *s, struct str *answer);
/* Within fn: it can't be read; -EIO. */
void __attribute__((noreturn)) sandbox__give_up(void);

#endif
