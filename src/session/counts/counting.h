/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace whose probes count: prints the counts now and then, and at SIGUSR1. */
#ifndef BBTRACE_SESSION_COUNTS_COUNTING_H
#define BBTRACE_SESSION_COUNTS_COUNTING_H

#include "session/live.h"
#include "retire.h"
#include "session/process/process_ends.h"

/* Zeroed: nothing counts, and nothing is done. */
struct counting {
	const struct request *request; /* NULL: nothing counts */
	struct plan *plan;
	struct sources *sources;
	struct live *live;
	struct output *output;
	struct process_ends *ends; /* the caller's; to be set */
	uint64_t next;		   /* --interval: when; CLOCK_MONOTONIC, ns */
	struct retire retire;
	uint64_t next_look; /* for sites that retire: when */
	uint64_t patience;  /* and how long after the last look, ns */
};
/* All of these are borrowed. */
struct counting counting__begin(const struct request *request, struct plan *plan,
				struct sources *sources, struct live *live, struct output *output);
/* How long it may be left alone. */
int counting__patience_ms(const struct counting *c, uint64_t now);
/* Does what is due. 0, or -errno. */
int counting__tick(struct counting *c);
void counting__end(struct counting *c);
/* What is to be told at the end. */
void counting__report(const struct counting *c);
/* Counting is about to begin, or has ended: notes the threads that it may cut. */
void counting__note_cut(struct counting *c);

#endif
