/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching: recording that the traced programs switch (--control app, --start-on, --stop-on), and
 * time (--delay, --for). A stop takes effect at once, where it was executed. A start has to put the
 * probes in place first: the trace shows how long that took.
 */
#ifndef BBTRACE_SESSION_SWITCHING_H
#define BBTRACE_SESSION_SWITCHING_H

#include "recording.h"
#include "select/events/markers.h"

/* Zeroed: nothing switches, and there are no marks. */
struct switching {
	const struct request *request;
	struct recording *recording; /* the caller's */
	struct markers *markers;     /* the caller's */
	bool starts_again;	     /* something may start recording again after a stop */
	uint64_t asked;		     /* time at which a start was requested; 0 if none was */
	char *by;		     /* what requested it */
	bool parks;		     /* recording has stopped: the probes are to be removed */
	uint64_t until;		     /* --for: time of its end; 0 if not known yet, or never */
	uint64_t lost;		     /* switches that were lost, as of the last look */
	uint64_t missed;	     /* number of stops before a start had taken effect */
};
/* Called before CMD is started, at this time. Returns 0, or -errno with a message. */
int switching__begin(struct switching *s, uint64_t time);
/* Callbacks of the live trace: a thread executed a switch (returns 0, or what the sink
 * returned); a process mapped a file. */
int switching__switched(void *s, const struct event *e);
void switching__mapped(void *s, const struct sideband_event *e);
/* Returns how long switching__tick() need not be called, at most `most`. */
int switching__patience_ms(const struct switching *s, uint64_t now, int most);
/* Does what is due. Returns 0, or what ends the trace: -errno, or what the sink returned. */
int switching__tick(struct switching *s, uint64_t now);
/* Notes at the end. */
void switching__report(const struct switching *s);
void switching__free(struct switching *s);

#endif
