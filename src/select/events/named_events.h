/* SPDX-License-Identifier: BSD-2-Clause */
/* named_events: the events that a command line names: the operands of event, and --with. */
#ifndef BBTRACE_SELECT_EVENTS_NAMED_EVENTS_H
#define BBTRACE_SELECT_EVENTS_NAMED_EVENTS_H

#include "cli/request.h"

/* The places of the events, besides the plan's rows. */
struct named_events {
	VEC(struct usdt_site) usdt; /* owns their probes */
};
/* Adds the events to the plan, and the objects of static probes to n. pid is as in
 * targets__find(). -ENOENT with a message if a name has no event. */
int named_events__plan(struct named_events *with, const struct request *req, struct targets *n,
		       pid_t pid, struct plan *p);
/* Adds events of the kernel, or of the object words[0]; all of them if nwords is 1. */
int named_events__find(struct named_events *with, char *const *words, size_t nwords,
		       struct targets *n, pid_t pid, struct plan *p);
void named_events__free(struct named_events *with);

/* list --events OBJECT|kernel [NAME...] (list_events.c). Returns the exit status, or -errno with
 * a message. */
int named_events__list(const struct request *req);

#endif
