/* SPDX-License-Identifier: BSD-2-Clause */
/* comms: the names that threads have at the place of the logs that has been reached. Private to
 * src/source/inline. */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_COMMS_H
#define BBTRACE_SOURCE_INLINE_MERGE_COMMS_H

#include "util/util.h"

#define COMM_SIZE 16 /* TASK_COMM_LEN */

struct comms {
	struct map64 of; /* tid -> char[COMM_SIZE], owned */
};

/* A thread's, which can be written; "" if it has none yet. Valid until it is forgotten. */
char *comms__of(struct comms *c, uint32_t tid);
/* text is cut to the length of a name; NULL if there is none. */
void comms__set(struct comms *c, uint32_t tid, const char *text);
void comms__forget(struct comms *c, uint32_t tid);
void comms__inherit(struct comms *c, uint32_t tid, uint32_t from);
void comms__free(struct comms *c);

#endif
