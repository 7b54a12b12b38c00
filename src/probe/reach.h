/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reach: which processes the filters name, so that nobody else need meet a breakpoint. A filter
 * that looks at who hits one (a name, a user, a cgroup) names none: there each process that maps
 * the file pays for each hit.
 */
#ifndef BBTRACE_PROBE_REACH_H
#define BBTRACE_PROBE_REACH_H

#include "probe.h"

enum reach_kind {
	REACH_ALL,	   /* not known: every process */
	REACH_PROCESSES,   /* these, and no children of theirs */
	REACH_DESCENDANTS, /* these, and their children from now on */
};

struct reach {
	enum reach_kind kind;
	pid_vec pids; /* the processes, and with REACH_DESCENDANTS the children that they have */
	bool threads; /* only some of their threads */
	pid_vec tids; /* which */
};

void reach__find(struct reach *r, const struct probe_filters *f);
void reach__free(struct reach *r);
/* Children of REACH_DESCENDANTS that were born since; true: there are more. */
bool reach__grow(struct reach *r);
/* Appends the threads to watch that there are. */
void reach__threads(const struct reach *r, pid_vec *out);

#endif
