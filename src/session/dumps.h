/* SPDX-License-Identifier: BSD-2-Clause */
/* dumps: --last: when a process ends badly, its threads' last branches are shown at once. */
#ifndef BBTRACE_SESSION_DUMPS_H
#define BBTRACE_SESSION_DUMPS_H

#include "pipeline/show.h"

struct dumps {
	const struct request *request; /* NULL: there are none */
	bool copies;		       /* functions run as copies */
};

/* A thread came to one (EVENT_SWITCH): its process's last branches are shown, and kept. */
int dumps__asked(struct dumps *d, struct show *s, const struct event *e, const char *name,
		 bool returns);
/* A thread has ended (EVENT_END). 0, or what the output returns. */
int dumps__end(struct dumps *d, struct show *s, const struct event *e);

#endif
