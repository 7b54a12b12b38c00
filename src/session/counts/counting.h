/* SPDX-License-Identifier: BSD-2-Clause */
/* counting: a trace whose probes count. Prints the counts at intervals, and at SIGUSR1. */
#ifndef BBTRACE_SESSION_COUNTS_COUNTING_H
#define BBTRACE_SESSION_COUNTS_COUNTING_H

#include "session/live.h"
#include "retire.h"
#include "session/process/process_ends.h"

/* Zeroed: nothing counts, and all functions do nothing. */
struct counting {
	const struct request *request; /* NULL: nothing counts */
	struct plan *plan;
	struct source *source;
	struct live *live;
	struct output *output;
	struct process_ends *ends; /* the caller's, who sets it */
	uint64_t next;		   /* --interval: time of the next counts; CLOCK_MONOTONIC, ns */
	struct retire retire;
	uint64_t next_look; /* time of the next look at sites that may retire */
	uint64_t patience;  /* from the last look to that one, ns */
};
/* All arguments are borrowed. */
struct counting counting__begin(const struct request *request, struct plan *plan,
				struct source *source, struct live *live, struct output *output);
/* Returns how long counting__tick() need not be called. */
int counting__patience_ms(const struct counting *c, uint64_t now);
/* Does what is due. Returns 0, or -errno. */
int counting__tick(struct counting *c);
void counting__end(struct counting *c);
/* Notes at the end of the trace. */
void counting__report(const struct counting *c);
/* Called before counting begins and after it has ended: notes the threads that are in the middle
 * of their path then. */
void counting__note_cut(struct counting *c);

#endif
