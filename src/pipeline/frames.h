/* SPDX-License-Identifier: BSD-2-Clause */
/* frames: makes and validates call stacks. See frames.c. */
#ifndef BBTRACE_PIPELINE_FRAMES_H
#define BBTRACE_PIPELINE_FRAMES_H

#include "show.h"

struct checked_event {
	struct event event;
	struct event_entry entry;
	struct event_named named;
	uint64_t stack[NAMED_FRAMES]; /* of named */
	struct unwound unwound;
	struct fetched fetched[VALUES_FETCHED];
	uint8_t data[NAMED_DATA]; /* of named */
};

/* Returns e, or for an entry with a stack a copy in *room that has only the valid frames. */
const struct event *frames__check(struct show *s, const struct event *e,
				  struct checked_event *room);

/* Returns e, or a copy in *room with values that could not be read but are known (absent.c). */
const struct event *absent__complete(struct show *s, const struct event *e,
				     struct checked_event *room);

#endif
