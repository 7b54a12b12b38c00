/* SPDX-License-Identifier: BSD-2-Clause */
/* merge_private: the state of merge.c, shared with messages.c. */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_MERGE_PRIVATE_H
#define BBTRACE_SOURCE_INLINE_MERGE_MERGE_PRIVATE_H

#include "comms.h"
#include "merge.h"
#include "owners.h"
#include "thread_log.h"

/* An event of the other source. */
struct queued {
	struct waiting *waiting;
	struct log *log; /* its thread's; NULL: it has none, or that isn't known yet */
};

struct merge {
	struct merge_options options;
	log_vec logs;		  /* in the order in which they began */
	VEC(struct queued) queue; /* by time */
	size_t taken;		  /* of queue: they were passed on just now */
	struct comms comms;
	struct owners owners;
	uint64_t begun;			     /* logs */
	struct filter_states *filter_states; /* NULL: threads are not filtered */
	struct map64 blind;		     /* hashes of what note_untraced() has reported */
	bool placed;			     /* an object has its copies in a process */
	uint64_t last;			     /* the time of what was added last */
	uint64_t end;			     /* the end of this turn */
	void (*rest)(void *ctx);	     /* called now and then at the end; NULL */
	void *rest_ctx;
	unsigned steps;
	unsigned given;
	bool turn_over, impatient;
	uint64_t mute_from, mute_to; /* the last time when nothing was recorded; 0: none */
};

/* Takes all messages that the supervisor has sent. */
void merge__receive(struct merge *m);
/* At the end: reports the processes of threads whose rings were inconsistent, and were not read any
 * more. */
void merge__blame_broken(struct merge *m);

#endif
