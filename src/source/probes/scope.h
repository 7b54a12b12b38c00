/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scope: which processes the filters name, so that nobody else need meet a breakpoint. A filter
 * that looks at who hits one (a name, a user, a cgroup) names none: there each process that maps
 * the file pays for each hit.
 */
#ifndef BBTRACE_PROBE_SCOPE_H
#define BBTRACE_PROBE_SCOPE_H

#include "source/source.h"

enum scope_kind {
	SCOPE_ALL,	   /* not known: every process */
	SCOPE_PROCESSES,   /* these, and no children of theirs */
	SCOPE_DESCENDANTS, /* these, and their children from now on */
};

struct scope {
	enum scope_kind kind;
	pid_vec pids; /* the processes, and with SCOPE_DESCENDANTS the children that they have */
	bool threads; /* only some of their threads */
	pid_vec tids; /* which */
};

void scope__find(struct scope *s, const struct probe_filters *f);
void scope__free(struct scope *s);
/* Children of SCOPE_DESCENDANTS that were born since; true: there are more. */
bool scope__grow(struct scope *s);
/* Appends the threads to watch that there are. */
void scope__threads(const struct scope *s, pid_vec *out);

#endif
