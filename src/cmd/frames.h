/* SPDX-License-Identifier: BSD-2-Clause */
/* frames: which frames of a recorded call stack are true. See frames.c. */
#ifndef BBTRACE_CMD_FRAMES_H
#define BBTRACE_CMD_FRAMES_H

#include "show.h"

/* The record, or where it is an entry with its stack room, with what of that is true. */
const void *frames__check(struct show *s, const void *record, size_t size,
			  struct wire_entry_stack *room);

#endif
