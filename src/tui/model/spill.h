/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spill: memory that grows and may be larger than the machine's, since the kernel can write it to a
 * temporary file (TMPDIR). Positions in it stay valid while it grows; pointers don't.
 */
#ifndef BBTRACE_TUI_MODEL_SPILL_H
#define BBTRACE_TUI_MODEL_SPILL_H

#include "util/util.h"

struct spill {
	int fd; /* -1: nothing is there yet */
	const char *dir;
	uint8_t *base;
	uint64_t len, cap; /* bytes in use; of the file */
};

#define SPILL_NONE ((struct spill){.fd = -1})

/* Makes it longer by this many zeroed bytes, and sets *at to their position. Returns 0, or -errno
 * with a message, as when the disk is full. */
int spill__extend(struct spill *s, uint64_t more, uint64_t *at);
void spill__free(struct spill *s);

#endif
