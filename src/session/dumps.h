/* SPDX-License-Identifier: BSD-2-Clause */
/* dumps: --last: shows the last branches of a process's threads at once when the process ends
 * badly. */
#ifndef BBTRACE_SESSION_DUMPS_H
#define BBTRACE_SESSION_DUMPS_H

#include "pipeline/show.h"

struct dumps {
	const struct request *request; /* NULL if there are none */
	bool copies;		       /* functions run as copies */
};

/* A thread has entered a function of --dump-on, or returned from it (EVENT_SWITCH): shows the last
 * branches of its process, and keeps them. Returns 0, or what the output returns. */
int dumps__asked(struct dumps *d, struct show *s, const struct event *e, const char *name,
		 bool returns);
/* A thread has ended (EVENT_END): shows the last branches if that was a bad end. Returns 0, or
 * what the output returns. */
int dumps__end(struct dumps *d, struct show *s, const struct event *e);

#endif
