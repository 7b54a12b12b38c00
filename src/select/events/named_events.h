/* SPDX-License-Identifier: BSD-2-Clause */
/* named_events: the named events that a command line asks for: the operands of event, and --with.
 */
#ifndef BBTRACE_SELECT_EVENTS_NAMED_EVENTS_H
#define BBTRACE_SELECT_EVENTS_NAMED_EVENTS_H

#include "cli/request.h"

/* Where they are, beside the plan's rows. */
struct named_events {
	VEC(struct usdt_site) usdt; /* their probes are owned */
};
/* Adds them to the plan; the objects of static probes to n. pid: as of targets__find(). -ENOENT:
 * there is none of a name, with a message. */
int named_events__plan(struct named_events *with, const struct request *req, struct targets *n,
		       pid_t pid, struct plan *p);
/* Those of the kernel, or of an object: words[0]; nwords 1: all. */
int named_events__find(struct named_events *with, char *const *words, size_t nwords,
		       struct targets *n, pid_t pid, struct plan *p);
void named_events__free(struct named_events *with);

/* list --events OBJECT|kernel [NAME...] (with_list.c); the exit status, or -errno with a message.
 */
int named_events__list(const struct request *req);

#endif
