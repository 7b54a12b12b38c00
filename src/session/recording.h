/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recording: whether a running trace records, and what has to happen when that changes: all that
 * was recorded before is passed on first, and a sideband event marks the place. Used by the options
 * that switch recording (switching.h) and the commands of bbtrace ctl.
 */
#ifndef BBTRACE_SESSION_RECORDING_H
#define BBTRACE_SESSION_RECORDING_H

#include "session/counts/counting.h"
#include "live.h"

/* All of it is borrowed. Functions return 0, or what ends the trace: -errno, or what the sink
 * returned. */
struct recording {
	struct source *source;
	struct live *live;
	struct counting *counting;
	bool stopped; /* nothing is recorded */
	bool quits;   /* the trace is to end */
	int failed;   /* what ends the trace; 0 if nothing does */
};

/* Passes on what was recorded so far. -ECANCELED with a message if the trace has reached its
 * --limit. */
int recording__catch_up(struct recording *r);
/* Passes on what was counted until recording stopped. */
int recording__take_counts(struct recording *r);
/* Passes on a sideband event of the trace itself. */
int recording__note(struct recording *r, enum sideband_type type, uint64_t time, uint64_t count,
		    const char *text);

/* Stops recording. by: who asked for it; NULL if unknown. The probes stay in place. */
int recording__stop(struct recording *r, const char *by);
/* Notes that recording has stopped at a place in the stream of events: nothing after it is
 * passed on. */
int recording__has_stopped(struct recording *r, uint64_t time, const char *by);
/* Puts the probes in place and passes on what happened meanwhile; after that, the start may no
 * longer be wanted. */
int recording__prepare_start(struct recording *r);
/* Starts recording, as was requested at this time. */
int recording__start(struct recording *r, uint64_t asked, const char *by);

#endif
