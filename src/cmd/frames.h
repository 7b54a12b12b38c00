/* SPDX-License-Identifier: BSD-2-Clause */
/* frames: which frames of a recorded call stack are true. See frames.c. */
#ifndef BBTRACE_CMD_FRAMES_H
#define BBTRACE_CMD_FRAMES_H

#include "show.h"

struct checked_event {
	struct event event;
	struct event_entry entry;
};

/* The record, or where it is an entry with its stack room, with what of that is true. */
const struct event *frames__check(struct show *s, const struct event *e,
				  struct checked_event *room);

#endif
