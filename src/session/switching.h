/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching: recording that the traced programs switch (--control app, --start-on, --stop-on), and
 * time (--delay, --for). What stops takes effect at once, where it was executed. What starts has to
 * put the probes in place first: the trace tells how long that took.
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
	bool starts_again;	     /* something may start recording once it has stopped */
	uint64_t asked;		     /* when a start was asked for; 0: none is */
	char *by;		     /* by what */
	bool parks;		     /* recording has stopped: the probes are to be taken away */
	uint64_t until;		     /* --for: when it ends; 0: not known yet, or never */
	uint64_t lost;		     /* switches that found no room, as of the last look */
	uint64_t missed;	     /* how often it was to stop before it had started */
};
/* Before CMD is started, at this time. 0, or -errno with a message. */
int switching__begin(struct switching *s, uint64_t time);
/* What the live trace is told: a thread came to a switch; 0, or what the sink returned. It has
 * mapped a file. */
int switching__switched(void *s, const struct event *e);
void switching__mapped(void *s, const struct sideband_event *e);
/* How long it may be left alone. */
int switching__patience_ms(const struct switching *s, uint64_t now, int most);
/* Does what is due. 0, or what ends the trace, -errno or as the sink returned it. */
int switching__tick(struct switching *s, uint64_t now);
/* Notes at the end. */
void switching__report(const struct switching *s);
void switching__free(struct switching *s);

#endif
